import { type ErrorCode, isLaresError, LaresError } from "../../../base/errors.ts";
import { isJsonObject } from "../../../base/json.ts";
import { abiBounds as bounds } from "./bounds.ts";
import type { WireError } from "./messages.ts";

/** The number of each error on the wire; defined once, with the protocol. */
export type ErrorNumbers = Readonly<Record<ErrorCode, number>>;

/** Returns the error as the guest receives it. Unexpected errors are sent without their message. */
export function toWireError(error: unknown, numbers: ErrorNumbers): WireError {
  if (isLaresError(error)) {
    return { code: numbers[error.code], message: error.message, data: { ...error.facts, code: error.code } };
  }
  return {
    code: numbers.InternalError,
    message: "The kernel failed to answer this call. Its log has the reason.",
    data: { code: "InternalError" },
  };
}

/** Returns a guest's error: one of the catalogue if code and number agree, otherwise an AgentError. */
export function fromWireError(error: WireError, numbers: ErrorNumbers): LaresError {
  const message = error.message.slice(0, bounds.maxErrorCharacters);
  const { code: word, ...facts } = isJsonObject(error.data) ? error.data : {};
  if (isErrorCode(word, numbers) && numbers[word] === error.code) return new LaresError(word, message, facts);
  return new LaresError("AgentError", message, facts);
}

function isErrorCode(word: unknown, numbers: ErrorNumbers): word is ErrorCode {
  return typeof word === "string" && Object.hasOwn(numbers, word);
}
