import type { Embedder } from "../../embedding/port.ts";
import type { VectorSpace } from "./vector-space.ts";

/**
 * An embedder and the space of its vectors. They serve together, and are closed together once another
 * embedder serves and the last query that began with them has ended.
 */
export class Serving implements AsyncDisposable {
  /** The name of the space in the tables. */
  readonly name: string;
  /** Null if the embedder cannot be opened now. */
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

/** Replaced embedders and spaces that queries still use. */
export class Retiring {
  readonly #left = new Set<Promise<void>>();
  readonly #failed: (error: unknown) => void;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Disposes of `serving` when the last query that uses it has ended; then calls `after`. */
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
