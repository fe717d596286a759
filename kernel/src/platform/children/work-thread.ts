import { Worker } from "node:worker_threads";
import { LaresError, limitExceeded, messageOf, systemCode } from "../../base/errors.ts";
import type { CpuBudget } from "../../base/cpu-budget.ts";
import { type Carrier, type CarrierEvents, type Deadline, DeadlineRunner } from "./deadline-runner.ts";
import type { WorkReply } from "./work-requests.ts";

interface WorkThreadOptions {
  /** Returns the entry file, which calls `serveWork`. */
  readonly entry: URL;
  readonly workerData: unknown;
  readonly name: string;
  /** The task as the subject of a sentence: "Planning". */
  readonly task: string;
  /** CPU time of one request, in milliseconds. */
  readonly maxCpuMs: number;
  /** Wall time of one request, in milliseconds, for one that blocks in the file system. */
  readonly maxWallMs: number;
  readonly maxHeapMb: number;
}

/** The interval in milliseconds at which the thread's CPU time is read while it works. */
const sampleMs = 25;

/** A thread for work of agents that may take any amount of time; see `DeadlineRunner`. Its own CPU time counts. */
export class WorkThread<Request, Answer> implements AsyncDisposable {
  readonly #options: WorkThreadOptions;
  readonly #runner: DeadlineRunner<Request, WorkReply>;

  constructor(options: WorkThreadOptions) {
    this.#options = options;
    this.#runner = new DeadlineRunner({
      start: (events) => this.#start(events),
      closed: () => new LaresError("Busy", `${options.task} was ended because the kernel is shutting down.`),
    });
  }

  /**
   * Charges the CPU time to the budget, even if the request fails. Rejects with the LaresError that the thread
   * threw, and with LimitExceeded if it took too long or ran out of memory. The caller bounds how many requests
   * wait.
   */
  async run(request: Request, budget: CpuBudget): Promise<Answer> {
    const reply = await this.#runner.run(
      request,
      () => this.#deadline(budget),
      (cpuMs) => budget.charge(cpuMs),
    );
    if (reply.kind === "answer") return reply.answer as Answer;
    throw new LaresError(reply.code, reply.message, reply.facts);
  }

  /** Terminates the thread at any time. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#runner[Symbol.asyncDispose]();
  }

  #deadline(budget: CpuBudget): Deadline {
    const { task, maxCpuMs, maxWallMs } = this.#options;
    const leftMs = budget.leftMs();
    if (leftMs <= 0) throw overBudget(task, budget);
    const overrunCpu = (): LaresError =>
      leftMs < maxCpuMs
        ? overBudget(task, budget)
        : limitExceeded("maxCpuMs", maxCpuMs, `${task} took more than ${maxCpuMs} ms of CPU time.`);
    return {
      maxCpuMs: Math.min(leftMs, maxCpuMs),
      maxWallMs,
      // Read often, so that nearly all time is charged if the thread ends with the request.
      lookAfterMs: () => sampleMs,
      overrun: (limit) =>
        limit === "cpu"
          ? overrunCpu()
          : limitExceeded("maxWallMs", maxWallMs, `${task} did not end within ${maxWallMs} ms.`),
    };
  }

  async #start({ replied, ended }: CarrierEvents<WorkReply>): Promise<Carrier<Request>> {
    const { entry, workerData, name, maxHeapMb, task } = this.#options;
    const worker = new Worker(entry, {
      workerData,
      name,
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 32 },
    });
    // Only pending work keeps the process alive, not an idle thread.
    worker.unref();
    let knownCpuMs = 0;
    const ready = Promise.withResolvers<void>();
    // The first message reports that it accepts requests.
    let hear: (reply: WorkReply) => void = () => ready.resolve();
    worker.on("message", (reply: WorkReply) => {
      knownCpuMs = reply.cpuTimeMs;
      hear(reply);
    });
    const gone = (why: string, isOutOfMemory: boolean): void => {
      const message = `${task} did not end: its thread ended (${why}).`;
      const error = isOutOfMemory
        ? limitExceeded("maxHeapMb", maxHeapMb, message)
        : new LaresError("InternalError", message);
      ready.reject(error);
      ended(error);
    };
    worker.on("error", (error: Error & { code?: string }) =>
      gone(messageOf(error), error.code === "ERR_WORKER_OUT_OF_MEMORY"),
    );
    worker.on("exit", (code) => gone(`exit code ${code}`, false));
    await ready.promise;
    hear = replied;
    return {
      send: (request) => worker.postMessage(request),
      get knownCpuMs() {
        return knownCpuMs;
      },
      async cpuMs() {
        const cpuMs = await cpuTimeMs(worker);
        if (cpuMs !== null) knownCpuMs = Math.max(knownCpuMs, cpuMs);
        return cpuMs;
      },
      async end() {
        await worker.terminate();
      },
    };
  }
}

/** Returns null if this version of Node.js cannot report it, or the thread has ended. */
async function cpuTimeMs(worker: Worker): Promise<number | null> {
  if (typeof worker.cpuUsage !== "function") return null;
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1000;
  } catch (error) {
    if (systemCode(error) === "ERR_WORKER_NOT_RUNNING") return null;
    throw error;
  }
}

function overBudget(task: string, { limit, allowedMs }: CpuBudget): LaresError {
  return limitExceeded(
    limit,
    allowedMs,
    `${task} takes more CPU time than the agent has left; ${limit} allows ${allowedMs} ms. Propose fewer changes at a time.`,
  );
}
