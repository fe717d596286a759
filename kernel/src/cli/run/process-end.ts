import { setTimeout as pause } from "node:timers/promises";

const pollMs = 25;
const patienceMs = 8000;

/** Resolves when no process has this id any more, or after a timeout. */
export async function whenGone(pid: number): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end;) {
    try {
      process.kill(pid, 0);
    } catch {
      // ESRCH: the process has ended. EPERM: the id belongs to somebody else's process by now.
      return;
    }
    await pause(pollMs);
  }
}
