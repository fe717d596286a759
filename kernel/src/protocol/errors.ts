import { isLaresError, LaresError, messageOf, type ErrorCode, type ErrorFacts } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { WireError } from "./messages.ts";

/** The only mapping between the kernel's error codes and the wire's numbers. */
export const wireCodes = {
  NotFound: -33001,
  IllegalTransition: -33002,
  PermissionDenied: -33003,
  ScopeViolation: -33004,
  DigestMismatch: -33005,
  Stale: -33006,
  LimitExceeded: -33007,
  InvalidDocument: -33008,
  Untrusted: -33009,
  Busy: -33010,
  StorageError: -33011,
  ToolError: -33012,
  AgentError: -33013,
  Conflict: -33014,
  VectorSearchNotConfigured: -33015,
  ModelError: -33016,
  BudgetExceeded: -33017,
  EgressDenied: -33018,
  LeakBlocked: -33019,
  NetworkError: -33020,
  DeadlineExceeded: -33021,
  RequestCancelled: -32800,
  InvalidParams: -32602,
  MethodNotFound: -32601,
  InternalError: -32603,
} as const satisfies Record<ErrorCode, number>;

const words: ReadonlyMap<number, ErrorCode> = new Map(
  (Object.keys(wireCodes) as ErrorCode[]).map((word) => [wireCodes[word], word]),
);

/**
 * Returns the error that a peer receives. An error of the catalogue is sent with its message. Any other error is
 * sent as an internal error with its message only: no stack, no cause, no properties.
 */
export function toWireError(error: unknown): WireError & { data: ErrorFacts & { code: ErrorCode } } {
  if (isLaresError(error))
    return {
      code: wireCodes[error.code],
      message: error.message,
      data: { ...error.facts, code: error.code },
    };
  return {
    code: wireCodes.InternalError,
    message: `The kernel failed: ${messageOf(error)}`,
    data: { code: "InternalError" },
  };
}

/** Returns a peer's error as a LaresError; a number that is not in the catalogue becomes InternalError. */
export function fromWireError(error: WireError): LaresError {
  const { code: _code, ...facts } = isJsonObject(error.data) ? error.data : {};
  const word = words.get(error.code);
  if (word) return new LaresError(word, error.message, facts);
  return new LaresError("InternalError", error.message, { ...facts, wireCode: error.code });
}
