import { spawn, type ChildProcess as NodeChild } from "node:child_process";
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import { createRequire, findPackageJSON } from "node:module";
import { dirname, join, parse, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Emitter } from "../../base/emitter.ts";

/** Where parent and child talk: a pipe of its own, so that nothing that prints can disturb it. */
const channelDescriptor = 3;

/** An editor's executable (Electron) is a Node only where its environment says so; otherwise it opens a window. */
const asNode: Readonly<Record<string, string>> =
  process.versions["electron"] === undefined ? {} : { ELECTRON_RUN_AS_NODE: "1" };

/** A line of a child's stderr is cut here. */
const maxStderrLineLength = 8192;

/** A stream of bytes in both directions, with back-pressure in both. */
interface ByteChannel {
  readonly chunks: Emitter<Uint8Array>;
  /** The other side is gone, or this one closed. */
  readonly closed: Promise<void>;
  /** Sends the parts in order; what is sent in one turn of the loop leaves together. */
  write(...parts: readonly Uint8Array[]): void;
  /** Bytes that wait to be taken by the other side. */
  readonly queuedBytes: number;
  close(): void;
}

export interface ChildProcessOptions {
  /** The module the child runs. */
  readonly entry: URL;
  /** Folders and files it may read; it starts no process. */
  readonly readable: readonly (string | URL)[];
  /** Folders and files it may write; default none. */
  readonly writable?: readonly string[];
  /** Whether it may load native code, which these permissions do not bind. Default false. */
  readonly nativeCode?: boolean;
  /** Whether it may start worker threads. */
  readonly workers: boolean;
  /** What its own JavaScript may take; at the limit it ends. Absent: what Node gives. */
  readonly maxHeapMb?: number;
  readonly arguments?: readonly string[];
  /** Its environment; default none. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface ChildProcess extends AsyncDisposable {
  readonly pid: number;
  readonly channel: ByteChannel;
  /** What it prints, line by line; stdout too, for a child has nothing to say there. */
  readonly output: Emitter<string>;
  /** Resolves with a sentence's end: "ended by SIGKILL", "ended with exit code 1". */
  readonly exited: Promise<string>;
  /** Ends it at once; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts a Node process that has and may do only what the options name. */
export async function startChildProcess(options: ChildProcessOptions): Promise<ChildProcess> {
  const flags = [
    "--permission",
    ...(options.workers ? ["--allow-worker"] : []),
    ...(options.nativeCode === true ? ["--allow-addons"] : []),
    ...(options.maxHeapMb === undefined ? [] : [`--max-old-space-size=${options.maxHeapMb}`]),
    ...options.readable.map((path) => `--allow-fs-read=${path instanceof URL ? fileURLToPath(path) : path}`),
    ...(options.writable ?? []).map((path) => `--allow-fs-write=${path}`),
    // Node warns that workers and native code could widen their own permissions; the children's code is ours.
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

/** Where an installed package's module lies, and the package's folder: for what a child must read. */
export function locateModule(
  specifier: string,
  importMetaUrl: string,
): { readonly url: string; readonly folder: string } {
  const path = createRequire(importMetaUrl).resolve(specifier);
  let folder = dirname(path);
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return { url: pathToFileURL(path).href, folder };
}

/**
 * The outermost `node_modules` in which an installed package lies; null where it is not installed. It has what the
 * package itself depends on, also where a package manager works with links, which lead through the whole of it.
 */
export function packagesAround(name: string, importMetaUrl: string): string | null {
  const file = findPackage(name, importMetaUrl);
  if (file === undefined) return null;
  const folder = dirname(file);
  const holder = `${sep}node_modules${sep}`;
  const start = folder.indexOf(holder);
  return start < 0 ? folder : folder.slice(0, start + holder.length - 1);
}

function findPackage(name: string, importMetaUrl: string): string | undefined {
  try {
    return findPackageJSON(name, importMetaUrl);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

/** In a child: the way to its parent. */
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
  // A plain Uint8Array, because a Buffer's `slice` shares memory where every other array's copies.
  socket.on("data", (chunk: Uint8Array) =>
    chunks.emit(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
  );
  // An error is always followed by "close", which is what the owner acts on.
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
        // With everything else that this turn of the loop brings: a system call costs more than what it carries.
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
