import { guestState, slot, time } from "./observation.ts";
import { hostBounds } from "./bounds.ts";
import type { UsageSample } from "./frame-types.ts";
import type { SdkThread } from "./sdk-threads.ts";
import { stepBack } from "../../platform/processes/thread-priority.ts";

/**
 * Looks at a guest's CPU time and memory while it does something, and once more when it has stopped, so that the
 * last figures are exact. While it waits nothing runs here: the guest's own next step wakes the sampler.
 */
export class UsageSampler {
  readonly #thread: SdkThread;
  readonly #report: (sample: UsageSample) => void;
  #isStopped = false;
  /** CPU time when the turn that is under way was first seen, and the count of wakes that tells it from the next. */
  #turn = { wakes: -1, cpuTimeMs: 0 };
  #hasSteppedBack = false;

  constructor(thread: SdkThread, report: (sample: UsageSample) => void) {
    this.#thread = thread;
    this.#report = report;
  }

  /** Resolves once stopped or once the thread is gone. */
  async run(): Promise<void> {
    const { slots } = this.#thread.observation;
    let wakesSeen = -1;
    while (Atomics.load(slots, slot.state) === guestState.none) await this.#wakeAfter(0);
    while (!this.#isStopped) {
      await new Promise((resolve) => setTimeout(resolve, hostBounds.usageIntervalMs));
      const wakes = Atomics.load(slots, slot.wakes);
      if (!(await this.sample())) return;
      const isQuiet = wakes === wakesSeen && Atomics.load(slots, slot.state) === guestState.waiting;
      wakesSeen = wakes;
      if (!isQuiet) continue;
      await this.#wakeAfter(wakes);
    }
  }

  /** Resolves when the guest came back from a call that may wait, or begins, after so many times that it did. */
  async #wakeAfter(wakes: number): Promise<void> {
    const { slots } = this.#thread.observation;
    Atomics.store(slots, slot.isAwaited, 1);
    // Where the guest woke in between, the count has moved on and this does not wait.
    const wait = Atomics.waitAsync(slots, slot.wakes, wakes);
    if (wait.async) await wait.value;
  }

  /** Reports once; false where the thread is gone. */
  async sample(): Promise<boolean> {
    const { slots, times } = this.#thread.observation;
    try {
      const isComputing = Atomics.load(slots, slot.state) === guestState.computing;
      const { user, system } = await this.#thread.worker.cpuUsage();
      // What was asked of a thread that ended meanwhile may be answered after its last figures.
      if (this.#isStopped) return false;
      const cpuTimeMs = Math.max(0, (user + system - (times[time.cpuBefore] ?? 0)) / 1000);
      this.#yieldWhereLong(Atomics.load(slots, slot.wakes), cpuTimeMs);
      this.#report({ cpuTimeMs, memoryBytes: this.#memoryBytes(), isComputing });
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_NOT_RUNNING") return false;
      throw error;
    }
  }

  /** So that who computes for ever, or for long, takes nothing from its neighbours until its limit ends it. */
  #yieldWhereLong(wakes: number, cpuTimeMs: number): void {
    if (this.#hasSteppedBack) return;
    if (wakes !== this.#turn.wakes) {
      this.#turn = { wakes, cpuTimeMs };
      return;
    }
    if (cpuTimeMs - this.#turn.cpuTimeMs < hostBounds.longTurnMs) return;
    this.#hasSteppedBack = true;
    stepBack(Atomics.load(this.#thread.observation.slots, slot.threadId), hostBounds.longTurnNiceness);
  }

  #memoryBytes(): number {
    return Atomics.load(this.#thread.observation.slots, slot.pages) * 65_536;
  }

  /** The program ended by itself: reports what it has used, which its thread wrote down. */
  stop(): void {
    this.#isStopped = true;
    const { slots, times } = this.#thread.observation;
    Atomics.notify(slots, slot.wakes);
    const cpuAfter = times[time.cpuAfter] ?? 0;
    if (cpuAfter === 0) return;
    const cpuTimeMs = Math.max(0, (cpuAfter - (times[time.cpuBefore] ?? 0)) / 1000);
    this.#report({ cpuTimeMs, memoryBytes: this.#memoryBytes(), isComputing: false });
  }
}
