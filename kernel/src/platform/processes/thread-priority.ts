import { systemCode } from "../../base/errors.ts";
import { readFileSync } from "node:fs";
import { setPriority } from "node:os";

/** Where Linux describes the calling thread. Only this file is needed; its folder would give access to everything. */
export const ownThread = "/proc/thread-self/stat";

/** Returns the operating system's id of this thread; undefined if there is none. */
export function ownThreadId(): number | undefined {
  try {
    // "<number> (<name>) <state> …"
    return Number.parseInt(readFileSync(ownThread, "utf8"), 10);
  } catch (error) {
    // Only Linux has it; elsewhere all threads have the priority of their process.
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Lowers the priority of a thread of this process. That cannot be undone without privileges, so it is for threads
 * that will be terminated. Only Linux has a priority per thread. Does nothing if the thread has ended or its id is
 * 0.
 */
export function lowerThreadPriority(threadId: number, niceness: number): void {
  if (threadId === 0) return;
  try {
    setPriority(threadId, niceness);
  } catch (error) {
    const { code, info } = error as NodeJS.ErrnoException & { info?: { code?: string } };
    if (code !== "ERR_SYSTEM_ERROR" || info?.code !== "ESRCH") throw error;
  }
}
