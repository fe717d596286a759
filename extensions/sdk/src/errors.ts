/** The protocol's words for what the kernel refuses, plus JSON-RPC's own. */
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
  | "RequestCancelled"
  | "InvalidParams"
  | "MethodNotFound"
  | "InternalError";

/** What a call of `ctx` rejects with. `facts` are what the kernel says beside: `path`, `permission`, `limit`, … */
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

/** True for an error of the kernel, of the given code where one is named. */
export function isLaresError(error: unknown, code?: ErrorCode): error is LaresError {
  return error instanceof LaresError && (code === undefined || error.code === code);
}

/** JSON-RPC's numbers; the kernel's own come with a word in `data.code`. */
const words: Record<number, ErrorCode> = {
  [-32601]: "MethodNotFound",
  [-32602]: "InvalidParams",
};

/** From an error as it came over the wire. */
export function laresErrorFrom(error: { code?: unknown; message?: unknown; data?: unknown }): LaresError {
  const data =
    typeof error.data === "object" && error.data !== null ? (error.data as Record<string, unknown>) : {};
  const { code, ...facts } = data;
  const word = typeof code === "string" ? (code as ErrorCode) : undefined;
  return new LaresError(word ?? words[Number(error.code)] ?? "InternalError", String(error.message), facts);
}
