/** Is never aborted: for work that nobody can cancel. */
export const neverAborted: AbortSignal = new AbortController().signal;

/**
 * Returns what the work returns, or rejects with the signal's reason as soon as it is aborted. The work itself has to
 * watch the same signal, or is told by `cancel`; what it still returns or throws after that is dropped.
 */
export function unlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  cancel?: () => void,
): Promise<Value> {
  if (signal === neverAborted) return work;
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      reject(signal.reason as Error);
      cancel?.();
    };
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
    // Not `finally`: another promise, for each event of a stream.
    const ended = (): void => signal.removeEventListener("abort", aborted);
    work.then(
      (value) => (ended(), resolve(value)),
      (error: unknown) => (ended(), reject(error as Error)),
    );
  });
}

/**
 * Returns what the work returns, or null as soon as `over` is aborted. A race with a promise that outlives the work would
 * keep each result for as long as that promise lasts.
 */
export async function unlessOver<Value>(work: Promise<Value>, over: AbortSignal): Promise<Value | null> {
  try {
    return await unlessAborted(work, over);
  } catch (error) {
    if (over.aborted) return null;
    throw error;
  }
}

/**
 * A signal that is aborted with either of two. It is made when it is first read, because most calls never read it. Until
 * this is disposed, both signals know it: unlike `AbortSignal.any`, it leaves nothing behind in a signal that outlives it.
 */
export class JoinedSignals implements Disposable {
  readonly #one: AbortSignal;
  readonly #other: AbortSignal;
  #joined: AbortSignal | null = null;
  #isDisposed = false;
  #stop: (() => void) | null = null;

  constructor(one: AbortSignal, other: AbortSignal) {
    this.#one = one;
    this.#other = other;
  }

  get signal(): AbortSignal {
    if (this.#one === neverAborted) return this.#other;
    if (this.#other === neverAborted) return this.#one;
    return (this.#joined ??= this.#join());
  }

  #join(): AbortSignal {
    const both = [this.#one, this.#other];
    const joined = new AbortController();
    const abort = (): void => joined.abort(both.find((signal) => signal.aborted)?.reason);
    if (!this.#isDisposed) {
      for (const signal of both) signal.addEventListener("abort", abort, { once: true });
      this.#stop = () => both.forEach((signal) => signal.removeEventListener("abort", abort));
    }
    if (both.some((signal) => signal.aborted)) abort();
    return joined.signal;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#stop?.();
  }
}
