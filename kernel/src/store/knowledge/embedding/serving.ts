import type { Embedder } from "../../embedding/port.ts";
import type { VectorSpace } from "./vector-space.ts";

/**
 * An embedder and the space of what it made, which serve together and are let go together: once another serves and
 * the last query that began with them has ended.
 */
export class Serving implements AsyncDisposable {
  /** As the space is known in the tables. */
  readonly name: string;
  /** Null: it cannot be opened now. */
  readonly embedder: Embedder | null;
  readonly space: VectorSpace | null;
  #users = 0;
  #isRetired = false;
  readonly #unused = Promise.withResolvers<void>();

  constructor(name: string, embedder: Embedder | null, space: VectorSpace | null) {
    this.name = name;
    this.embedder = embedder;
    this.space = space;
  }

  /** Keeps both open until it is disposed. */
  lease(): Disposable {
    this.#users += 1;
    return {
      [Symbol.dispose]: () => {
        this.#users -= 1;
        if (this.#isRetired && this.#users === 0) this.#unused.resolve();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isRetired) return;
    this.#isRetired = true;
    if (this.#users > 0) await this.#unused.promise;
    this.space?.[Symbol.dispose]();
    await this.embedder?.[Symbol.asyncDispose]();
  }
}

/** Those that another has taken the place of, while queries still need them. */
export class Retiring {
  readonly #left = new Set<Promise<void>>();
  readonly #failed: (error: unknown) => void;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Lets go of it, and then of what else it needed, when the last query that needs it has ended. */
  add(serving: Serving, after: () => Promise<void> = async () => {}): void {
    const retired = serving[Symbol.asyncDispose]()
      .then(after)
      .catch(this.#failed)
      .finally(() => this.#left.delete(retired));
    this.#left.add(retired);
  }

  async all(): Promise<void> {
    await Promise.all(this.#left);
  }
}
