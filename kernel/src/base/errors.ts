/**
 * The catalogue of all errors that the kernel raises on purpose.
 *
 * Inside the kernel, `code` identifies an error; only `protocol/errors.ts` maps codes to the numbers of the wire.
 * `facts` are sent to clients and guests unchanged, so they must hold only what the receiver may know.
 */
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

export type ErrorFacts = Readonly<Record<string, unknown>>;

export class LaresError extends Error {
  override readonly name = "LaresError";
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.facts = facts;
  }
}

/** True for an error of the catalogue; with `code`, only for that code. */
export function isLaresError(error: unknown, code?: ErrorCode): error is LaresError {
  return error instanceof LaresError && (code === undefined || error.code === code);
}

/** Returns the message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code of a system's or Node's error, such as "ENOENT"; empty if it has none. */
export function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

export const notFound = (what: string, name: string): LaresError =>
  new LaresError("NotFound", `There is no ${what} "${name}".`, { what, name });

export const illegalTransition = (state: string, message: string): LaresError =>
  new LaresError("IllegalTransition", message, { state });

export const permissionDenied = (extension: string, permission: string, message: string): LaresError =>
  new LaresError("PermissionDenied", message, { permission, extension });

export const scopeViolation = (path: string, message: string): LaresError =>
  new LaresError("ScopeViolation", message, { path });

export const stale = (path: string, message: string): LaresError =>
  new LaresError("Stale", message, { path });

export const limitExceeded = (limit: string, value: number, message: string): LaresError =>
  new LaresError("LimitExceeded", message, { limit, value });

export const conflict = (revision: number): LaresError =>
  new LaresError(
    "Conflict",
    `Somebody else wrote first; the state is now at revision ${revision}. Read it and try again.`,
    {
      revision,
    },
  );

export const requestCancelled = (message: string): LaresError => new LaresError("RequestCancelled", message);

export const storageError = (message: string, cause?: unknown): LaresError =>
  new LaresError("StorageError", message, {}, { cause });

export const invalidParams = (message: string, facts: ErrorFacts = {}): LaresError =>
  new LaresError("InvalidParams", message, facts);
