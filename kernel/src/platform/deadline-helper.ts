import { LaresError, limitExceeded, messageOf } from "../base/errors.ts";
import { type ChildProcess, startChildProcess } from "./child-process.ts";
import { processCpuMs } from "./process-cpu.ts";
import { type HelperReply, wallFactor } from "./helper-requests.ts";
import { receiveJsonLines, sendJsonLine } from "./json-lines.ts";

export interface DeadlineHelperOptions {
  /** Its entry file, which calls `serveRequests`. */
  readonly entry: URL;
  /** Folders and files it may read. */
  readonly readable: readonly (string | URL)[];
  /** What it does, in sentences: "The check". */
  readonly task: string;
  /**
   * CPU time of one request, in milliseconds, so that a busy machine ends none. Where the system does not tell a process's
   * CPU time, the time that passes. Starting the process does not count.
   */
  readonly deadlineMs: number;
  readonly maxHeapMb: number;
}

/** CPU time is told in steps; a process is not looked at more often than this. Milliseconds. */
const shortestLookMs = 50;

interface Helper {
  readonly child: ChildProcess;
  /** The reply to the request under way. */
  reply: PromiseWithResolvers<HelperReply>;
}

/**
 * A child process for computations that may take forever: one at a time, each with a deadline. One that overruns costs
 * that process, and the next request starts another. A process and no thread, because a thread that runs out of
 * memory may take the others with it. Started with the first request, then kept.
 */
export class DeadlineHelper<Request, Answer> implements AsyncDisposable {
  readonly #options: DeadlineHelperOptions;
  #helper: Promise<Helper> | null = null;
  /** The requests before, however they ended. */
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: DeadlineHelperOptions) {
    this.#options = options;
  }

  /**
   * Requests and answers travel as JSON. Rejects with LimitExceeded where the deadline passed or the process ended,
   * as it does without memory; with InternalError where it failed otherwise. Waits for the requests before it: who
   * calls bounds their number.
   */
  run(request: Request): Promise<Answer> {
    const answer = this.#turn.then(() => this.#ask(request));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await (await this.#helper?.catch(() => null))?.child.kill();
  }

  async #ask(request: Request): Promise<Answer> {
    const { task, deadlineMs } = this.#options;
    if (this.#isClosed) throw new LaresError("Busy", `${task} cannot be made: the kernel ends.`);
    const helper = await (this.#helper ??= this.#start());
    const reply = Promise.withResolvers<HelperReply>();
    helper.reply = reply;
    const cpuBeforeMs = processCpuMs(helper.child.pid);
    const startedAt = performance.now();
    let isDone = false;
    const look = (): void => {
      if (isDone) return;
      const wallMs = performance.now() - startedAt;
      const cpuNowMs = processCpuMs(helper.child.pid);
      const usedMs = cpuBeforeMs === null || cpuNowMs === null ? wallMs : cpuNowMs - cpuBeforeMs;
      if (usedMs >= deadlineMs || wallMs >= wallFactor * deadlineMs) reply.reject(this.#overrun());
      else timer = later(Math.max(shortestLookMs, deadlineMs - usedMs));
    };
    // In a later phase of the loop, so that a reply which came while this process was busy is heard first.
    const later = (delayMs: number): NodeJS.Timeout => setTimeout(() => setImmediate(look), delayMs);
    let timer = later(deadlineMs);
    try {
      sendJsonLine(helper.child.channel, request);
      const answered = await reply.promise;
      if (answered.kind === "answer") return answered.answer as Answer;
      throw new LaresError(
        "InternalError",
        `${task} failed: ${answered.kind === "failed" ? answered.reason : ""}`,
      );
    } catch (error) {
      this.#helper = null;
      await helper.child.kill();
      throw error;
    } finally {
      clearTimeout(timer);
      isDone = true;
    }
  }

  async #start(): Promise<Helper> {
    const { entry, readable, deadlineMs, maxHeapMb, task } = this.#options;
    try {
      const child = await startChildProcess({
        entry,
        readable,
        workers: false,
        maxHeapMb,
        arguments: [String(deadlineMs)],
      });
      const helper: Helper = { child, reply: Promise.withResolvers() };
      let lastWords = "";
      child.output.on((line) => (lastWords = line));
      receiveJsonLines(child.channel, (reply) => helper.reply.resolve(reply as HelperReply));
      void child.exited.then((how) => {
        // One that ended between two requests is noticed here, and no later request is sent to it.
        this.#helper = null;
        helper.reply.reject(this.#ended(how, lastWords));
      });
      await helper.reply.promise;
      return helper;
    } catch (error) {
      this.#helper = null;
      throw new LaresError(
        "InternalError",
        `${task} cannot be made: ${messageOf(error)}`,
        {},
        { cause: error },
      );
    }
  }

  #overrun(): LaresError {
    const { task, deadlineMs } = this.#options;
    return limitExceeded("deadlineMs", deadlineMs, `${task} took longer than ${deadlineMs} ms.`);
  }

  #ended(how: string, lastWords: string): LaresError {
    const { task, maxHeapMb } = this.#options;
    const message = `${task} did not end: its process ${how}${lastWords === "" ? "" : ` (${lastWords})`}.`;
    return limitExceeded("maxHeapMb", maxHeapMb, message);
  }
}
