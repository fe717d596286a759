import { type ErrorCode, isLaresError, LaresError } from "../../../base/errors.ts";
import { isJsonObject } from "../../../base/json.ts";
import { abiBounds as bounds } from "./bounds.ts";
import type { WireError } from "./messages.ts";

/** The wire's number for each error of the catalogue; written down once, with the protocol. */
export type ErrorNumbers = Readonly<Record<ErrorCode, number>>;

/** What a guest is told of an error; of one that was not raised on purpose, only that there was one. */
export function toWireError(error: unknown, numbers: ErrorNumbers): WireError {
  if (isLaresError(error)) {
    return { code: numbers[error.code], message: error.message, data: { ...error.facts, code: error.code } };
  }
  return {
    code: numbers.InternalError,
    message: "The kernel failed to answer this call; its log says why.",
    data: { code: "InternalError" },
  };
}

/** A guest's error: of the catalogue where word and number agree, else an AgentError. */
export function fromWireError(error: WireError, numbers: ErrorNumbers): LaresError {
  const message = error.message.slice(0, bounds.maxErrorCharacters);
  const { code: word, ...facts } = isJsonObject(error.data) ? error.data : {};
  if (isErrorCode(word, numbers) && numbers[word] === error.code) return new LaresError(word, message, facts);
  return new LaresError("AgentError", message, facts);
}

function isErrorCode(word: unknown, numbers: ErrorNumbers): word is ErrorCode {
  return typeof word === "string" && Object.hasOwn(numbers, word);
}
