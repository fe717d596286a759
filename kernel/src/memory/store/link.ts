import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ChildProcess } from "../../platform/child-process.ts";
import { receiveJsonLines, sendJsonLine } from "../../platform/json-lines.ts";
import { storeBounds as bounds } from "./bounds.ts";
import type { FromHost, ToHost } from "./messages.ts";

export interface LinkOptions {
  readonly child: ChildProcess;
  /** Paths outside the state folder that this host may read. */
  readonly foreignPaths: ReadonlySet<string>;
  readonly clock: Clock;
  readonly log: Log;
  receive(words: Exclude<FromHost, { kind: "ready" }>): void;
}

/** One store host process, from its start to its end. */
export class HostLink {
  readonly foreignPaths: ReadonlySet<string>;
  /** Resolves when it answers requests; rejects, with what it said last, when it ended before. */
  readonly ready: Promise<void>;
  /** Resolves when all it sent was received. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  #isAlive = true;
  /** Nothing new is asked of it, and when it has answered it is told to end. */
  isLeaving = false;
  /** It was told to end, and nothing is to be asked of it any more. */
  #isEnding = false;

  constructor({ child, foreignPaths, clock, log, receive }: LinkOptions) {
    this.#child = child;
    this.#clock = clock;
    this.foreignPaths = foreignPaths;
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    let lastLine = "";
    child.output.on((line) => {
      // Of an error that was not caught, the end says nothing.
      if (!/^(\s|\}|Node\.js v)/.test(line)) lastLine = line;
      log.warn("store host", { line });
    });
    receiveJsonLines(
      child.channel,
      (words) => {
        const said = words as FromHost;
        if (said.kind === "ready") ready.resolve();
        else receive(said);
      },
      // Whatever is wrong with the stream, it cannot be trusted from here on.
      () => void child.kill(),
    );
    this.ended = Promise.all([child.exited, child.channel.closed]).then(([how]) => {
      this.#isAlive = false;
      ready.reject(new Error(`its process ${how}${lastLine === "" ? "" : ` (${lastLine})`}`));
      return how;
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  send(words: ToHost): void {
    sendJsonLine(this.#child.channel, words);
  }

  /** Lets it close its files; kills it where that takes too long. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.send({ kind: "end" });
    using _ = this.#clock.timer(bounds.endTimeoutMs, () => void this.#child.kill());
    await this.ended;
  }
}
