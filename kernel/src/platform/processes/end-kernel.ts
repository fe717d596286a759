import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { storageError, systemCode } from "../../base/errors.ts";
import { lockHolder } from "./lock.ts";
import { withoutSecrets } from "./secret-variables.ts";

/** The time in which a kernel must end after it was asked to. */
export const orderlyEndMs = 5_000;
/** The time in which a killed kernel must be gone, while the system releases its resources. */
export const killedEndMs = 5_000;
/** The time in which a kernel that takes or releases the lock must record its process id. */
const noteMs = 1_000;
const pollMs = 50;
/** Timeout and output limit of `ps`; a command line may name many folders. */
const psTimeoutMs = 2_000;
const maxCommandLineBytes = 1024 * 1024;

interface KernelEnd {
  /** Process id of the kernel that ended; null if none was running. */
  readonly pid: number | null;
  /** True if it was killed because it did not end in time. */
  readonly killed: boolean;
}

/** How a state folder's kernel is found and signalled. */
export interface EndPorts {
  /** Returns the holder of the state folder's lock; "unknown" while that changes. */
  holder(): Promise<number | "unknown" | null>;
  /** Returns true if the process is a kernel of this state folder, and not another one with a reused id. */
  isKernel(pid: number): Promise<boolean>;
  /** Does nothing if the process has ended. Throws if it belongs to another user. */
  signal(pid: number, signal: "SIGTERM" | "SIGKILL"): void;
  delay(milliseconds: number): Promise<unknown>;
  monotonic(): number;
}

/**
 * Ends the kernel of a state folder, even one that does not respond: asks it first, and kills it after
 * `orderlyEndMs`. Its clients find the next kernel, and no acknowledged data is lost. Signals only a process that
 * holds the lock *and* was started as this folder's kernel. Throws StorageError if it cannot be ended.
 */
export function endKernel(stateFolder: string): Promise<KernelEnd> {
  const lock = join(stateFolder, "kernel.lock");
  return endHolder({
    holder: () => lockHolder(lock),
    isKernel: async (pid) => isKernelOf(await commandLine(pid), stateFolder),
    signal: sendSignal,
    delay: (milliseconds) => delay(milliseconds),
    monotonic: () => performance.now(),
  });
}

/** Like `endKernel`, with its ports. */
export async function endHolder(ports: EndPorts): Promise<KernelEnd> {
  const within = async (milliseconds: number, isSo: () => Promise<boolean>): Promise<boolean> => {
    const deadline = ports.monotonic() + milliseconds;
    while (!(await isSo())) {
      if (ports.monotonic() > deadline) return false;
      await ports.delay(pollMs);
    }
    return true;
  };
  let pid: number | "unknown" | null = "unknown";
  const isTold = await within(noteMs, async () => (pid = await ports.holder()) !== "unknown");
  if (!isTold || pid === "unknown")
    throw storageError("A kernel has locked this workspace but has not recorded its process id.");
  if (pid === null) return { pid: null, killed: false };
  const kernel: number = pid;
  const isGone = async (): Promise<boolean> => {
    const holder = await ports.holder();
    return holder !== kernel && holder !== "unknown";
  };
  for (const [signal, patienceMs] of [
    ["SIGTERM", orderlyEndMs],
    ["SIGKILL", killedEndMs],
  ] as const) {
    if (await isGone()) break;
    if (!(await ports.isKernel(kernel))) {
      // It may have ended between the two checks.
      if (await isGone()) break;
      throw storageError(
        `Process ${kernel} is recorded as this workspace's kernel but is a different program. It was not ended; end the kernel manually.`,
      );
    }
    ports.signal(kernel, signal);
    if (await within(patienceMs, isGone)) return { pid: kernel, killed: signal === "SIGKILL" };
  }
  if (await isGone()) return { pid: kernel, killed: false };
  throw storageError(
    `The kernel (process ${kernel}) was killed and is still there: it waits for the operating system.`,
  );
}

function sendSignal(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ESRCH") return;
    if (code === "EPERM")
      throw storageError(`The kernel (process ${pid}) belongs to another user; only they can end it.`, error);
    throw error;
  }
}

/**
 * Returns true for a command line with which `startKernel` starts the kernel of `stateFolder`. Compares the
 * folder's own name, which contains a digest, because the path before it may be written differently and may have
 * spaces.
 */
export function isKernelOf(words: readonly string[] | "unknown", stateFolder: string): boolean {
  // Where the system does not show command lines, the lock must suffice: its holder recorded the process id while it
  // held it.
  if (words === "unknown") return true;
  const name = basename(stateFolder);
  return words.includes("kernel") && words.some((word) => basename(word) === name);
}

/** Returns the words that a process was started with; words with spaces may be split. None if the process has ended. */
async function commandLine(pid: number): Promise<readonly string[] | "unknown"> {
  if (process.platform === "win32") return "unknown";
  if (process.platform === "linux") {
    try {
      return (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
    } catch (error) {
      const code = systemCode(error);
      if (code === "ENOENT" || code === "ESRCH") return [];
      throw storageError(`What process ${pid} is cannot be read: ${String(error)}`, error);
    }
  }
  const options = { timeout: psTimeoutMs, env: withoutSecrets(process.env), maxBuffer: maxCommandLineBytes };
  try {
    const { stdout } = await promisify(execFile)(
      "/bin/ps",
      ["-ww", "-o", "command=", "-p", `${pid}`],
      options,
    );
    return stdout.split(/\s+/);
  } catch (error) {
    // Exit code 1: there is no such process.
    if (error instanceof Error && "code" in error && error.code === 1) return [];
    throw storageError(`What process ${pid} is cannot be asked of ps: ${String(error)}`, error);
  }
}
