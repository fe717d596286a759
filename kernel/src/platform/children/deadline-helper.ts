import { LaresError, limitExceeded, messageOf } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { systemClock } from "../clock.ts";
import { processCpuMs } from "../processes/process-cpu.ts";
import { Child } from "./child.ts";
import { startChildProcess } from "./child-process.ts";
import { type Carrier, type CarrierEvents, type Deadline, DeadlineRunner } from "./deadline-runner.ts";
import { type HelperReply, maxHelperFrameBytes, wallFactor } from "./helper-requests.ts";

interface DeadlineHelperOptions {
  /** Its entry file, which calls `serveRequests`. */
  readonly entry: URL;
  /** Folders and files it may read. */
  readonly readable: readonly (string | URL)[];
  /** What it does, in sentences: "The check". */
  readonly task: string;
  /** CPU time of one request, in milliseconds. Starting the process does not count. */
  readonly deadlineMs: number;
  readonly maxHeapMb: number;
}

/** CPU time is told in steps; a process is not looked at more often than this. Milliseconds. */
const shortestLookMs = 50;

/**
 * A child process for computations that may take forever; see `DeadlineRunner`. A process and no thread, because a
 * thread that runs out of memory may take the others with it.
 */
export class DeadlineHelper<Request, Answer> implements AsyncDisposable {
  readonly #options: DeadlineHelperOptions;
  readonly #runner: DeadlineRunner<Request, Answer>;

  constructor(options: DeadlineHelperOptions) {
    this.#options = options;
    this.#runner = new DeadlineRunner({
      start: (events) => this.#start(events),
      closed: () => new LaresError("Busy", `${options.task} cannot be made: the kernel ends.`),
    });
  }

  /**
   * Requests and answers travel as JSON. Rejects with LimitExceeded where the deadline passed or the process ended,
   * as it does without memory; with InternalError where it failed otherwise. Waits for the requests before it: who
   * calls bounds their number.
   */
  run(request: Request): Promise<Answer> {
    return this.#runner.run(request, () => this.#deadline());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#runner[Symbol.asyncDispose]();
  }

  #deadline(): Deadline {
    const { task, deadlineMs } = this.#options;
    return {
      maxCpuMs: deadlineMs,
      maxWallMs: wallFactor * deadlineMs,
      lookAfterMs: (leftMs) => Math.max(shortestLookMs, leftMs),
      overrun: () => limitExceeded("deadlineMs", deadlineMs, `${task} took longer than ${deadlineMs} ms.`),
    };
  }

  async #start({ replied, ended }: CarrierEvents<Answer>): Promise<Carrier<Request>> {
    const { entry, readable, deadlineMs, maxHeapMb, task } = this.#options;
    try {
      const process = await startChildProcess({
        entry,
        readable,
        workers: false,
        maxHeapMb,
        arguments: [String(deadlineMs)],
      });
      const child = new Child<Request, HelperReply>(process, {
        name: task,
        // What it prints is said with its end.
        log: silentLog,
        clock: systemClock,
        maxFrameBytes: maxHelperFrameBytes,
        receive(reply) {
          if (reply.kind === "answer") return replied(reply.answer as Answer);
          ended(new LaresError("InternalError", `${task} failed: ${reply.reason}`));
          void child.kill();
        },
      });
      void child.ended.then((how) => {
        const message = `${task} did not end: its process ${child.lastWords(how)}.`;
        ended(limitExceeded("maxHeapMb", maxHeapMb, message));
      });
      await child.ready;
      return {
        send: (request) => child.send(request),
        get knownCpuMs() {
          return processCpuMs(child.pid);
        },
        cpuMs: async () => processCpuMs(child.pid),
        end: () => child.kill(),
      };
    } catch (error) {
      throw new LaresError(
        "InternalError",
        `${task} cannot be made: ${messageOf(error)}`,
        {},
        { cause: error },
      );
    }
  }
}
