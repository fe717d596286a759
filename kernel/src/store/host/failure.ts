import { isLaresError, type LaresError, messageOf } from "../../base/errors.ts";
import { storageFailure } from "../../platform/files/storage-failure.ts";

/** An error of the system or of a library's, as who asked is told of it; null: a fault of the host's own. */
export function failureOf(error: unknown): LaresError | null {
  // What went wrong first is what a person can do something about, not what then could not be closed.
  if (error instanceof SuppressedError) return failureOf(error.suppressed) ?? failureOf(error.error);
  if (isLaresError(error)) return error;
  return isOfTheDisk(error) ? storageFailure("A memory's projections cannot be kept", error) : null;
}

/** Node's for a system call that failed, and SQLite's; DuckDB's have been told of where they came. */
function isOfTheDisk(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return "syscall" in error || error.code === "ERR_SQLITE_ERROR";
}

/** What the log says of it. */
export const reasonOf = (error: unknown): string => messageOf(failureOf(error) ?? error);
