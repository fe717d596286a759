import {
  redirectConsole,
  stderrLog,
  takeStdio,
  connectToPipe,
  type ByteStreams,
} from "../platform/processes/stdio.ts";
import { initializeResult } from "../protocol/v1/capabilities.ts";
import { FrameReader } from "../protocol/framing/frame-reader.ts";
import { type Delivery, FrameWriter } from "../protocol/framing/frame-writer.ts";
import { clientFrameLimits } from "../protocol/framing/limits.ts";
import type { RpcMessage } from "../protocol/messages.ts";
import { SessionLifecycle } from "./session-lifecycle.ts";
import type { FrontOptions } from "./options.ts";
import type { Outgoing } from "./relay.ts";
import type { WorkspaceConnection } from "./workspace-connection.ts";

// `initialize` is answered from this file and its imports, so nothing that loads slowly may be imported here.

/** Milliseconds that the front, when it ends, gives the client to read the remaining output. */
const farewellMs = 1_000;

/**
 * Serves one client until it disconnects. Resolves with the exit code that the caller ends the process with: 0 after
 * `shutdown` and `exit`, else 1.
 */
export async function runFront(options: FrontOptions): Promise<number> {
  redirectConsole();
  let streams: ByteStreams;
  try {
    streams = options.channel.kind === "stdio" ? takeStdio() : await connectToPipe(options.channel.name);
  } catch (error) {
    stderrLog.error(
      `the client's pipe cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    );
    return 1;
  }
  return new Front(streams, options).run();
}

class Front {
  readonly #options: FrontOptions;
  readonly #source: ByteStreams["source"];
  readonly #writer: FrameWriter;
  readonly #reader: FrameReader;
  readonly #ended = Promise.withResolvers<number>();
  /** Null until `initialize` is received, then a promise until the module is loaded. */
  #connection: WorkspaceConnection | null = null;
  /** Messages that arrived while the module was loading. */
  #waiting: [RpcMessage, Uint8Array][] = [];
  #isEnded = false;

  constructor({ source, sink }: ByteStreams, options: FrontOptions) {
    this.#options = options;
    this.#source = source;
    this.#writer = new FrameWriter(sink, {
      drained: () => this.#connection?.pauseKernel(false),
      closed: (reason) => this.#end(1, reason),
    });
    const lifecycle = new SessionLifecycle({
      initializeResult: (params) => initializeResult(options.version, params),
      answer: (message) => this.#toClient(message),
      initialized: (params) => {
        this.#load(params).catch((error: unknown) =>
          this.#end(1, error instanceof Error ? error.message : String(error)),
        );
      },
      pass: (message, body) => {
        if (this.#connection) this.#connection.fromClient(message, body);
        else this.#waiting.push([message, body]);
      },
      exit: (code) => this.#end(code, null),
    });
    this.#reader = new FrameReader(
      source,
      {
        message: (message, body) => lifecycle.message(message, body),
        refused: ({ code, message, id }) => this.#toClient({ jsonrpc: "2.0", id, error: { code, message } }),
        closed: (reason) => this.#end(1, reason ?? "The client closed its side."),
      },
      clientFrameLimits,
    );
  }

  run(): Promise<number> {
    if (this.#options.clientProcessId !== undefined) this.#watch(this.#options.clientProcessId, true);
    return this.#ended.promise;
  }

  async #load(initializeParams: unknown): Promise<void> {
    this.#reader.pause();
    // Loading blocks the event loop, so it starts only after the answer was sent.
    await new Promise((resolve) => setImmediate(resolve));
    this.#options.answered?.();
    const { openWorkspaceConnection } = await import("./workspace-connection.ts");
    if (this.#isEnded) return;
    this.#connection = await openWorkspaceConnection(initializeParams, this.#options, {
      toClient: (message, delivery) => this.#toClient(message, delivery),
      pauseClient: (isPaused) => (isPaused ? this.#reader.pause() : this.#reader.resume()),
    });
    for (const [message, body] of this.#waiting.splice(0)) this.#connection.fromClient(message, body);
    this.#reader.resume();
    const clientProcessId = this.#connection.clientProcessId;
    if (clientProcessId !== null && this.#options.clientProcessId === undefined)
      this.#watch(clientProcessId, false);
    if (this.#isEnded) this.#connection[Symbol.dispose]();
  }

  #toClient(message: Outgoing, delivery: Delivery = "must arrive"): void {
    const body = message instanceof Uint8Array ? message : JSON.stringify(message);
    this.#writer.write(body, delivery);
    if (this.#writer.isFull) this.#connection?.pauseKernel(true);
  }

  #watch(pid: number, mustExist: boolean): void {
    // Set here because the first answer does not need it.
    import("./parent-watch.ts")
      .then(({ watchProcess }) =>
        watchProcess(pid, mustExist, () => this.#end(1, `The client's process ${pid} is gone.`)),
      )
      .catch((error: unknown) => this.#end(1, String(error)));
  }

  #end(code: number, reason: string | null): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (reason !== null) stderrLog.error(reason);
    this.#reader[Symbol.dispose]();
    this.#connection?.[Symbol.dispose]();
    const finish = (): void => {
      this.#source.destroy();
      this.#ended.resolve(code);
    };
    setTimeout(finish, farewellMs).unref();
    this.#writer.end(finish);
  }
}
