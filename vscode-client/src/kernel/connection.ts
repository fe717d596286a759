import { EventEmitter, window, type Disposable, type LogOutputChannel } from "vscode";
import type {
  ClientRequest,
  NotificationParamsOf,
  ParamsOf,
  ResultOf,
  ServerNotification,
} from "../protocol.ts";
import { Attempt, notRunning, type AttemptOptions } from "./attempt.ts";
import type { Launch } from "./launch.ts";
import { Restarts } from "./restarts.ts";
import { Succession } from "./succession.ts";

/** The state of the process that this client talks to. */
export type ConnectionState =
  | { readonly kind: "starting" }
  | { readonly kind: "up" }
  | { readonly kind: "restarting"; readonly inMs: number; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

interface ConnectionOptions extends AttemptOptions {
  /** Called at each start, because settings may have changed. */
  launch(): Launch;
  /** A monotonic clock, in milliseconds. */
  monotonic(): number;
}

/** Runs one process after another, with a language client for each. Listeners stay registered across restarts. */
export class Connection implements Disposable {
  readonly #options: ConnectionOptions;
  readonly #restarts = new Restarts();
  /** Two concurrent clients would both register the same commands. */
  readonly #succession = new Succession(() => this.start());
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

  /** Starts a process synchronously; none may be running. */
  start(): void {
    if (this.#isDisposed) return;
    const launch = this.#options.launch();
    if (launch.kind === "refused") {
      this.#change({ kind: "failed", reason: launch.reason });
      return;
    }
    this.#change({ kind: "starting" });
    let attempt: Attempt;
    try {
      attempt = new Attempt(launch, this.#options, (method, params) => this.#hear(method, params));
    } catch (error) {
      // Node reports most failures to start by an event, but throws for a few.
      this.#report(error);
      this.#change({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
      return;
    }
    this.#attempt = attempt;
    attempt.ended.then((reason) => this.#ended(attempt, reason)).catch(this.#report);
    attempt
      .start()
      .then(() => {
        if (this.#attempt === attempt && !attempt.isOver) this.#change({ kind: "up" });
      })
      .catch(this.#report);
  }

  /**
   * Ends the running process and starts a new one; earlier failures no longer count. `between` runs while no process
   * does; if it fails, the next process is started all the same, and the error is rethrown.
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
    const attempt = this.#attempt;
    if (attempt === null || this.#state.kind === "failed" || this.#state.kind === "restarting")
      return Promise.reject(new Error(notRunning));
    return attempt.request(method, params);
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

  /** Resolves once the process was told to stop, so that VS Code can wait for it. */
  async close(): Promise<void> {
    this.#isDisposed = true;
    await this.#stop();
    this.#stateChanged.dispose();
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
    this.#timer = setTimeout(() => this.start(), decision.inMs);
  }

  #hear(method: string, params: unknown): void {
    for (const listener of this.#listeners.get(method) ?? []) {
      try {
        listener(params as never);
      } catch (error) {
        // An error in one view must not affect the others.
        this.#report(error);
      }
    }
  }

  #change(state: ConnectionState): void {
    this.#state = state;
    if (!this.#isDisposed) this.#stateChanged.fire(state);
  }
}

/** Opens the log of the kernel and of this client: “Lares” in the list of outputs. */
export function openLog(): LogOutputChannel {
  return window.createOutputChannel("Lares", { log: true });
}
