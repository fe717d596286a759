import type { LaresError } from "../../base/errors.ts";

/** What carries requests out, one at a time: a child process or a thread. */
export interface Carrier<Request> {
  send(request: Request): void;
  /** CPU time that it has used, as far as that is known without asking. Milliseconds; null where no system tells. */
  readonly knownCpuMs: number | null;
  /** Asks for it; may take long where the carrier is busy. */
  cpuMs(): Promise<number | null>;
  /** Ends it, whatever it is doing. */
  end(): Promise<void>;
}

export interface CarrierEvents<Reply> {
  /** To the request in progress. */
  replied(reply: Reply): void;
  /** It is gone, or not to be asked any more; the request in progress is rejected with this. */
  ended(why: LaresError): void;
}

export interface Deadline {
  /** So that a busy machine ends nothing. Where no system tells the CPU time, the time that passes. */
  readonly maxCpuMs: number;
  /** For a request that is stuck without computing. */
  readonly maxWallMs: number;
  /** When to look again at a request that has so much CPU time left. Milliseconds. */
  lookAfterMs(leftMs: number): number;
  overrun(limit: "cpu" | "wall"): LaresError;
}

interface DeadlineRunnerOptions<Request, Reply> {
  /** Resolves when it answers requests. */
  start(events: CarrierEvents<Reply>): Promise<Carrier<Request>>;
  /** What requests are rejected with once the runner is closed. */
  closed(): LaresError;
}

/**
 * Runs requests that may take forever: one at a time, in the order in which they were made, each with a deadline. One that
 * overruns is ended together with its carrier, and the next request starts another. Starts with the first request.
 */
export class DeadlineRunner<Request, Reply> implements AsyncDisposable {
  readonly #options: DeadlineRunnerOptions<Request, Reply>;
  #carrier: Promise<Carrier<Request>> | null = null;
  /** The reply to the request in progress. */
  #reply: PromiseWithResolvers<Reply> | null = null;
  /** Resolves when all earlier requests have ended, however they did. */
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: DeadlineRunnerOptions<Request, Reply>) {
    this.#options = options;
  }

  /**
   * `deadline` is asked when the request's turn has come, and may refuse it; `spent` gets the CPU time that the request
   * took, also where it failed. The caller bounds how many requests wait.
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
    // Closed meanwhile, or gone again.
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

/** Looks at the time that a request takes, until it is disposed or calls `overrun`, once. */
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
  // In a later phase of the loop, so that a reply which came while this process was busy is heard first.
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
