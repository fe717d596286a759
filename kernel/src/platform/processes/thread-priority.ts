import { readFileSync } from "node:fs";
import { setPriority } from "node:os";

/** Where Linux tells a thread of itself. The one file: its folder would lead everywhere. */
export const ownThread = "/proc/thread-self/stat";

/** The number by which the system knows this thread; undefined where the system says none. */
export function ownThreadId(): number | undefined {
  try {
    // "<number> (<name>) <state> …"
    return Number.parseInt(readFileSync(ownThread, "utf8"), 10);
  } catch (error) {
    // Another system than Linux: all threads there have the priority of their process.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Lets a thread of this process run behind those of usual priority. There is no way back without privileges, so it is
 * for threads that will be ended. Linux gives each thread a priority of its own. Nothing happens to a thread that is
 * gone or whose number is 0.
 */
export function stepBack(threadId: number, niceness: number): void {
  if (threadId === 0) return;
  try {
    setPriority(threadId, niceness);
  } catch (error) {
    const { code, info } = error as NodeJS.ErrnoException & { info?: { code?: string } };
    if (code !== "ERR_SYSTEM_ERROR" || info?.code !== "ESRCH") throw error;
  }
}
