import { isProcessAlive } from "../platform/processes/spawn-kernel.ts";

/** A client that vanished without closing its pipe is noticed within this time. */
const intervalMs = 3_000;

/**
 * Calls `gone` once the process no longer exists. With `mustExist` false, a process that is not there to begin
 * with is not watched: a client in another container names a process id that means nothing here.
 */
export function watchProcess(pid: number, mustExist: boolean, gone: () => void): void {
  if (!isProcessAlive(pid)) {
    if (mustExist) gone();
    return;
  }
  const timer = setInterval(() => {
    if (isProcessAlive(pid)) return;
    clearInterval(timer);
    gone();
  }, intervalMs);
  timer.unref();
}
