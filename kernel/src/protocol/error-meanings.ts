import type { ErrorCode } from "../base/errors.ts";
import type { MethodErrors } from "./define.ts";

/** What each error of the catalogue says, and what `data` holds beside `code`; for readers of `schemas/`. */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  NotFound: "What the request names does not exist, or not for whoever asks. `data`: `what`, `name`.",
  IllegalTransition: "It cannot be done in the present state. `data`: `state`.",
  PermissionDenied:
    "The extension was not granted what this needs, or policy forbids it. `data`: `permission`, `extension`.",
  ScopeViolation: "A path leaves the workspace or lies outside the granted locations. `data`: `path`.",
  DigestMismatch:
    "What was shown to the person is no longer what is there. `data`: `digest`, the present one.",
  Stale: "A file or folder is no longer what this began from; nothing was changed. `data`: `path`.",
  LimitExceeded: "A bound was reached. `data`: `limit`, its name, and `value`.",
  InvalidDocument: "A document or program cannot be used. `data`: `diagnostics`, where there are some.",
  Untrusted: "This connection is not trusted. A person answers `lares/trust` first.",
  Busy: "It cannot be done now: too much is open or waiting, or the kernel starts or ends. Try again later.",
  StorageError: "A file or database could not be read or written.",
  ToolError: "A tool's arguments do not fit its schema, or its handler failed.",
  AgentError:
    "The agent cannot run, or its program ended or answered with an error. `data`: `state`, `reason`.",
  Conflict: "Somebody else wrote first. `data`: `revision`, the present one. Read and try again.",
  VectorSearchNotConfigured: "No embedder answers, so nothing can be searched by similarity.",
  ModelError:
    "No language model answered. `data`: `class`, such as `RateLimited` or `NoModel`, `provider`, `model`, and `retryable`: the same request may succeed later.",
  BudgetExceeded:
    "A request to a language model could exceed a budget of the user's document, so nothing was sent. `data`: `budget`, its name, `spent` and `limit`, in dollars or tokens.",
  EgressDenied: "A request may not leave the machine. `data`: `host`, `reason`.",
  LeakBlocked:
    "A request holds what looks like a secret, so nothing was sent. `data`: `rule`, `where`: `url`, `header` or `body`.",
  NetworkError:
    "A request got no answer, or no whole one. `data`: `class` (`Network`, `Timeout` or `Cancelled`), `host`.",
  RequestCancelled: "Whoever asked cancelled the request, or is not there any more.",
  InvalidParams: "The params do not have the right form or values. `data`: `path`, where the fault is.",
  MethodNotFound: "There is no method of this name.",
  InternalError: "The kernel failed. This is a bug.",
};

/** What any request of a client may answer with. */
export const commonRequestErrors = {
  InvalidParams: "The params do not fit; `data.method` and `data.path` say where.",
  Untrusted: "The connection is not trusted. Not from methods that are open to untrusted connections.",
  Busy: "The request came before `initialize`, more than 1,000 are open on the connection, or the kernel starts or ends.",
  StorageError: "A file or database of the kernel could not be read or written.",
  InternalError: "The kernel failed.",
} satisfies MethodErrors;

/** What any host call of a guest may answer with. */
export const commonCallErrors = {
  InvalidParams: "The params do not fit, or have a field that is not known; `data.path` says where.",
  MethodNotFound: "There is no such host call.",
  RequestCancelled:
    "The guest cancelled it, or the call that it was made for was cancelled, before it had begun or while it read, waited or called a tool.",
  LimitExceeded:
    "More than 64 calls are open, the call or its answer is over 1 MiB, or it nests deeper than 64 levels.",
  Busy: "What the agent may do changed again and again while the call was answered.",
  StorageError: "A file or database of the kernel could not be read or written.",
  InternalError: "The kernel failed.",
} satisfies MethodErrors;
