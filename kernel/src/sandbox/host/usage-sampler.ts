import { systemCode } from "../../base/errors.ts";
import { guestState, slot, time } from "./observation.ts";
import { hostBounds } from "./bounds.ts";
import type { UsageSample } from "./frame-types.ts";
import type { SdkThread } from "./sdk-threads.ts";
import { lowerThreadPriority } from "../../platform/processes/thread-priority.ts";

/**
 * Samples a guest's CPU time and memory while it is active, and once when it has stopped, so that the last figures
 * are exact. While the guest waits, nothing runs here: the guest's own next step wakes the sampler.
 */
export class UsageSampler {
  readonly #thread: SdkThread;
  readonly #report: (sample: UsageSample) => void;
  #isStopped = false;
  /** CPU time when the current turn was first seen, and the count of wakes that identifies the turn. */
  #turn = { wakes: -1, cpuTimeMs: 0 };
  #hasSteppedBack = false;

  constructor(thread: SdkThread, report: (sample: UsageSample) => void) {
    this.#thread = thread;
    this.#report = report;
  }

  /** Resolves when the sampler is stopped or the thread has ended. */
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

  /** Resolves when the guest has returned from a waiting call more than `wakes` times. */
  async #wakeAfter(wakes: number): Promise<void> {
    const { slots } = this.#thread.observation;
    Atomics.store(slots, slot.isAwaited, 1);
    // If the guest woke in between, the count has changed and this does not wait.
    const wait = Atomics.waitAsync(slots, slot.wakes, wakes);
    if (wait.async) await wait.value;
  }

  /** Reports once. Returns false if the thread has ended. */
  async sample(): Promise<boolean> {
    const { slots, times } = this.#thread.observation;
    try {
      const isComputing = Atomics.load(slots, slot.state) === guestState.computing;
      const { user, system } = await this.#thread.worker.cpuUsage();
      // The answer of a thread that has ended may arrive after its last figures.
      if (this.#isStopped) return false;
      const cpuTimeMs = Math.max(0, (user + system - (times[time.cpuBefore] ?? 0)) / 1000);
      this.#yieldWhereLong(Atomics.load(slots, slot.wakes), cpuTimeMs);
      this.#report({ cpuTimeMs, memoryBytes: this.#memoryBytes(), isComputing });
      return true;
    } catch (error) {
      if (systemCode(error) === "ERR_WORKER_NOT_RUNNING") return false;
      throw error;
    }
  }

  /**
   * Lowers the priority of a thread that computes for long, so that it takes nothing from other guests until its
   * limit terminates it.
   */
  #yieldWhereLong(wakes: number, cpuTimeMs: number): void {
    if (this.#hasSteppedBack) return;
    if (wakes !== this.#turn.wakes) {
      this.#turn = { wakes, cpuTimeMs };
      return;
    }
    if (cpuTimeMs - this.#turn.cpuTimeMs < hostBounds.longTurnMs) return;
    this.#hasSteppedBack = true;
    lowerThreadPriority(
      Atomics.load(this.#thread.observation.slots, slot.threadId),
      hostBounds.longTurnNiceness,
    );
  }

  #memoryBytes(): number {
    return Atomics.load(this.#thread.observation.slots, slot.pages) * 65_536;
  }

  /** Stops sampling. If the program ended by itself, reports the usage that its thread recorded at the end. */
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
