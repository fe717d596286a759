import { readFileSync } from "node:fs";

/** Timeout for a condition on a busy machine, in milliseconds. */
export const PATIENCE_MS = 90_000;
const INTERVAL_MS = 20;

/**
 * Polls until `look` returns something other than undefined, null or false, and returns that. Fails with `what` and the
 * last value seen, so that a failure shows how far it got.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs = PATIENCE_MS,
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) {
      return found as Exclude<T, undefined | null | false>;
    }
    last = found;
    if (performance.now() > deadline) {
      throw new Error(`never came within ${timeoutMs} ms: ${what} (last: ${JSON.stringify(last)})`);
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
}

/**
 * Returns true while a process with this id runs. One that ended and was not collected by its parent does not count.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ESRCH", "ENOENT"].includes(code)) return false;
    throw error;
  }
}
