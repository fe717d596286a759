import { readdirSync, readFileSync } from "node:fs";
import { isAlive, until } from "../../support/until.ts";

/** Returns the running children of a process. Linux only, like the whole suite. */
export function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid);
}

/** A process and all that it started, directly or not, as far as they still run. */
export function familyOf(pid: number): number[] {
  return isAlive(pid) ? [pid, ...childrenOf(pid).flatMap(familyOf)] : [];
}

function parentOf(pid: number): number | null {
  const match = /^\d+ \(.*\) \S (\d+)/s.exec(read(`/proc/${pid}/stat`));
  return match === null ? null : Number(match[1]);
}

export function commandLineOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

export function environmentOf(pid: number): string {
  return read(`/proc/${pid}/environ`);
}

/** Returns an empty text if the process is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return "";
    throw error;
  }
}

/** Returns the child in which the guests of a kernel run, once it exists. */
export function sandboxHostOf(kernelPid: number): number | undefined {
  return childrenOf(kernelPid).find((child) => commandLineOf(child).includes("sandbox/host/host-process"));
}

/** Returns the child that has a kernel's projections, once they were queried. */
export function storeHostOf(kernelPid: number): number | undefined {
  return childrenOf(kernelPid).find((child) => commandLineOf(child).includes("store/host/host-process"));
}

/** Returns the child that opens a kernel's connections, once it has opened one. */
export function egressHostOf(kernelPid: number): number | undefined {
  return childrenOf(kernelPid).find((child) => commandLineOf(child).includes("egress/host/host-process"));
}

/** Returns the start time of a process, in the system's ticks, because process ids are reused. */
function startOf(pid: number): string {
  return /^\d+ \(.*\) (?:\S+ ){19}(\d+)/s.exec(read(`/proc/${pid}/stat`))?.[1] ?? "";
}

/** Remembers processes until they are gone. */
export class SeenProcesses {
  readonly #starts = new Map<number, string>();

  add(pid: number): void {
    this.#starts.set(pid, startOf(pid));
  }

  /** Resolves when all remembered processes are gone, except these. */
  async gone(living: ReadonlySet<number> = new Set()): Promise<void> {
    for (const [pid, start] of this.#starts) {
      if (living.has(pid)) continue;
      const isThere = (): boolean => isAlive(pid) && startOf(pid) === start;
      await until(`process ${pid} to end: ${commandLineOf(pid)}`, () => !isThere());
      this.#starts.delete(pid);
    }
  }
}
