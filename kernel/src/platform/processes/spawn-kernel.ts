import { spawn } from "node:child_process";
import { lstat, rename } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { invalidParams, messageOf, systemCode } from "../../base/errors.ts";
import { openPlainFile, setAside } from "../files/plain-file.ts";
import { storageFailure } from "../files/storage-failure.ts";

export interface KernelArguments {
  /** Absolute; `stateFolderOf` returned it for the same roots. */
  readonly stateFolder: string;
  /** Absolute paths of the workspace's folders, in the client's order. */
  readonly roots: readonly string[];
  /** Keeps running when the last client has left. */
  readonly keep: boolean;
}

/** Returns the arguments after the program's own: `kernel --state=… --root=… [--keep]`. */
export function kernelArguments({ stateFolder, roots, keep }: KernelArguments): string[] {
  return [
    "kernel",
    `--state=${stateFolder}`,
    ...roots.map((root) => `--root=${root}`),
    ...(keep ? ["--keep"] : []),
  ];
}

/** Parses them; `argv` begins after the word `kernel`. */
export function parseKernelArguments(argv: readonly string[]): KernelArguments {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      state: { type: "string" },
      root: { type: "string", multiple: true },
      keep: { type: "boolean" },
    },
  });
  if (!values.state || !values.root?.length)
    throw invalidParams('"lares kernel" is started by "lares serve", with --state and --root.');
  return { stateFolder: values.state, roots: values.root, keep: values.keep ?? false };
}

/** How to run this program again: an executable, and the arguments before the command. */
export interface Program {
  readonly executable: string;
  readonly arguments: readonly string[];
}

/**
 * The first two flags bound the heap by what is in use. Left to itself, V8 lets the young generation grow by some 50 MB
 * after a few hundred thousand records without getting faster, and the old one to four times what survived a collection:
 * a kernel with 1,000 agents needed 680 MB instead of 350. `settleHeap` needs the third.
 */
export const kernelFlags: readonly string[] = [
  "--max-semi-space-size=8",
  "--heap-growing-percent=100",
  "--expose-gc",
];

interface StartedKernel {
  readonly pid: number;
  /** Resolves with the end of a sentence when the process has ended, such as "ended with exit code 1". */
  readonly exited: Promise<string>;
}

/** The kernel's stderr, in its state folder. If it is over this size at a start, it is renamed and a new one begun. */
const logName = "kernel.log";
const maxLogBytes = 1024 * 1024;

/** Starts a kernel that outlives this process. The kernel is ready only when its socket answers. */
export async function startKernel(program: Program, kernel: KernelArguments): Promise<StartedKernel> {
  const log = await openLog(kernel.stateFolder);
  try {
    const child = spawn(
      program.executable,
      [...kernelFlags, ...program.arguments, ...kernelArguments(kernel)],
      {
        cwd: kernel.stateFolder,
        detached: true,
        stdio: ["ignore", log.fd, log.fd],
        windowsHide: true,
      },
    );
    const exited = new Promise<string>((resolve) => {
      child.once("exit", (code, signal) =>
        resolve(signal ? `ended by ${signal}` : `ended with exit code ${code}`),
      );
      child.once("error", (error) => resolve(`could not be started: ${messageOf(error)}`));
    });
    child.unref();
    return { pid: child.pid ?? 0, exited };
  } finally {
    await log.close();
  }
}

/** Returns the last lines of the kernel's log, at most `maxBytes`; empty if there is none. */
export async function kernelLogTail(stateFolder: string, maxBytes: number): Promise<string> {
  try {
    await using file = await openPlainFile(join(stateFolder, logName), "read");
    const { size } = await file.stat();
    const start = Math.max(0, size - maxBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, start);
    const text = buffer.subarray(0, bytesRead).toString("utf8");
    return (start === 0 ? text : text.slice(text.indexOf("\n") + 1)).trimEnd();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return "";
    throw storageFailure("The kernel's log cannot be read", error);
  }
}

async function openLog(stateFolder: string) {
  const path = join(stateFolder, logName);
  try {
    const found = await lstat(path).catch((error: unknown) => {
      // The first start, or another front has renamed it meanwhile.
      if (systemCode(error) === "ENOENT") return null;
      throw error;
    });
    if (found !== null && !found.isFile()) await setAside(path, Date.now());
    else if (found !== null && found.size > maxLogBytes) await rename(path, `${path}.1`);
  } catch (error) {
    if (systemCode(error) !== "ENOENT")
      throw storageFailure(`The kernel's log "${path}" cannot be written`, error);
  }
  try {
    return await openPlainFile(path, "append");
  } catch (error) {
    throw storageFailure(`The kernel's log "${path}" cannot be written`, error);
  }
}

/** Returns false if no such process exists (any more). A process of another user exists. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}
