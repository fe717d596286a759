import { isLaresError } from "../errors.ts";

/** Returns the code of the error that a call fails with; "fulfilled" for one that succeeds. */
export async function codeOf(running: Promise<unknown>): Promise<string> {
  try {
    await running;
    return "fulfilled";
  } catch (error) {
    return isLaresError(error) ? error.code : `not a LaresError: ${String(error)}`;
  }
}
