import type { Clock } from "../../../base/clock.ts";
import type { Embedder } from "../../embedding/port.ts";
import type { EmbedderSpec } from "../../../memory-contract/store-settings.ts";
import { longerPauseMs } from "../../embedding/queue.ts";
import type { ServingFact } from "../rows/serving-fact.ts";

/** Queries wait so long for an embedder that is being opened: a service may first have to say how long its vectors are. */
const patienceMs = 1_000;

interface OpeningOptions {
  readonly clock: Clock;
  open(spec: EmbedderSpec): Promise<Embedder>;
  /** It is worth asking again: what was waited for is there, or may be tried again. */
  ready(): void;
  failed(error: unknown): void;
}

interface Attempt {
  readonly spec: string;
  readonly embedder: Promise<Embedder | null>;
  state: "under way" | "opened" | "resting" | "due";
}

/** Opens the embedder that is wanted, and tries again where that fails; nobody waits long for it. */
export class EmbedderOpening implements Disposable {
  readonly #options: OpeningOptions;
  #attempt: Attempt | null = null;
  #failures = 0;
  #timer: Disposable | null = null;
  #isClosed = false;

  constructor(options: OpeningOptions) {
    this.#options = options;
  }

  /** Null where it is not there yet; `ready` is called when it is. Whoever gets it disposes it. */
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

  /** The embedder of before, where it can be had still: to answer with until another takes over. */
  async reopen({ name, spec, dimensions }: ServingFact, now: EmbedderSpec): Promise<Embedder | null> {
    const key = "key" in now && spec.kind === now.kind ? { key: now.key } : {};
    // What is known need not be asked of a service that may be gone.
    const known = spec.kind === "openai-compatible" ? { dimensions } : {};
    const embedder = await this.#opened({ ...spec, ...known, ...key });
    if (embedder === null || embedder.name === name) return embedder;
    await embedder[Symbol.asyncDispose]();
    return null;
  }

  /** What comes after it is closed at once. */
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
