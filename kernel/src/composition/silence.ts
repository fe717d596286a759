import type { Clock } from "../base/clock.ts";

/** The time in which a kernel that works answers a small request. Milliseconds. */
const answerMs = 1_000;

/**
 * Notices a kernel that answers nothing: while requests are open, it is asked a small one after a second, and counts as silent if
 * that is not answered within another. A kernel that only takes long for one request is not silent.
 */
export class SilenceWatch implements Disposable {
  readonly #clock: Pick<Clock, "timer">;
  readonly #ping: () => Promise<unknown>;
  readonly #tell: (isSilent: boolean) => void;
  #open = 0;
  #timer: Disposable | null = null;
  #isSilent = false;
  #isPinging = false;
  #isOver = false;

  constructor(ports: {
    readonly clock: Pick<Clock, "timer">;
    /** Sends a small request. */
    ping(): Promise<unknown>;
    tell(isSilent: boolean): void;
  }) {
    this.#clock = ports.clock;
    this.#ping = () => ports.ping();
    this.#tell = (isSilent) => ports.tell(isSilent);
  }

  /** Watches while a request is open. */
  async during<Result>(request: Promise<Result>): Promise<Result> {
    this.#open += 1;
    this.#timer ??= this.#clock.timer(answerMs, () => this.#look());
    try {
      return await request;
    } finally {
      this.#open -= 1;
      this.#answered();
    }
  }

  #look(): void {
    this.#stop();
    if (this.#isOver || this.#open === 0 || this.#isPinging) return;
    this.#isPinging = true;
    this.#timer = this.#clock.timer(answerMs, () => {
      this.#timer = null;
      if (!this.#isOver) this.#say(true);
    });
    const ended = (): void => {
      this.#isPinging = false;
      this.#answered();
    };
    this.#ping().then(ended, ended);
  }

  #answered(): void {
    this.#stop();
    this.#say(false);
    if (!this.#isOver && this.#open > 0) this.#timer = this.#clock.timer(answerMs, () => this.#look());
  }

  #say(isSilent: boolean): void {
    if (isSilent === this.#isSilent) return;
    this.#isSilent = isSilent;
    this.#tell(isSilent);
  }

  #stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#stop();
  }
}
