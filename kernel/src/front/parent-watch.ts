import { isProcessAlive } from "../platform/processes/spawn-kernel.ts";

/** Interval at which the process is checked: a client may end without closing its pipe. */
const intervalMs = 3_000;

/**
 * Calls `gone` once the process no longer exists. With `mustExist` false, a process that does not exist at the start
 * is not watched: the process id of a client in another container means nothing here.
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
