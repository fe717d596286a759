import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { EventEmitter, window, type Disposable, type LogOutputChannel } from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
} from "vscode-languageclient/node";
import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import type {
  ClientRequest,
  NotificationParamsOf,
  ParamsOf,
  ResultOf,
  ServerNotification,
} from "../protocol.ts";
import type { Launch } from "./launch.ts";
import { Restarts } from "./restarts.ts";
import { Succession } from "./succession.ts";

/** How the process is that this client speaks to. */
export type ConnectionState =
  | { readonly kind: "starting" }
  | { readonly kind: "up" }
  | { readonly kind: "restarting"; readonly inMs: number; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

export interface ConnectionOptions {
  /** Asked at each start: settings may have changed. */
  launch(): Launch;
  /** `initializationOptions.lares`, asked at each start. */
  sessionOptions(): object;
  readonly middleware: Middleware;
  readonly log: LogOutputChannel;
  /** A clock that only goes forward, in milliseconds. */
  monotonic(): number;
}

const serverNotifications = [
  "lares/agents/changed",
  "lares/jobs/changed",
  "lares/actions/changed",
  "lares/traces/entry",
  "lares/notify",
] as const satisfies ServerNotification[];

/** Of the last line a kernel wrote before it ended, as the reason it is given. */
const maxReasonLength = 300;
/** A process that closed its pipes has so long to be gone. */
const exitMs = 500;
/** A process that does not say goodbye in this time is ended. */
const farewellMs = 2_000;
/** One that does not answer the first request in this time is taken for broken: it needs nothing but to be loaded. */
const firstAnswerMs = 60_000;

/** One process after another, with a language client on each; what listens stays across them. */
export class Connection implements Disposable {
  readonly #options: ConnectionOptions;
  readonly #restarts = new Restarts();
  /** Two clients at once would both want to register the same commands. */
  readonly #succession = new Succession(() => this.#start());
  readonly #listeners = new Map<string, Set<(params: never) => void>>();
  readonly #stateChanged = new EventEmitter<ConnectionState>();
  readonly onDidChangeState = this.#stateChanged.event;
  #state: ConnectionState = { kind: "starting" };
  #attempt: Attempt | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isDisposed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /**
   * Ends what runs and starts anew; what went wrong before does not count. `between` is done while nothing runs; where
   * it fails the next is started all the same, and then it is told.
   */
  async restart(between: () => Promise<void> = async () => {}): Promise<void> {
    this.#restarts.reset();
    const stopped = this.#stop();
    this.#change({ kind: "starting" });
    const done = stopped.then(between);
    await this.#succession.renew(done.catch(() => undefined));
    await done;
  }

  request<Method extends ClientRequest>(method: Method, params: ParamsOf<Method>): Promise<ResultOf<Method>> {
    const client = this.#attempt?.client;
    if (client === undefined || this.#state.kind === "failed" || this.#state.kind === "restarting")
      return Promise.reject(new Error("The kernel is not running. Start it with “Lares: Restart Kernel”."));
    return client.sendRequest<ResultOf<Method>>(method, params);
  }

  on<Method extends ServerNotification>(
    method: Method,
    listener: (params: NotificationParamsOf<Method>) => void,
  ): Disposable {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners);
    listeners.add(listener);
    return { dispose: () => listeners.delete(listener) };
  }

  dispose(): void {
    void this.close();
  }

  /** Resolves once the process was told, so that VS Code can wait for it. */
  async close(): Promise<void> {
    this.#isDisposed = true;
    await this.#stop();
    this.#stateChanged.dispose();
  }

  #start(): void {
    if (this.#isDisposed) return;
    const launch = this.#options.launch();
    if (launch.kind === "refused") {
      this.#change({ kind: "failed", reason: launch.reason });
      return;
    }
    this.#change({ kind: "starting" });
    const attempt = new Attempt(launch, this.#options, (method, params) => this.#hear(method, params));
    this.#attempt = attempt;
    attempt.ended.then((reason) => this.#ended(attempt, reason)).catch(this.#report);
    attempt
      .start()
      .then(() => {
        if (this.#attempt === attempt && !attempt.isOver) this.#change({ kind: "up" });
      })
      .catch(this.#report);
  }

  readonly #report = (error: unknown): void => {
    this.#options.log.error(error instanceof Error ? error : String(error));
  };

  async #stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const attempt = this.#attempt;
    this.#attempt = null;
    await attempt?.stop();
  }

  #ended(attempt: Attempt, reason: string): void {
    if (this.#attempt !== attempt) return;
    this.#attempt = null;
    const decision = this.#restarts.ended(this.#options.monotonic());
    this.#options.log.error(`The kernel ended: ${reason}`);
    if (decision.kind === "giveUp") {
      this.#change({ kind: "failed", reason });
      return;
    }
    this.#change({ kind: "restarting", inMs: decision.inMs, reason });
    this.#timer = setTimeout(() => this.#start(), decision.inMs);
  }

  #hear(method: string, params: unknown): void {
    for (const listener of this.#listeners.get(method) ?? []) {
      try {
        listener(params as never);
      } catch (error) {
        // One view's fault must not keep the others from hearing.
        this.#report(error);
      }
    }
  }

  #change(state: ConnectionState): void {
    this.#state = state;
    if (!this.#isDisposed) this.#stateChanged.fire(state);
  }
}

/** What the library would show as a toast of its own is in the log; the views say what a person needs. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override warn(message: string, data?: unknown): void {
    super.warn(message, data, false);
  }
}

/** One process and its client, until it ends. */
class Attempt {
  readonly client: LanguageClient;
  readonly #launch: Extract<Launch, { kind: "start" }>;
  readonly #end: (reason: string) => void;
  /** Resolves with the reason when it ends without having been asked to. */
  readonly ended: Promise<string>;
  isOver = false;
  #child: ChildProcess | null = null;
  #lastLine = "";

  constructor(
    launch: Extract<Launch, { kind: "start" }>,
    options: ConnectionOptions,
    hear: (method: string, params: unknown) => void,
  ) {
    this.#launch = launch;
    let resolve: (reason: string) => void = () => {};
    this.ended = new Promise((done) => {
      resolve = done;
    });
    this.#end = (reason) => {
      this.isOver = true;
      resolve(plainLine(reason).slice(0, maxReasonLength));
    };
    this.client = new QuietClient("lares", "Lares", () => this.#spawn(), this.#clientOptions(options));
    for (const method of serverNotifications)
      this.client.onNotification(method, (params: unknown) => hear(method, params));
  }

  async start(): Promise<void> {
    const late = setTimeout(() => {
      this.#end(`It did not answer in ${firstAnswerMs / 1000} seconds.`);
      this.#child?.kill("SIGKILL");
    }, firstAnswerMs);
    try {
      await this.client.start();
    } catch (error) {
      this.#end(this.#lastLine || (error instanceof Error ? error.message : String(error)));
    } finally {
      clearTimeout(late);
    }
  }

  async stop(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    try {
      await this.client.dispose(farewellMs);
    } catch {
      // It is still starting, or does not answer. It keeps nothing: what is to be kept, the kernel has.
      this.#child?.kill("SIGKILL");
    }
  }

  #clientOptions({ log, middleware, sessionOptions }: ConnectionOptions): LanguageClientOptions {
    return {
      // Every file: the kernel must know which have unsaved changes, so that it writes beneath no open editor.
      documentSelector: [{ scheme: "file" }],
      diagnosticCollectionName: "lares",
      outputChannel: log,
      initializationOptions: () => ({ lares: sessionOptions() }),
      initializationFailedHandler: () => false,
      errorHandler: {
        // What follows a broken pipe is its end.
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: async () => {
          this.#end(await this.#reason());
          return { action: CloseAction.DoNotRestart, handled: true, message: "The connection is closed." };
        },
      },
      middleware,
      markdown: { isTrusted: false, supportHtml: false },
    };
  }

  /** Why it ended: by a signal, or with the last thing that it said. */
  async #reason(): Promise<string> {
    const child = this.#child;
    if (child !== null && child.exitCode === null && child.signalCode === null)
      await Promise.race([once(child, "exit"), delay(exitMs)]);
    if (child?.signalCode) return `Its process was ended by ${child.signalCode}.`;
    const how =
      child?.exitCode === null || child === null ? "It closed its side" : `Exit code ${child.exitCode}`;
    return this.#lastLine === "" ? `${how}.` : `${how}. ${this.#lastLine}`;
  }

  #spawn(): Promise<ChildProcess> {
    const { command, args, env } = this.#launch;
    const child = spawn(command, args, { env, stdio: "pipe", windowsHide: true });
    this.#child = child;
    child.stderr.on("data", (chunk: Buffer) => {
      const line = chunk.toString("utf8").trim().split("\n").at(-1);
      if (line) this.#lastLine = line.slice(0, maxReasonLength);
    });
    // A front that is gone while something is written to it tells so by its end.
    child.stdin.on("error", () => undefined);
    return new Promise((resolve, reject) => {
      child.once("spawn", () => resolve(child));
      child.once("error", reject);
    });
  }
}

/** The channel of the kernel and of this client: “Lares” in the list of outputs. */
export function openLog(): LogOutputChannel {
  return window.createOutputChannel("Lares", { log: true });
}
