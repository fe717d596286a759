import { LaresError, limitExceeded, messageOf } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { systemClock } from "../clock.ts";
import { Child } from "./child.ts";
import { startChildProcess } from "./child-process.ts";
import {
  type Carrier,
  type CarrierEvents,
  type Deadline,
  DeadlineRunner,
  processCarrier,
} from "./deadline-runner.ts";
import { type HelperReply, maxHelperFrameBytes, wallFactor } from "./helper-requests.ts";

interface DeadlineHelperOptions {
  /** The entry file, which calls `serveRequests`. */
  readonly entry: URL;
  /** Folders and files that it may read. */
  readonly readable: readonly (string | URL)[];
  /** The task as the subject of a sentence: "The check". */
  readonly task: string;
  /** CPU time of one request, in milliseconds, without the start of the process. */
  readonly deadlineMs: number;
  readonly maxHeapMb: number;
}

/** The minimum interval between checks of the CPU time, which the system reports in steps. Milliseconds. */
const shortestLookMs = 50;

/**
 * A child process for computations that may never end; see `DeadlineRunner`. It is a process because a thread that
 * runs out of memory may take other threads down with it.
 */
export class DeadlineHelper<Request, Answer> implements AsyncDisposable {
  readonly #options: DeadlineHelperOptions;
  readonly #runner: DeadlineRunner<Request, Answer>;

  constructor(options: DeadlineHelperOptions) {
    this.#options = options;
    this.#runner = new DeadlineRunner({
      start: (events) => this.#start(events),
      closed: () => new LaresError("Busy", `${options.task} is not possible: the kernel is shutting down.`),
    });
  }

  /**
   * Requests and answers travel as JSON. Rejects with LimitExceeded if the deadline passed or the process ended, as
   * it does when out of memory; with InternalError for other failures. Waits for earlier requests; the caller
   * bounds their number.
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
        // Its output is reported together with its end.
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
      return processCarrier(child, (request) => child.send(request));
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
