import type { LaresError } from "../../base/errors.ts";
import { processCpuMs } from "../processes/process-cpu.ts";

/** Processes requests, one at a time: a child process or a thread. */
export interface Carrier<Request> {
  send(request: Request): void;
  /** Its CPU time, as far as known without asking it. Milliseconds; null if the system does not report it. */
  readonly knownCpuMs: number | null;
  /** Asks for the CPU time; may take long while the carrier is busy. */
  cpuMs(): Promise<number | null>;
  /** Terminates the carrier at any time. */
  end(): Promise<void>;
}

/** Returns a child process as a carrier. */
export function processCarrier<Request>(
  child: { readonly pid: number; kill(): Promise<void> },
  send: (request: Request) => void,
): Carrier<Request> {
  return {
    send,
    get knownCpuMs() {
      return processCpuMs(child.pid);
    },
    cpuMs: async () => processCpuMs(child.pid),
    end: () => child.kill(),
  };
}

export interface CarrierEvents<Reply> {
  /** The reply to the current request. */
  replied(reply: Reply): void;
  /** The carrier has ended or must not be used any more; the current request is rejected with this error. */
  ended(why: LaresError): void;
}

export interface Deadline {
  /** CPU time, so that a busy machine causes no overruns. Where the system does not report it, elapsed time counts. */
  readonly maxCpuMs: number;
  /** For a request that blocks without computing. */
  readonly maxWallMs: number;
  /** Returns the delay until the next check of a request with this much CPU time left. Milliseconds. */
  lookAfterMs(leftMs: number): number;
  overrun(limit: "cpu" | "wall"): LaresError;
}

interface DeadlineRunnerOptions<Request, Reply> {
  /** Resolves when it accepts requests. */
  start(events: CarrierEvents<Reply>): Promise<Carrier<Request>>;
  /** Returns the error with which requests are rejected after the runner was closed. */
  closed(): LaresError;
}

/**
 * Runs requests that may never end: one at a time, in order, each with a deadline. An overrun terminates the
 * carrier, and the next request starts another. The first request starts the first carrier.
 */
export class DeadlineRunner<Request, Reply> implements AsyncDisposable {
  readonly #options: DeadlineRunnerOptions<Request, Reply>;
  #carrier: Promise<Carrier<Request>> | null = null;
  #reply: PromiseWithResolvers<Reply> | null = null;
  /** Resolves when all earlier requests have ended, successfully or not. */
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: DeadlineRunnerOptions<Request, Reply>) {
    this.#options = options;
  }

  /**
   * `deadline` is called when the request's turn has come, and may refuse it. `spent` receives the CPU time of the
   * request, even if it failed. The caller bounds how many requests wait.
   */
  run(
    request: Request,
    deadline: () => Deadline,
    spent: (cpuMs: number) => void = () => undefined,
  ): Promise<Reply> {
    const reply = this.#turn.then(() => this.#ask(request, deadline, spent));
    this.#turn = reply.catch(() => undefined);
    return reply;
  }

  /** Ends the carrier after the requests that wait. The next request starts another. */
  async rest(): Promise<void> {
    await (this.#turn = this.#turn.then(async () => {
      const resting = this.#carrier;
      const carrier = await resting?.catch(() => null);
      if (this.#carrier === resting) this.#carrier = null;
      await carrier?.end();
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const carrier = await this.#carrier?.catch(() => null);
    await carrier?.end();
  }

  async #ask(request: Request, deadline: () => Deadline, spent: (cpuMs: number) => void): Promise<Reply> {
    if (this.#isClosed) throw this.#options.closed();
    const limits = deadline();
    const starting = (this.#carrier ??= this.#start());
    const carrier = await starting;
    // The runner was closed meanwhile, or the carrier has ended again.
    if (this.#carrier !== starting) return this.#ask(request, deadline, spent);
    const reply = (this.#reply = Promise.withResolvers<Reply>());
    const beforeMs = carrier.knownCpuMs;
    using watch = watchTime(carrier, beforeMs, limits, (why) => {
      this.#forget(starting, why);
      void carrier.end();
    });
    try {
      carrier.send(request);
      return await reply.promise;
    } finally {
      this.#reply = null;
      const knownMs = beforeMs === null ? 0 : (carrier.knownCpuMs ?? 0) - beforeMs;
      spent(Math.max(knownMs, watch.usedMs));
    }
  }

  #start(): Promise<Carrier<Request>> {
    const starting: Promise<Carrier<Request>> = this.#options.start({
      replied: (reply) => {
        if (this.#carrier === starting) this.#reply?.resolve(reply);
      },
      ended: (why) => this.#forget(starting, why),
    });
    starting.catch(() => {
      if (this.#carrier === starting) this.#carrier = null;
    });
    return starting;
  }

  #forget(carrier: Promise<Carrier<Request>>, why: LaresError): void {
    if (this.#carrier !== carrier) return;
    this.#carrier = null;
    this.#reply?.reject(this.#isClosed ? this.#options.closed() : why);
  }
}

/** Watches the time of a request until it is disposed or has called `overrun`, once. */
function watchTime(
  carrier: Pick<Carrier<never>, "cpuMs">,
  beforeMs: number | null,
  { maxCpuMs, maxWallMs, lookAfterMs, overrun }: Deadline,
  end: (why: LaresError) => void,
): Disposable & { readonly usedMs: number } {
  const startedAt = performance.now();
  let usedMs = 0;
  let isDone = false;
  const finish = (limit: "cpu" | "wall"): void => {
    if (isDone) return;
    isDone = true;
    end(overrun(limit));
  };
  const look = async (): Promise<void> => {
    const nowMs = await carrier.cpuMs();
    if (isDone) return;
    usedMs = beforeMs === null || nowMs === null ? performance.now() - startedAt : nowMs - beforeMs;
    if (usedMs >= maxCpuMs) finish("cpu");
    else looking = later(() => void look(), lookAfterMs(maxCpuMs - usedMs));
  };
  // Runs in a later phase of the loop, so that a reply that arrived while this process was busy is handled first.
  const later = (run: () => void, delayMs: number): NodeJS.Timeout =>
    setTimeout(() => setImmediate(run), delayMs);
  let looking = later(() => void look(), lookAfterMs(maxCpuMs));
  const stuck = later(() => finish("wall"), maxWallMs);
  return {
    get usedMs() {
      return usedMs;
    },
    [Symbol.dispose]() {
      isDone = true;
      clearTimeout(looking);
      clearTimeout(stuck);
    },
  };
}
