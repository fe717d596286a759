import type { Clock } from "./clock.ts";

/** Resolves after the time, or as soon as the signal is aborted. */
export function waitUnlessAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      timer[Symbol.dispose]();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.timer(ms, end);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}
