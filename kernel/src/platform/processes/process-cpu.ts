import { systemCode } from "../../base/errors.ts";
import { readFileSync } from "node:fs";

/** Linux counts the CPU time of processes in ticks; `sysconf(_SC_CLK_TCK)` is 100 on every system that Node runs on. */
const tickMs = 10;

/** Returns another process's CPU time in milliseconds; null if the system does not report it, or the process ended. */
export function processCpuMs(pid: number): number | null {
  try {
    // "<pid> (<name>) <state> …": the name may contain anything, so fields are counted after its end.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [user, system] = [Number(fields[11]), Number(fields[12])];
    return Number.isFinite(user + system) ? (user + system) * tickMs : null;
  } catch (error) {
    const code = systemCode(error);
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(code)) return null;
    throw error;
  }
}
