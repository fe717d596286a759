import type { Clock } from "../../../base/clock.ts";
import type { Embedder } from "../../embedding/port.ts";
import type { EmbedderSpec } from "../../../memory-contract/store-settings.ts";
import { longerPauseMs } from "../../embedding/queue.ts";
import type { ServingFact } from "../rows/serving-fact.ts";

/**
 * How long queries wait for an embedder that is being opened: a service may first have to be asked for its
 * dimensions.
 */
const patienceMs = 1_000;

interface OpeningOptions {
  readonly clock: Clock;
  open(spec: EmbedderSpec): Promise<Embedder>;
  /**
   * Called when `take` is worth calling again: the embedder has been opened, or the delay after a failure is
   * over.
   */
  ready(): void;
  failed(error: unknown): void;
}

interface Attempt {
  readonly spec: string;
  readonly embedder: Promise<Embedder | null>;
  state: "under way" | "opened" | "resting" | "due";
}

/** Opens an embedder and retries after failures, with a limit on how long callers wait. */
export class EmbedderOpening implements Disposable {
  readonly #options: OpeningOptions;
  #attempt: Attempt | null = null;
  #failures = 0;
  #timer: Disposable | null = null;
  #isClosed = false;

  constructor(options: OpeningOptions) {
    this.#options = options;
  }

  /**
   * Returns the embedder, which the caller then owns; null if it is not open in time. `ready` is called
   * later.
   */
  async take(spec: EmbedderSpec): Promise<Embedder | null> {
    const { clock } = this.#options;
    const text = JSON.stringify(spec);
    if (this.#attempt?.spec !== text) {
      this.#giveUp();
      this.#failures = 0;
    }
    if (this.#attempt === null || this.#attempt.state === "due") this.#attempt = this.#begin(spec, text);
    const attempt = this.#attempt;
    const patience = Promise.withResolvers<null>();
    using _ = clock.timer(patienceMs, () => patience.resolve(null));
    const embedder = await Promise.race([attempt.embedder, patience.promise]);
    if (embedder !== null) this.#attempt = null;
    else if (attempt.state === "under way")
      void attempt.embedder.then((late) => late !== null && this.#tell(attempt));
    return embedder;
  }

  /**
   * Reopens the embedder that made the current vectors, so that it can answer queries until the new one takes
   * over; null if it cannot be opened.
   */
  async reopen({ name, spec, dimensions }: ServingFact, now: EmbedderSpec): Promise<Embedder | null> {
    const key = "key" in now && spec.kind === now.kind ? { key: now.key } : {};
    // The service may be gone, so it is not asked for what is known.
    const known = spec.kind === "openai-compatible" ? { dimensions } : {};
    const embedder = await this.#opened({ ...spec, ...known, ...key });
    if (embedder === null || embedder.name === name) return embedder;
    await embedder[Symbol.asyncDispose]();
    return null;
  }

  /** An embedder that is opened after disposal is closed at once. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#giveUp();
  }

  #begin(spec: EmbedderSpec, text: string): Attempt {
    const { clock } = this.#options;
    const embedder = this.#opened(spec);
    const attempt: Attempt = { spec: text, embedder, state: "under way" };
    void embedder.then((opened) => {
      attempt.state = opened === null ? "resting" : "opened";
      if (opened !== null || this.#attempt !== attempt) return;
      const delayMs = longerPauseMs(this.#failures);
      this.#failures += 1;
      this.#timer = clock.timer(delayMs, () => {
        attempt.state = "due";
        this.#tell(attempt);
      });
    });
    return attempt;
  }

  #tell(attempt: Attempt): void {
    if (!this.#isClosed && this.#attempt === attempt) this.#options.ready();
  }

  async #opened(spec: EmbedderSpec): Promise<Embedder | null> {
    try {
      return await this.#options.open(spec);
    } catch (error) {
      if (!this.#isClosed) this.#options.failed(error);
      return null;
    }
  }

  #giveUp(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    const attempt = this.#attempt;
    this.#attempt = null;
    void attempt?.embedder.then((late) => late?.[Symbol.asyncDispose]());
  }
}
