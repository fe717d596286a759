import { performance } from "node:perf_hooks";
import type { Clock } from "../base/clock.ts";

/** The longest delay that setTimeout supports; a longer one would fire at once. */
const longestDelayMs = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(delayMs, run) {
    let handle: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, longestDelayMs);
      handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : run()), Math.max(0, stepMs));
      handle.unref();
    };
    arm(delayMs);
    return { [Symbol.dispose]: () => clearTimeout(handle) };
  },
};
