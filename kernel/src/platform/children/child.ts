import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ChildProcess } from "./child-process.ts";
import { FrameReader, readWords, wordsFrame, wordsType } from "./frames.ts";

/** The message that a child sends once it accepts requests; see `Parent.ready`. */
export interface ReadyMessage {
  readonly kind: "ready";
}

interface ChildOptions<FromChild> {
  /** The child's name in the log: "store host". */
  readonly name: string;
  readonly log: Log;
  readonly clock: Clock;
  /** A longer frame terminates the child. */
  readonly maxFrameBytes: number;
  /** `bytes` are valid only during the call. An error thrown here terminates the child, which is no longer trusted. */
  receive(words: FromChild, bytes: Uint8Array): void;
  /** Receives frames of the room's own types. */
  receiveFrame?(type: number, stream: number, payload: Uint8Array): void;
}

/** A line of a stack trace, or Node's version after one; neither explains the child's end. */
const traceLine = /^(\s|\}|Node\.js v)/;

/** One child process, from its start to its end. `ToChild` and `FromChild` are the messages in each direction. */
export class Child<ToChild, FromChild extends object> {
  /** Resolves when the child accepts requests. Rejects, with its last output, if it ended before. */
  readonly ready: Promise<void>;
  /** Resolves when the child has ended and its output was received, with the end of a sentence: "ended by SIGKILL". */
  readonly ended: Promise<string>;
  readonly #process: ChildProcess;
  readonly #clock: Clock;
  #isAlive = true;
  #isEnding = false;
  #lastLine = "";

  constructor(process: ChildProcess, options: ChildOptions<FromChild>) {
    const { name, log, clock, maxFrameBytes } = options;
    this.#process = process;
    this.#clock = clock;
    process.output.on((line) => {
      if (!traceLine.test(line)) this.#lastLine = line;
      log.warn(name, { line });
    });
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    // Some rooms do not wait for it.
    this.ready.catch(() => undefined);
    const reader = new FrameReader(maxFrameBytes, (type, stream, payload) => {
      if (type !== wordsType) {
        if (options.receiveFrame === undefined) throw new RangeError(`A frame of unknown type ${type}.`);
        return options.receiveFrame(type, stream, payload);
      }
      const { words, bytes } = readWords(payload);
      if ((words as ReadyMessage).kind === "ready") return ready.resolve();
      options.receive(words as FromChild, bytes);
    });
    const reading = process.channel.chunks.on((chunk) => {
      try {
        reader.push(chunk);
      } catch (error) {
        // After any fault, the rest of the stream cannot be trusted.
        reading[Symbol.dispose]();
        log.error(`${name}: its message cannot be parsed`, { reason: messageOf(error) });
        void process.kill();
      }
    });
    this.ended = Promise.all([process.exited, process.channel.closed]).then(([how]) => {
      this.#isAlive = false;
      ready.reject(new Error(`its process ${this.lastWords(how)}`));
      return how;
    });
  }

  get pid(): number {
    return this.#process.pid;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** True after the child was told to end: its end is then no fault, and it gets no more requests. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Returns how it ended, with its last output, if any. */
  lastWords(how: string): string {
    return this.#lastLine === "" ? how : `${how} (${this.#lastLine})`;
  }

  send(words: ToChild, bytes?: Uint8Array): void {
    this.write(...wordsFrame(words, bytes));
  }

  /** Sends frames of the room's own types. */
  write(...frames: readonly Uint8Array[]): void {
    this.#process.channel.write(...frames);
  }

  /** Asks the child to end and kills it after the timeout. Resolves when it has ended. */
  async end(words: ToChild, timeoutMs: number): Promise<void> {
    this.#isEnding = true;
    this.send(words);
    using _ = this.#clock.timer(timeoutMs, () => void this.#process.kill());
    await this.ended;
  }

  /** Kills the child. Resolves when it has ended. */
  async kill(): Promise<void> {
    this.#isEnding = true;
    this.#process.channel.close();
    await this.#process.kill();
    await this.ended;
  }
}
