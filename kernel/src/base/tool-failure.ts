import type { ErrorCode, LaresError } from "./errors.ts";
import type { ToolResult } from "./vocabulary/tool-result.ts";

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
