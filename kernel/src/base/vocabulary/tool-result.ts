import { Type, type Static } from "typebox";
import { maxDeadlineMs } from "../deadline.ts";
import type { ErrorCode, LaresError } from "../errors.ts";
import { Action } from "./action.ts";

/** How a caller names a call, so that it may repeat it. */
export const CallKey = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 256,
    description:
      "Chosen by the caller. A call with a key that the same caller used before is not made again: it waits for the first one and gets its outcome, an error included, after a restart too. If the kernel ended while the handler ran, the outcome is an `error` which says that nobody knows whether it took effect. A call that did not reach the handler may be repeated. Outcomes are kept for a caller's latest 1,000 keys, at most 16 MiB of them",
  }),
);

/** How long a caller waits. */
export const CallDeadline = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: maxDeadlineMs,
    description:
      "How long the caller waits for the result, in milliseconds. It counts for all calls that the handler makes for this one, too: none waits longer than what is left of it. A clock that is set does not change it",
  }),
);

const status = { description: "How the call ended" };

const succeeded = Type.Object({
  status: Type.Literal("success", status),
  value: Type.Unknown({ description: "What the tool returned; null where it returned nothing" }),
});
const failed = {
  status: Type.Literal("error", status),
  message: Type.String({ description: "What went wrong, in the tool's words" }),
  recoverable: Type.Boolean({
    description: "Another attempt, with other arguments or later, may succeed",
  }),
};
const needsApproval = Type.Object({
  status: Type.Literal("needs_approval", status),
  action: Action,
  reason: Type.String({ description: "Why the tool needs the action, in the tool's words" }),
});
const about = {
  description:
    "What a tool answered: a value, an error of its own, or an action that a person has to decide about",
};

export const ToolResult = Type.Union(
  [
    succeeded,
    Type.Object({
      ...failed,
      question: Type.Optional(
        Type.String({
          description:
            "Only of a call that a channel made: the id of the question that the person has not answered. The call was not run, and may be made again once it is allowed",
        }),
      ),
    }),
    needsApproval,
  ],
  about,
);
export type ToolResult = Static<typeof ToolResult>;

/** The result of a call that an agent made: only a channel's call is answered before its question is. */
export const AgentToolResult = Type.Union([succeeded, Type.Object(failed), needsApproval], about);

/** Errors after which another attempt, with other arguments or later, may succeed. */
const recoverable: ReadonlySet<ErrorCode> = new Set([
  "NotFound",
  "IllegalTransition",
  "ScopeViolation",
  "Stale",
  "LimitExceeded",
  "Busy",
  "ToolError",
  "Conflict",
  "RequestCancelled",
  "InvalidParams",
]);

/** Returns an error of the kernel as the result of a tool, for the model that called it. */
export function toolFailure({ code, message }: LaresError): Extract<ToolResult, { status: "error" }> {
  return { status: "error", message, recoverable: recoverable.has(code) };
}
