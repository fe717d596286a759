import { Worker } from "node:worker_threads";
import { LaresError, limitExceeded, messageOf } from "../base/errors.ts";
import type { CpuBudget } from "../base/cpu-budget.ts";
import type { WorkReply } from "./work-requests.ts";

export interface WorkThreadOptions {
  /** Returns the entry file, which calls `serveWork`. */
  readonly entry: URL;
  readonly workerData: unknown;
  readonly name: string;
  /** What the thread does, as the subject of a sentence: "Planning". */
  readonly task: string;
  /** CPU time of one request. Milliseconds. */
  readonly maxCpuMs: number;
  /** Wall time of one request, for one that is stuck in the file system. Milliseconds. */
  readonly maxWallMs: number;
  readonly maxHeapMb: number;
}

/** How often the thread's CPU time is read while it works. Milliseconds. */
const sampleMs = 25;

interface Running {
  readonly worker: Worker;
  /** The reply to the request in progress. */
  reply: PromiseWithResolvers<WorkReply>;
  /** CPU time of the thread before the request in progress. */
  cpuBeforeMs: number;
  /** The same, as far as it is known now. */
  cpuNowMs: number;
}

/**
 * A thread for work that agents cause and that may take any amount of time: one request at a time, in the order in which
 * they were made. A request that uses more CPU time than it may is ended together with its thread; the next request
 * starts another one. The CPU time is the thread's own, so a busy machine ends nothing. Starts with the first request.
 */
export class WorkThread<Request, Answer> implements AsyncDisposable {
  readonly #options: WorkThreadOptions;
  #running: Promise<Running> | null = null;
  #worker: Worker | null = null;
  /** Resolves when all earlier requests have ended. */
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: WorkThreadOptions) {
    this.#options = options;
  }

  /**
   * Charges the CPU time to the budget, also where the request fails. Rejects with the LaresError that the thread threw,
   * and with LimitExceeded where it took too long or ran out of memory. The caller bounds how many requests wait.
   */
  run(request: Request, budget: CpuBudget): Promise<Answer> {
    const answer = this.#turn.then(() => this.#ask(request, budget));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  /** Ends the thread, whatever it is doing. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  async #ask(request: Request, budget: CpuBudget): Promise<Answer> {
    const { task, maxCpuMs } = this.#options;
    if (this.#isClosed) throw closing(task);
    const leftMs = budget.leftMs();
    if (leftMs <= 0) throw overBudget(task, budget);
    const running = await (this.#running ??= this.#start());
    const reply = Promise.withResolvers<WorkReply>();
    running.reply = reply;
    const allowedMs = Math.min(leftMs, maxCpuMs);
    running.cpuNowMs = running.cpuBeforeMs;
    using _watch = this.#watch(running, allowedMs, () =>
      leftMs < maxCpuMs
        ? overBudget(task, budget)
        : limitExceeded("maxCpuMs", maxCpuMs, `${task} took more than ${maxCpuMs} ms of CPU time.`),
    );
    try {
      running.worker.postMessage(request);
      const answered = await reply.promise;
      running.cpuNowMs = answered.cpuTimeMs;
      if (answered.kind === "answer") return answered.answer as Answer;
      throw new LaresError(answered.code, answered.message, answered.facts);
    } finally {
      budget.charge(running.cpuNowMs - running.cpuBeforeMs);
      running.cpuBeforeMs = running.cpuNowMs;
      running.reply = Promise.withResolvers();
    }
  }

  /** Ends the thread once the request in progress takes too long. */
  #watch(running: Running, allowedMs: number, overrun: () => LaresError): Disposable {
    const { task, maxWallMs } = this.#options;
    const { reply, worker } = running;
    const startedAt = performance.now();
    const end = (why: LaresError): void => {
      this.#forget(running);
      reply.reject(why);
      void worker.terminate();
    };
    const look = async (): Promise<void> => {
      const wallMs = performance.now() - startedAt;
      const cpuNowMs = (await cpuTimeMs(worker)) ?? running.cpuBeforeMs + wallMs;
      // A reply that arrived meanwhile is heard first.
      if (running.reply !== reply || this.#worker !== worker) return;
      running.cpuNowMs = cpuNowMs;
      if (cpuNowMs - running.cpuBeforeMs > allowedMs) end(overrun());
      else if (wallMs > maxWallMs)
        end(limitExceeded("maxWallMs", maxWallMs, `${task} did not end within ${maxWallMs} ms.`));
    };
    const timer = setInterval(() => void look(), sampleMs);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  async #start(): Promise<Running> {
    const { entry, workerData, name, maxHeapMb, task } = this.#options;
    const worker = new Worker(entry, {
      workerData,
      name,
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 32 },
    });
    this.#worker = worker;
    // The kernel's own work keeps the process alive, not an idle thread.
    worker.unref();
    const running: Running = { worker, reply: Promise.withResolvers(), cpuBeforeMs: 0, cpuNowMs: 0 };
    worker.on("message", (reply: WorkReply) => running.reply.resolve(reply));
    const ended = (why: string, isOutOfMemory: boolean): void => {
      this.#forget(running);
      const message = `${task} did not end: its thread ended (${why}).`;
      running.reply.promise.catch(() => undefined);
      if (this.#isClosed) running.reply.reject(closing(task));
      else if (isOutOfMemory) running.reply.reject(limitExceeded("maxHeapMb", maxHeapMb, message));
      else running.reply.reject(new LaresError("InternalError", message));
    };
    worker.on("error", (error: Error & { code?: string }) =>
      ended(messageOf(error), error.code === "ERR_WORKER_OUT_OF_MEMORY"),
    );
    worker.on("exit", (code) => ended(`exit code ${code}`, false));
    const { cpuTimeMs: cpuBeforeMs } = await running.reply.promise;
    running.cpuBeforeMs = cpuBeforeMs;
    return running;
  }

  #forget({ worker }: Running): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#running = null;
  }
}

/** Null where this version of Node cannot tell, or the thread has ended. */
async function cpuTimeMs(worker: Worker): Promise<number | null> {
  if (typeof worker.cpuUsage !== "function") return null;
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1000;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_NOT_RUNNING") return null;
    throw error;
  }
}

function overBudget(task: string, { limit, allowedMs }: CpuBudget): LaresError {
  return limitExceeded(
    limit,
    allowedMs,
    `${task} takes more CPU time than the agent has left; ${limit} allows ${allowedMs} ms. Propose less at a time.`,
  );
}

function closing(task: string): LaresError {
  return new LaresError("Busy", `${task} was ended because the kernel ends.`);
}
