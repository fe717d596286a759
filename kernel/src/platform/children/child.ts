import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ChildProcess } from "./child-process.ts";
import { FrameReader, readWords, wordsFrame, wordsType } from "./frames.ts";

/** What a child says once, when it answers requests; see `Parent.ready`. */
export interface ReadyWords {
  readonly kind: "ready";
}

interface ChildOptions<FromChild> {
  /** What it is called in the log: "store host". */
  readonly name: string;
  readonly log: Log;
  readonly clock: Clock;
  /** A longer frame ends the child. */
  readonly maxFrameBytes: number;
  /** `bytes` are good only during the call. What this throws ends the child, for it cannot be trusted any more. */
  receive(words: FromChild, bytes: Uint8Array): void;
  /** Frames of the room's own types. */
  receiveFrame?(type: number, stream: number, payload: Uint8Array): void;
}

/** A line of a stack trace, or Node's version behind one: not what a child has to say about its end. */
const traceLine = /^(\s|\}|Node\.js v)/;

/** One child process, from its start to its end. `ToChild` is what it is told, `FromChild` what it says. */
export class Child<ToChild, FromChild extends object> {
  /** Resolves when the child says that it answers requests; rejects when it ended before, with what it printed last. */
  readonly ready: Promise<void>;
  /** Resolves when it is gone and all it sent was received, with the end of a sentence: "ended by SIGKILL". */
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
    // Not every room waits for it.
    this.ready.catch(() => undefined);
    const reader = new FrameReader(maxFrameBytes, (type, stream, payload) => {
      if (type !== wordsType) {
        if (options.receiveFrame === undefined) throw new RangeError(`A frame of unknown type ${type}.`);
        return options.receiveFrame(type, stream, payload);
      }
      const { words, bytes } = readWords(payload);
      if ((words as ReadyWords).kind === "ready") return ready.resolve();
      options.receive(words as FromChild, bytes);
    });
    const reading = process.channel.chunks.on((chunk) => {
      try {
        reader.push(chunk);
      } catch (error) {
        // Whatever is wrong with the stream, it cannot be trusted from here on.
        reading[Symbol.dispose]();
        log.error(`${name}: what it sent cannot be understood`, { reason: messageOf(error) });
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

  /** It was told to end: its end is no fault, and nothing is to be asked of it any more. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Returns how it ended, with what it printed last, where it printed anything. */
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

  /** Lets it end by itself when it is told so; kills it where that takes longer. Resolves when it is gone. */
  async end(words: ToChild, timeoutMs: number): Promise<void> {
    this.#isEnding = true;
    this.send(words);
    using _ = this.#clock.timer(timeoutMs, () => void this.#process.kill());
    await this.ended;
  }

  /** Ends it at once. Resolves when it is gone. */
  async kill(): Promise<void> {
    this.#isEnding = true;
    this.#process.channel.close();
    await this.#process.kill();
    await this.ended;
  }
}
