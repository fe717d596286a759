import { readFileSync } from "node:fs";
import { systemCode } from "../../base/errors.ts";

/** Returns the bytes that another process has in memory; null if the system does not report it, or the process ended. */
export function processMemoryBytes(pid: number): number | null {
  try {
    const [, kibibytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
    return kibibytes === undefined ? null : Number(kibibytes) * 1024;
  } catch (error) {
    const code = systemCode(error);
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(code)) return null;
    throw error;
  }
}
