import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { storageError } from "../../base/errors.ts";
import { lockHolder } from "./lock.ts";

/** A kernel that was asked to end has so long to do it in order. */
export const orderlyEndMs = 5_000;
/** One that was killed has so long to be gone: the system takes back what it has. */
export const killedEndMs = 5_000;
/** A kernel that has just taken the lock, or is about to give it back, has so long to say who it is. */
const noteMs = 1_000;
const pollMs = 50;
/** `ps` answers in this time, and with so much; a command line may name many folders. */
const psTimeoutMs = 2_000;
const maxCommandLineBytes = 1024 * 1024;

interface KernelEnd {
  /** Process id of the kernel that ended; null where none was there. */
  readonly pid: number | null;
  /** It did not end when it was asked to. */
  readonly killed: boolean;
}

/** What a state folder's kernel is seen and reached by. */
export interface EndPorts {
  /** Who has the state folder's lock; "unknown" while that changes. */
  holder(): Promise<number | "unknown" | null>;
  /** The process is a kernel of this state folder, and no other that was given its number. */
  isKernel(pid: number): Promise<boolean>;
  /** Does nothing where there is no such process any more. Throws where it is another user's. */
  signal(pid: number, signal: "SIGTERM" | "SIGKILL"): void;
  delay(milliseconds: number): Promise<unknown>;
  monotonic(): number;
}

/**
 * Ends the kernel of a state folder, also one that answers nothing: asks it first, kills it after `orderlyEndMs`. Its
 * clients find the next one, and nothing that it acknowledged is lost. Only a process that has the lock *and* was
 * started as this folder's kernel is sent anything. Throws StorageError where it cannot be ended.
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

/** As `endKernel`, by its ports. */
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
    throw storageError("A kernel has this workspace, and does not say which process it is.");
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
      // Between the two looks it may have gone by itself.
      if (await isGone()) break;
      throw storageError(
        `Process ${kernel} is noted as this workspace's kernel and is none. It is left alone; end the kernel by hand.`,
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
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ESRCH") return;
    if (code === "EPERM")
      throw storageError(`The kernel (process ${pid}) belongs to another user; only they can end it.`, error);
    throw error;
  }
}

/**
 * Whether this is how `startKernel` starts the kernel of `stateFolder`. By the folder's own name, which has a digest
 * in it: the way to it may be written differently, and may have spaces.
 */
export function isKernelOf(words: readonly string[] | "unknown", stateFolder: string): boolean {
  // Where the system does not tell, the lock alone says so: who has it wrote down its number while it had it.
  if (words === "unknown") return true;
  const name = basename(stateFolder);
  return words.includes("kernel") && words.some((word) => basename(word) === name);
}

/** The words a process was started with; those with spaces may come in parts. None where it is gone. */
async function commandLine(pid: number): Promise<readonly string[] | "unknown"> {
  if (process.platform === "win32") return "unknown";
  if (process.platform === "linux") {
    try {
      return (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "ENOENT" || code === "ESRCH") return [];
      throw storageError(`What process ${pid} is cannot be read: ${String(error)}`, error);
    }
  }
  const options = { timeout: psTimeoutMs, maxBuffer: maxCommandLineBytes };
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
