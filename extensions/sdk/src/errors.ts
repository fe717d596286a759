/** The protocol's codes of the kernel's refusals, and those of JSON-RPC. */
export type ErrorCode =
  | "NotFound"
  | "IllegalTransition"
  | "PermissionDenied"
  | "ScopeViolation"
  | "DigestMismatch"
  | "Stale"
  | "LimitExceeded"
  | "InvalidDocument"
  | "Untrusted"
  | "Busy"
  | "StorageError"
  | "ToolError"
  | "AgentError"
  | "Conflict"
  | "VectorSearchNotConfigured"
  | "ModelError"
  | "BudgetExceeded"
  | "EgressDenied"
  | "LeakBlocked"
  | "NetworkError"
  | "DeadlineExceeded"
  | "RequestCancelled"
  | "InvalidParams"
  | "MethodNotFound"
  | "InternalError";

/** The error with which calls of `ctx` reject. `facts` are the kernel's details: `path`, `permission`, `limit`, … */
export class LaresError extends Error {
  override readonly name = "LaresError";
  readonly code: ErrorCode;
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.facts = facts;
  }
}

/** Returns true for an error of the kernel, and if a code is given, only for that code. */
export function isLaresError(error: unknown, code?: ErrorCode): error is LaresError {
  return error instanceof LaresError && (code === undefined || error.code === code);
}

/** JSON-RPC's numbers. The kernel's own errors have a word in `data.code`. */
const words: Record<number, ErrorCode> = {
  [-32601]: "MethodNotFound",
  [-32602]: "InvalidParams",
};

/** Creates a LaresError from an error of the wire. */
export function laresErrorFrom(error: { code?: unknown; message?: unknown; data?: unknown }): LaresError {
  const data =
    typeof error.data === "object" && error.data !== null ? (error.data as Record<string, unknown>) : {};
  const { code, ...facts } = data;
  const word = typeof code === "string" ? (code as ErrorCode) : undefined;
  return new LaresError(word ?? words[Number(error.code)] ?? "InternalError", String(error.message), facts);
}
