import { type ErrorCode, isLaresError, LaresError, messageOf } from "../../base/errors.ts";
import type { DatabaseFailure } from "./database-messages.ts";

/** SQLite's primary result codes that are handled here. https://sqlite.org/rescode.html */
const resultCodes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  constraint: 19,
  notADatabase: 26,
};

export function failureOf(error: LaresError): DatabaseFailure {
  return { code: error.code, message: error.message, facts: error.facts };
}

export function damagedDatabase(path: string, finding: string): LaresError {
  return new LaresError(
    "StorageError",
    `The database "${path}" is damaged: ${finding}. Restore it from a backup, or move it (with "${path}-wal") out of the way to start with an empty one.`,
  );
}

/** Converts an error of SQLite to a LaresError. */
export function databaseError(error: unknown, path: string): LaresError {
  if (isLaresError(error)) return error;
  const message = messageOf(error);
  const make = (code: ErrorCode, sentence: string): LaresError =>
    new LaresError(code, sentence, {}, { cause: error });
  switch (primaryResultCode(error) ?? 0) {
    case resultCodes.busy:
    case resultCodes.locked:
      return make("Busy", `Another process holds the database "${path}". Try again when it is done.`);
    case resultCodes.constraint:
      return make("Conflict", `The change contradicts what is stored: ${message}.`);
    case resultCodes.corrupt:
    case resultCodes.notADatabase:
      return damagedDatabase(path, message);
    case resultCodes.full:
      return make(
        "StorageError",
        `No space is left for the database "${path}". Nothing was written; free some space and try again.`,
      );
    case resultCodes.readOnly:
    case resultCodes.cannotOpen:
      return make(
        "StorageError",
        `The database "${path}" cannot be written: ${message}. Check that its folder exists and is yours, and that the disk has space.`,
      );
    case resultCodes.inputOutput:
      return make(
        "StorageError",
        `The disk refused to serve the database "${path}": ${message}. Nothing was written; see whether the disk is full or failing, then try again.`,
      );
    default:
      return make("StorageError", `The database "${path}" refused a statement: ${message}.`);
  }
}

function primaryResultCode(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return undefined;
  // The low byte of an extended code is the primary code.
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}
