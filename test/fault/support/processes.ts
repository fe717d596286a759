import { readdirSync, readFileSync } from "node:fs";
import { isAlive, until } from "../../support/until.ts";

/** The processes that a process started and that still run. Linux only, as the whole suite. */
export function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid);
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

/** Empty where the process is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return "";
    throw error;
  }
}

/** The child in which the guests of a kernel run, once there is one. */
export function sandboxHostOf(kernelPid: number): number | undefined {
  return childrenOf(kernelPid).find((child) => commandLineOf(child).includes("sandbox/host/host-process"));
}

/** The child that keeps a kernel's projections, once something was asked of them. */
export function storeHostOf(kernelPid: number): number | undefined {
  return childrenOf(kernelPid).find((child) => commandLineOf(child).includes("store/host/host-process"));
}

/** When a process began, in the system's ticks: a process id alone is given to others after a while. */
function startOf(pid: number): string {
  return /^\d+ \(.*\) (?:\S+ ){19}(\d+)/s.exec(read(`/proc/${pid}/stat`))?.[1] ?? "";
}

/** Processes that were seen, until they are gone. */
export class SeenProcesses {
  readonly #starts = new Map<number, string>();

  add(pid: number): void {
    this.#starts.set(pid, startOf(pid));
  }

  /** Resolves when all that were seen are gone, but for these. */
  async gone(living: ReadonlySet<number> = new Set()): Promise<void> {
    for (const [pid, start] of this.#starts) {
      if (living.has(pid)) continue;
      const isThere = (): boolean => isAlive(pid) && startOf(pid) === start;
      await until(`process ${pid} to end: ${commandLineOf(pid)}`, () => !isThere());
      this.#starts.delete(pid);
    }
  }
}
