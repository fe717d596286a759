import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { createMessageConnection, ResponseError, type MessageConnection } from "vscode-jsonrpc";
import { Emitter } from "../base/emitter.ts";
import { LaresError, messageOf } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import { fromWireError } from "../protocol/errors.ts";
import { kernelFrameLimits } from "../protocol/framing/limits.ts";
import { createGuardedReader } from "../protocol/framing/message-reader.ts";
import { createGuardedWriter } from "../protocol/framing/message-writer.ts";
import type { ByteSink, ByteSource } from "../protocol/framing/streams.ts";
import type { ConnectOptions, KernelConnection } from "./ports.ts";

/** A front has this long to leave after it was told to. */
const farewellMs = 3000;
/** Kept of what a front says on standard error, for when it fails. */
const maxLogCharacters = 4000;

/**
 * Opens a session through a front process (`lares serve --stdio`), which joins the workspace's kernel, starts it where
 * none runs, and goes on with the next one when it dies.
 */
export async function connectThroughFront(
  command: string,
  args: readonly string[],
  options: ConnectOptions,
): Promise<KernelConnection> {
  // Its own process group: Ctrl-C is for this process, which then says goodbye properly.
  const front = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
  });
  let log = "";
  front.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-maxLogCharacters);
  });
  const exited = new Promise<{ reason: string }>((resolve) => {
    front.once("error", (error) => resolve({ reason: `it could not be started: ${error.message}` }));
    front.once("close", (code, signal) => {
      const how = signal === null ? `it ended with ${code ?? "no code"}` : `it was ended by ${signal}`;
      resolve({ reason: log.trim() === "" ? how : `${how}\n${log.trim()}` });
    });
  });
  const leave = async (): Promise<void> => {
    if (front.exitCode !== null || front.signalCode !== null) return;
    const timer = setTimeout(() => front.kill("SIGKILL"), farewellMs);
    await exited;
    clearTimeout(timer);
  };
  return openSession({ input: front.stdout, output: front.stdin, exited, leave }, options);
}

export interface SessionStreams {
  readonly input: ByteSource;
  readonly output: ByteSink;
  /** Resolves when the other side is gone. */
  readonly exited: Promise<{ readonly reason: string }>;
  /** Waits for the other side to leave after `exit`. */
  leave(): Promise<void>;
}

/** Says hello over two streams; throws LaresError when the other side ends or refuses before it has answered. */
export async function openSession(
  streams: SessionStreams,
  options: ConnectOptions,
): Promise<KernelConnection> {
  const notifications = new Emitter<{ method: string; params: unknown }>();
  const connection = createMessageConnection(
    createGuardedReader(streams.input, { refused: () => {}, log: silentLog, limits: kernelFrameLimits }),
    createGuardedWriter(streams.output, { log: silentLog }),
  );
  connection.onNotification((method, params) => notifications.emit({ method, params }));
  connection.onRequest((method) => new ResponseError(-32601, `The command line does not answer ${method}.`));
  connection.listen();
  const gone = streams.exited.then(({ reason }) => {
    throw new LaresError("StorageError", `The kernel cannot be reached: ${reason}`);
  });
  // Only whoever is in a request hears of it; the others ask `closed`.
  gone.catch(() => undefined);
  const request = async (method: string, params?: object): Promise<unknown> => {
    try {
      return await Promise.race([connection.sendRequest<unknown>(method, params), gone]);
    } catch (error) {
      if (error instanceof ResponseError)
        throw fromWireError({ code: error.code, message: error.message, data: error.data });
      throw error;
    }
  };
  let isDisposed = false;
  const dispose = async (): Promise<void> => {
    if (isDisposed) return;
    isDisposed = true;
    await sayGoodbye(connection, request);
    await streams.leave();
    connection.dispose();
  };
  try {
    await request("initialize", initializeParams(options));
    await connection.sendNotification("initialized", {});
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    request,
    onNotification: (listener) => notifications.on(({ method, params }) => listener(method, params)),
    closed: streams.exited,
    [Symbol.asyncDispose]: dispose,
  };
}

function initializeParams({ folder, trusted }: ConnectOptions): object {
  return {
    processId: process.pid,
    clientInfo: { name: "lares" },
    rootUri: pathToFileURL(folder).href,
    capabilities: {},
    initializationOptions: {
      lares: { approvals: "client", ...(trusted === undefined ? {} : { trusted }) },
    },
  };
}

async function sayGoodbye(
  connection: MessageConnection,
  request: (method: string) => Promise<unknown>,
): Promise<void> {
  const answered = new AbortController();
  try {
    await Promise.race([request("shutdown"), pause(farewellMs, undefined, { signal: answered.signal })]);
    await connection.sendNotification("exit");
  } catch (error) {
    // Gone already is what was to be reached.
    silentLog.debug("The farewell was not heard.", { reason: messageOf(error) });
  } finally {
    answered.abort();
    connection.end();
  }
}
