import type { LogOutputChannel } from "vscode";
import type { LanguageClient, Middleware } from "vscode-languageclient/node";
import type { EditorModels } from "../editor/language-models.ts";
import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import type { ClientRequest, ParamsOf, ResultOf, ServerNotification } from "../protocol.ts";
import { KernelProcess, maxReasonLength } from "./kernel-process.ts";
import type { ClientParts } from "./language-client.ts";
import type { Launch } from "./launch.ts";

export type Client = Pick<LanguageClient, "start" | "dispose" | "sendRequest" | "onNotification">;

export interface AttemptOptions {
  /** `initializationOptions.lares`, read at each start. */
  sessionOptions(): object;
  /** Loads the language client while the process is already starting. */
  client(parts: ClientParts): Promise<Client>;
  readonly middleware: Middleware;
  readonly models: EditorModels;
  readonly log: LogOutputChannel;
}

const serverNotifications = [
  "lares/agents/changed",
  "lares/jobs/changed",
  "lares/actions/changed",
  "lares/asks/changed",
  "lares/traces/entry",
  "lares/conversations/entry",
  "lares/conversations/delta",
  "lares/conversations/changed",
  "lares/conversations/deleted",
  "lares/notify",
] as const satisfies ServerNotification[];

export const notRunning = "The kernel is not running. Start it with “Lares: Restart Kernel”.";
/** A process that does not shut down within this time is killed. */
const farewellMs = 2_000;
/**
 * A process that does not answer the first request within this time counts as broken, because it only has to be loaded.
 */
const firstAnswerMs = 60_000;

/** One process and its client, until it ends. */
export class Attempt {
  readonly #process: KernelProcess;
  readonly #client: Promise<Client>;
  readonly #end: (reason: string) => void;
  /** Resolves with the reason when the process ends unexpectedly. */
  readonly ended: Promise<string>;
  isOver = false;
  /** Set once the client was started; from then on it has to be stopped. */
  #started: Client | null = null;

  constructor(
    launch: Extract<Launch, { kind: "start" }>,
    { client, log, middleware, models, sessionOptions }: AttemptOptions,
    hear: (method: string, params: unknown) => void,
  ) {
    let resolve: (reason: string) => void = () => {};
    this.ended = new Promise((done) => {
      resolve = done;
    });
    this.#end = (reason) => {
      this.isOver = true;
      resolve(plainLine(reason).slice(0, maxReasonLength));
    };
    this.#process = new KernelProcess(launch, (line) => log.error(line));
    const loaded = client({
      streams: () => this.#process.streams(),
      closed: async () => this.#end(await this.#process.reason()),
      log,
      middleware,
      models,
      sessionOptions,
    });
    this.#client = loaded.then((made) => {
      for (const method of serverNotifications)
        made.onNotification(method, (params: unknown) => hear(method, params));
      return made;
    });
  }

  async start(): Promise<void> {
    const late = setTimeout(() => {
      this.#end(`It did not answer in ${firstAnswerMs / 1000} seconds.`);
      this.#process.kill();
    }, firstAnswerMs);
    try {
      const client = await this.#client;
      if (this.isOver) return;
      this.#started = client;
      await client.start();
    } catch (error) {
      this.#end(this.#process.lastLine || (error instanceof Error ? error.message : String(error)));
      // A client that never ran cannot end the process, because it only knows the pipes.
      this.#process.kill();
    } finally {
      clearTimeout(late);
    }
  }

  async request<Method extends ClientRequest>(
    method: Method,
    params: ParamsOf<Method>,
  ): Promise<ResultOf<Method>> {
    const client = await this.#client;
    // The library's own error would offer to start it.
    if (this.isOver) throw new Error(notRunning);
    return client.sendRequest<ResultOf<Method>>(method, params);
  }

  async stop(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    try {
      if (this.#started === null) this.#process.kill();
      else await this.#started.dispose(farewellMs);
    } catch {
      // The process is still starting, or does not answer. It has no state of its own: the kernel keeps everything.
      this.#process.kill();
    }
  }
}
