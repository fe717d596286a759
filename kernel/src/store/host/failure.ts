import { isLaresError, type LaresError, messageOf } from "../../base/errors.ts";
import { storageFailure } from "../../platform/files/storage-failure.ts";

/** Returns the error for the caller if the system or a library failed; null for a fault of the host's own. */
export function failureOf(error: unknown): LaresError | null {
  // The first error is the one to act on; closing may have failed only because of it.
  if (error instanceof SuppressedError) return failureOf(error.suppressed) ?? failureOf(error.error);
  if (isLaresError(error)) return error;
  return isOfTheDisk(error) ? storageFailure("A memory's projections cannot be kept", error) : null;
}

/** True for Node's error of a failed system call and for SQLite's. DuckDB's errors were translated where they occurred. */
function isOfTheDisk(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return "syscall" in error || error.code === "ERR_SQLITE_ERROR";
}

/** Returns the message for the log. */
export const reasonOf = (error: unknown): string => messageOf(failureOf(error) ?? error);
