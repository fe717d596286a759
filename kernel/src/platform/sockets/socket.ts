import { randomBytes, timingSafeEqual } from "node:crypto";
import { chmod, lstat, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { messageOf, storageError, systemCode } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { writeFileAtomically } from "../files/atomic-file.ts";
import { failpoint } from "../failpoint.ts";
import { readPlainText, setAside, UnusableFile } from "../files/plain-file.ts";
import { chooseSocketPath, recordedSocketPath, removeMadeFolder, type SocketRoots } from "./socket-place.ts";
import { storageFailure } from "../files/storage-failure.ts";

/** The greeting's own version. After it, both sides speak the protocol's frames. */
const greetingVersion = "lares/1";
/** Longest line of a greeting, in bytes. */
const maxGreetingBytes = 256;
/** The time after which a peer without a greeting is disconnected. */
const greetingTimeoutMs = 10_000;

/** A connected stream: a Unix domain socket, or a named pipe on Windows. */
export type LocalSocket = Socket;

export type KernelPhase = "starting" | "open" | "closing";

interface LocalServerOptions {
  readonly stateFolder: string;
  /** For a socket whose path is too long for the state folder. Default: the folders of the process's environment. */
  readonly socketRoots?: SocketRoots;
  readonly log: Log;
  /** Receives a client that proved itself. Its stream is paused; add a listener and call `resume()`. */
  readonly accept: (socket: LocalSocket) => void;
  /** A new client of a starting kernel is told to wait, and one of a closing kernel to start the next. */
  readonly phase: () => KernelPhase;
}

/** Disposing it stops listening and removes the socket; accepted connections stay. */
interface LocalServer extends AsyncDisposable {
  readonly path: string;
}

/**
 * Listens for clients of this user. Only the holder of the state folder's lock may call it, because it removes the
 * socket of a dead kernel. A client proves with the token in its greeting that it can read the state folder.
 */
export async function listenLocal(options: LocalServerOptions): Promise<LocalServer> {
  const { stateFolder } = options;
  const socketPath = await chooseSocketPath(stateFolder, options.socketRoots);
  const token = randomBytes(32).toString("hex");
  await writeToken(tokenPath(stateFolder), token);
  failpoint("socket.token-written");
  const isFile = process.platform !== "win32";
  if (isFile) await rm(socketPath, { force: true });
  failpoint("socket.cleared");
  const server = createServer({ pauseOnConnect: false }, (socket) => {
    greet(socket, token, options).catch((error: unknown) => {
      options.log.debug(`A connection was refused: ${messageOf(error)}`);
      socket.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(storageError(`The kernel cannot listen on "${socketPath}": ${messageOf(error)}`, error)),
    );
    server.listen(socketPath, resolve);
  });
  server.on("error", (error) => options.log.error(`The socket failed: ${messageOf(error)}`));
  failpoint("socket.listening");
  if (isFile) await chmod(socketPath, 0o600);
  failpoint("socket.ready");
  return { path: socketPath, [Symbol.asyncDispose]: () => stop(server, socketPath) };
}

async function stop(server: Server, socketPath: string): Promise<void> {
  // Not awaited, because it completes only with the last connection. The socket's file is removed at once.
  server.close();
  await removeMadeFolder(socketPath);
}

async function greet(socket: LocalSocket, token: string, options: LocalServerOptions): Promise<void> {
  const onError = (error: Error): void => options.log.debug(`A connection failed: ${messageOf(error)}`);
  socket.on("error", onError);
  const line = await readLine(socket);
  const given = Buffer.from(line);
  const expected = Buffer.from(`${greetingVersion} ${token}`);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    dismiss(socket, "refused");
    return;
  }
  const phase = options.phase();
  if (phase !== "open") {
    dismiss(socket, phase);
    return;
  }
  socket.write(`${greetingVersion} ok ${process.pid}\n`);
  options.accept(socket);
}

/** Sends the reason and disconnects, even a peer that keeps its own side open, so that it holds no resources. */
function dismiss(socket: LocalSocket, answer: string): void {
  socket.write(`${greetingVersion} ${answer}\n`);
  socket.destroySoon();
}

type ConnectOutcome =
  | { readonly kind: "connected"; readonly socket: LocalSocket; readonly kernelPid: number }
  /** Nothing is listening. */
  | { readonly kind: "absent" }
  /** A kernel is alive and not yet ready for clients. */
  | { readonly kind: "starting" }
  /** A kernel is shutting down; the next one may be started when it has ended. */
  | { readonly kind: "closing" };

/**
 * Connects to a kernel. Throws StorageError if the socket belongs to another user, or if the listener does not know
 * the token or does not answer.
 */
export async function connectLocal(stateFolder: string): Promise<ConnectOutcome> {
  const token = await readToken(stateFolder);
  const socketPath = await recordedSocketPath(stateFolder);
  if (token === null || socketPath === null || !(await isOwnSocket(socketPath))) return { kind: "absent" };
  const socket = await open(socketPath);
  if (!socket) return { kind: "absent" };
  try {
    socket.write(`${greetingVersion} ${token}\n`);
    const [version, answer, pid] = (await readLine(socket)).split(" ");
    if (version === greetingVersion && answer === "ok")
      return { kind: "connected", socket, kernelPid: Number(pid) };
    socket.destroy();
    if (version === greetingVersion && (answer === "starting" || answer === "closing"))
      return { kind: answer };
  } catch (error) {
    socket.destroy();
    // A kernel that ended during the greeting counts as closing.
    if (error instanceof ConnectionEnded) return { kind: "closing" };
    throw error;
  }
  // A kernel that has just started may have replaced the token; the next attempt then reads the new one.
  if ((await readToken(stateFolder)) !== token) return { kind: "closing" };
  throw storageError(
    `The process that listens on "${socketPath}" does not know the token in "${tokenPath(stateFolder)}": it is not this workspace's kernel, or the token was changed. End it, or wait until it ends.`,
  );
}

function tokenPath(stateFolder: string): string {
  return join(stateFolder, "kernel.token");
}

async function writeToken(path: string, token: string): Promise<void> {
  try {
    // Writing the token replaces anything else with this name, except a folder.
    if ((await lstat(path).catch(missingIsNull))?.isDirectory()) await setAside(path, Date.now());
    await writeFileAtomically(path, new TextEncoder().encode(token), { mode: 0o600 });
  } catch (error) {
    throw storageFailure(`The kernel's token "${path}" cannot be written`, error);
  }
}

function missingIsNull(error: unknown): null {
  if (hasCode(error, ["ENOENT"])) return null;
  throw error;
}

async function readToken(stateFolder: string): Promise<string | null> {
  try {
    return await readPlainText(tokenPath(stateFolder), maxGreetingBytes);
  } catch (error) {
    // No kernel wrote that; the next one replaces it.
    if (error instanceof UnusableFile) return null;
    throw error;
  }
}

async function isOwnSocket(path: string): Promise<boolean> {
  if (process.platform === "win32") return true;
  try {
    const found = await lstat(path);
    const user = process.getuid?.();
    if (!found.isSocket() || (user !== undefined && found.uid !== user))
      throw storageError(
        `"${path}" is not a socket of yours; it is not used. Remove it, or set LARES_HOME to another folder.`,
      );
    return true;
  } catch (error) {
    if (hasCode(error, ["ENOENT"])) return false;
    throw error;
  }
}

function open(path: string): Promise<LocalSocket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.removeListener("error", onError);
      resolve(socket);
    });
    const onError = (error: Error): void => {
      if (hasCode(error, ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE"])) resolve(null);
      else reject(storageError(`The kernel's socket "${path}" cannot be used: ${messageOf(error)}`, error));
    };
    socket.once("error", onError);
  });
}

class ConnectionEnded extends Error {}

/** Reads the first line and leaves the rest unread; the stream is paused afterwards. */
function readLine(socket: LocalSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const timer = setTimeout(
      () =>
        finish(
          storageError("The other side of the kernel's socket does not answer. If it hangs: lares stop."),
        ),
      greetingTimeoutMs,
    );
    const onEnd = (): void => finish(new ConnectionEnded("The connection ended while greeting."));
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf(0x0a);
      if (end !== -1) {
        socket.pause();
        finish(null);
        if (end + 1 < received.length) socket.unshift(received.subarray(end + 1));
        resolve(received.subarray(0, end).toString("latin1"));
      } else if (received.length > maxGreetingBytes)
        finish(storageError("The other side's greeting is too long."));
    };
    const finish = (error: Error | null): void => {
      clearTimeout(timer);
      socket.off("data", onData).off("end", onEnd).off("close", onEnd).off("error", onEnd);
      if (error) reject(error);
    };
    socket.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", onEnd);
  });
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes(systemCode(error));
}
