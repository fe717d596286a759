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
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}

/**
 * Returns a signal that is aborted with either of the two. Until it is disposed, both know it: unlike `AbortSignal.any`,
 * it leaves nothing behind in a signal that outlives it.
 */
export function joinSignals(
  one: AbortSignal,
  other: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  if (one === neverAborted || other === neverAborted)
    return { signal: one === neverAborted ? other : one, [Symbol.dispose]: () => undefined };
  const joined = new AbortController();
  const abort = (): void => joined.abort(one.aborted ? one.reason : other.reason);
  for (const signal of [one, other]) {
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
  }
  return {
    signal: joined.signal,
    [Symbol.dispose]: () => {
      for (const signal of [one, other]) signal.removeEventListener("abort", abort);
    },
  };
}
