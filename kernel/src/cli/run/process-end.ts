import { setTimeout as pause } from "node:timers/promises";

const pollMs = 25;
const patienceMs = 8000;

/** Resolves when no process has this id any more, or patience has run out. */
export async function whenGone(pid: number): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end;) {
    try {
      process.kill(pid, 0);
    } catch {
      // ESRCH: it is gone. EPERM: the id belongs to somebody else by now.
      return;
    }
    await pause(pollMs);
  }
}
