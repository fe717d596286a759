import { cpuBefore, guestState, slot } from "./observation.ts";
import { hostBounds } from "./bounds.ts";
import type { UsageSample } from "./frames.ts";
import type { SdkThread } from "./sdk-threads.ts";

/**
 * Looks at a guest's CPU time and memory while it does something, and once more when it has stopped, so that the
 * last figures are exact. While it waits nothing runs here: the guest's own next step wakes the sampler.
 */
export class UsageSampler {
  readonly #thread: SdkThread;
  readonly #report: (sample: UsageSample) => void;
  #isStopped = false;

  constructor(thread: SdkThread, report: (sample: UsageSample) => void) {
    this.#thread = thread;
    this.#report = report;
  }

  /** Resolves once stopped or once the thread is gone. */
  async run(): Promise<void> {
    const { slots } = this.#thread.observation;
    let wakesSeen = -1;
    while (!this.#isStopped) {
      await new Promise((resolve) => setTimeout(resolve, hostBounds.usageIntervalMs));
      const wakes = Atomics.load(slots, slot.wakes);
      if (!(await this.sample())) return;
      const isQuiet = wakes === wakesSeen && Atomics.load(slots, slot.state) === guestState.waiting;
      wakesSeen = wakes;
      if (!isQuiet) continue;
      Atomics.store(slots, slot.isAwaited, 1);
      // Where the guest woke in between, the count has moved on and this does not wait.
      const wait = Atomics.waitAsync(slots, slot.wakes, wakes);
      if (wait.async) await wait.value;
    }
  }

  /** Reports once; false where the thread is gone. */
  async sample(): Promise<boolean> {
    const { slots, times } = this.#thread.observation;
    try {
      const isComputing = Atomics.load(slots, slot.state) === guestState.computing;
      const { user, system } = await this.#thread.worker.cpuUsage();
      this.#report({
        cpuTimeMs: Math.max(0, (user + system - (times[cpuBefore] ?? 0)) / 1000),
        memoryBytes: Atomics.load(slots, slot.pages) * 65_536,
        isComputing,
      });
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_NOT_RUNNING") return false;
      throw error;
    }
  }

  stop(): void {
    this.#isStopped = true;
    Atomics.notify(this.#thread.observation.slots, slot.wakes);
  }
}
