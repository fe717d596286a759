import type { ErrorCode } from "../base/errors.ts";
import type { MethodErrors } from "./define.ts";

/** The meaning of each error of the catalogue, and the fields of `data` beside `code`, for readers of `schemas/`. */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  NotFound: "The named object does not exist, or the caller may not see it. `data`: `what`, `name`.",
  IllegalTransition: "The operation is not allowed in the current state. `data`: `state`.",
  PermissionDenied:
    "The extension lacks a required permission, or policy forbids the operation. `data`: `permission`, `extension`.",
  ScopeViolation: "A path is outside the workspace or outside the granted locations. `data`: `path`.",
  DigestMismatch:
    "The content has changed since it was shown to the user. `data`: `digest`, the current one.",
  Stale:
    "A file or folder has changed since the operation was prepared; nothing was written. `data`: `path`.",
  LimitExceeded: "A limit was exceeded. `data`: `limit`, its name, and `value`.",
  InvalidDocument: "A document or program cannot be used. `data`: `diagnostics`, if there are any.",
  Untrusted: "The connection is not trusted. The user must answer `lares/trust` first.",
  Busy: "Too much work is open or waiting, or the kernel is starting or stopping. Try again later.",
  StorageError: "A file or database could not be read or written.",
  ToolError: "A tool's arguments do not match its schema, or its handler failed.",
  AgentError:
    "The agent cannot run, or its program ended or answered with an error. `data`: `state`, `reason`.",
  Conflict: "Another caller wrote first. `data`: `revision`, the current one. Read again and retry.",
  VectorSearchNotConfigured: "No embedder is available, so similarity search is not possible.",
  ModelError:
    "No language model answered. `data`: `class`, such as `RateLimited` or `NoModel`, `provider`, `model`, and `retryable`: the same request may succeed later.",
  BudgetExceeded:
    "A request to a language model could exceed a budget of the user's document, so nothing was sent. `data`: `budget`, its name, `spent` and `limit`, in dollars or tokens.",
  EgressDenied: "A request may not leave the machine. `data`: `host`, `reason`.",
  LeakBlocked:
    "A request holds what looks like a secret, so nothing was sent. `data`: `rule`, `where`: `url`, `header` or `body`.",
  NetworkError:
    "A request got no answer, or no whole one. `data`: `class` (`Network`, `Timeout` or `Cancelled`), `host`.",
  DeadlineExceeded:
    "A call was not answered before the deadline of whoever made it, or of a caller before them. `data`: `deadline_ms`, `set_by`, `call`: how long it was, who set it, and for which call.",
  RequestCancelled: "The caller cancelled the request or has disconnected.",
  InvalidParams: "The params have an invalid form or value. `data`: `path`, the place of the error.",
  MethodNotFound: "There is no method with this name.",
  InternalError: "The kernel failed. This is a bug.",
};

/** Errors of every client request. */
export const commonRequestErrors = {
  InvalidParams: "The params are invalid; `data.method` and `data.path` say where.",
  Untrusted:
    "The connection is not trusted. Methods that are open to untrusted connections do not return this error.",
  Busy: "The request came before `initialize`, more than 1,000 are open on the connection, or the kernel is starting or stopping.",
  StorageError: "A file or database of the kernel could not be read or written.",
  InternalError: "The kernel failed.",
} satisfies MethodErrors;

/** Errors of every host call. */
export const commonCallErrors = {
  InvalidParams: "The params are invalid or contain an unknown field; `data.path` says where.",
  MethodNotFound: "There is no such host call.",
  RequestCancelled:
    "The guest cancelled the call, or the call that it belongs to was cancelled, before it started or while it was reading, waiting or calling a tool.",
  LimitExceeded:
    "More than 64 calls are open, the call or its answer is over 1 MiB, or it is nested deeper than 64 levels.",
  Busy: "The agent's permissions changed repeatedly while the call was running.",
  StorageError: "A file or database of the kernel could not be read or written.",
  InternalError: "The kernel failed.",
} satisfies MethodErrors;
