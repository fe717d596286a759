import { spawn, type ChildProcess as NodeChild } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { Socket } from "node:net";
import { createRequire, findPackageJSON } from "node:module";
import { dirname, join, parse, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { systemCode } from "../../base/errors.ts";
import { Emitter } from "../../base/emitter.ts";

/** The descriptor of the channel between parent and child: a separate pipe that printed output cannot disturb. */
const channelDescriptor = 3;

/** An editor's executable (Electron) runs as Node.js only with this variable; otherwise it opens a window. */
const asNode: Readonly<Record<string, string>> =
  process.versions["electron"] === undefined ? {} : { ELECTRON_RUN_AS_NODE: "1" };

/** Longer lines of a child's stderr are cut. */
const maxStderrLineLength = 8192;

/** A stream of bytes in both directions, each with back-pressure. */
interface ByteChannel {
  readonly chunks: Emitter<Uint8Array>;
  /** Resolves when either side has closed. */
  readonly closed: Promise<void>;
  /** Sends the parts in order. Everything sent in one turn of the loop is written together. */
  write(...parts: readonly Uint8Array[]): void;
  /** Bytes that the other side has not taken yet. */
  readonly queuedBytes: number;
  close(): void;
}

export interface ChildProcessOptions {
  /** The module that the child runs. */
  readonly entry: URL;
  /** Folders and files that it may read. It may not start processes. */
  readonly readable: readonly (string | URL)[];
  /** Folders and files that it may write; default none. */
  readonly writable?: readonly string[];
  /** Whether it may load native code, to which these permissions do not apply. Default false. */
  readonly nativeCode?: boolean;
  /** Whether it may start worker threads. */
  readonly workers: boolean;
  /** Limit of its JavaScript heap, at which it ends. Default: Node's own limit. */
  readonly maxHeapMb?: number;
  /** A module that each of its threads runs before its own. */
  readonly preload?: URL;
  readonly arguments?: readonly string[];
  /** Its environment; default none. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface ChildProcess extends AsyncDisposable {
  readonly pid: number;
  readonly channel: ByteChannel;
  /** The lines that it prints to stdout and stderr. */
  readonly output: Emitter<string>;
  /** Resolves with the end of a sentence: "ended by SIGKILL", "ended with exit code 1". */
  readonly exited: Promise<string>;
  /** Kills the process. Resolves when it has ended. */
  kill(): Promise<void>;
}

/** Starts a Node.js process with only the permissions that the options name. */
export async function startChildProcess(options: ChildProcessOptions): Promise<ChildProcess> {
  const readable = options.readable.map((path) => (path instanceof URL ? fileURLToPath(path) : path));
  const flags = [
    "--permission",
    // Each worker thread has a heap of its own, whose young generation would grow to 16 MB or more without getting faster.
    // The reducer would wake each idle thread every few seconds, to free little.
    ...(options.workers ? ["--allow-worker", "--max-semi-space-size=2", "--no-memory-reducer"] : []),
    ...(options.nativeCode === true ? ["--allow-addons"] : []),
    ...(options.maxHeapMb === undefined ? [] : [`--max-old-space-size=${options.maxHeapMb}`]),
    ...[...readable, ...nearerPackages(fileURLToPath(options.entry), readable)].map(
      (path) => `--allow-fs-read=${path}`,
    ),
    ...(options.writable ?? []).map((path) => `--allow-fs-write=${path}`),
    ...(options.preload === undefined ? [] : [`--import=${options.preload.href}`]),
    // Node.js warns that workers and native code could extend their permissions; the children run only the kernel's
    // code.
    "--disable-warning=PERM0006",
    "--disable-warning=SecurityWarning",
    "--disable-warning=ExperimentalWarning",
  ];
  const child = spawn(
    process.execPath,
    [...flags, fileURLToPath(options.entry), ...(options.arguments ?? [])],
    {
      cwd: parse(process.execPath).root,
      env: { ...asNode, ...options.environment },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      windowsHide: true,
    },
  );
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`could not be started: ${error.message}`));
    child.once("exit", (code, signal) =>
      resolve(signal === null ? `ended with exit code ${code}` : `ended by ${signal}`),
    );
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  const output = new Emitter<string>();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) emitLines(stream, output);
  }
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  return {
    pid: child.pid ?? 0,
    channel: byteChannel(channelOf(child)),
    output,
    exited,
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/**
 * Returns the `node_modules` folders between a program and a readable one. Node searches them first and treats a refused read as an
 * error, not as a miss. A checkout has such a folder if its packages need different versions of a dependency.
 */
function nearerPackages(entry: string, readable: readonly string[]): string[] {
  const found: string[] = [];
  for (let folder = dirname(entry); ; folder = dirname(folder)) {
    const packages = join(folder, "node_modules");
    if (readable.includes(packages)) return found;
    if (existsSync(packages)) found.push(packages);
    if (dirname(folder) === folder) return [];
  }
}

/** Returns the location of an installed package's module, and the package's folder, which a child must read. */
export function locateModule(
  specifier: string,
  importMetaUrl: string,
): { readonly url: string; readonly folder: string } {
  const path = createRequire(importMetaUrl).resolve(specifier);
  let folder = dirname(path);
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return { url: pathToFileURL(path).href, folder };
}

/** Returns the URL of an installed package's module; null if it is not installed. */
export function findModule(name: string, importMetaUrl: string): string | null {
  return findPackage(name, importMetaUrl) === undefined ? null : locateModule(name, importMetaUrl).url;
}

/**
 * Returns the outermost `node_modules` around an installed package; null if it is not installed. It contains the
 * package's dependencies, even if a package manager links them. If the package itself is a link, this is the folder
 * around its target, from which Node loads modules.
 */
export function packagesAround(name: string, importMetaUrl: string): string | null {
  const file = findPackage(name, importMetaUrl);
  if (file === undefined) return null;
  return packagesOf(realpathSync(dirname(file)));
}

/**
 * Returns the folders that a child must read to load an installed package by its name with `require`, which looks at a link
 * before it follows it: as `packagesAround`, and the same around the link. Empty if it is not installed.
 */
export function packagesOnTheWay(name: string, importMetaUrl: string): string[] {
  const file = findPackage(name, importMetaUrl);
  if (file === undefined) return [];
  const folder = dirname(file);
  return [...new Set([packagesOf(folder), packagesOf(realpathSync(folder))])];
}

/** Returns the outermost `node_modules` on a path; the path itself if there is none. */
function packagesOf(folder: string): string {
  const holder = `${sep}node_modules${sep}`;
  const start = folder.indexOf(holder);
  return start < 0 ? folder : folder.slice(0, start + holder.length - 1);
}

function findPackage(name: string, importMetaUrl: string): string | undefined {
  try {
    return findPackageJSON(name, importMetaUrl);
  } catch (error) {
    if (systemCode(error) === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Called in a child: opens the channel to its parent. */
export function openParentChannel(): ByteChannel {
  return byteChannel(new Socket({ fd: channelDescriptor, readable: true, writable: true }));
}

function channelOf(child: NodeChild): Socket {
  const stream = child.stdio[channelDescriptor];
  if (!(stream instanceof Socket)) throw new TypeError("The child has no channel.");
  return stream;
}

function byteChannel(socket: Socket): ByteChannel {
  const chunks = new Emitter<Uint8Array>();
  // Yields plain Uint8Arrays: a Buffer's `slice` shares memory, unlike that of other arrays.
  socket.on("data", (chunk: Uint8Array) =>
    chunks.emit(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
  );
  // "close" follows every error, and the owner handles that.
  socket.on("error", () => socket.destroy());
  socket.on("end", () => socket.destroy());
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  let isCorked = false;
  return {
    chunks,
    closed,
    get queuedBytes() {
      return socket.writableLength;
    },
    write(...parts) {
      if (socket.destroyed) return;
      if (!isCorked) {
        isCorked = true;
        socket.cork();
        // Writes together with everything else of this turn of the loop, because a system call costs more than its
        // content.
        setImmediate(() => {
          isCorked = false;
          socket.uncork();
        });
      }
      for (const part of parts) socket.write(part);
    },
    close: () => socket.destroy(),
  };
}

function emitLines(stream: NodeJS.ReadableStream, lines: Emitter<string>): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = (parts.pop() ?? "").slice(0, maxStderrLineLength);
    for (const line of parts) if (line !== "") lines.emit(line.slice(0, maxStderrLineLength));
  });
  stream.on("end", () => {
    if (rest !== "") lines.emit(rest);
  });
}
