import type { Clock } from "../base/clock.ts";

/** The longest delay that setTimeout supports; a longer one would fire at once. */
const longestDelayMs = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(delayMs, run) {
    const dueMs = performance.now() + delayMs;
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const leftMs = dueMs - performance.now();
      // setTimeout counts whole milliseconds and may call up to one too early.
      const end = (): void => (dueMs > performance.now() ? arm() : run());
      handle = setTimeout(end, Math.min(Math.max(0, Math.ceil(leftMs)), longestDelayMs));
      handle.unref();
    };
    arm();
    return { [Symbol.dispose]: () => clearTimeout(handle) };
  },
};
