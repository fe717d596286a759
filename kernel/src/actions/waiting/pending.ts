import type { Clock } from "../../base/clock.ts";
import { limitExceeded } from "../../base/errors.ts";
import { actionLimits } from "../limits.ts";

/** The time after which a changed setting is noticed at the latest. */
const longestWaitMs = 3_600_000;

interface Waiting {
  readonly agent: string;
  readonly created: number;
  readonly bytes: number;
}

/** Tracks the actions that wait for a person: their number per agent, and when the next of them expires. */
export class PendingActions implements Disposable {
  readonly #clock: Clock;
  readonly #expireAfterMs: () => number;
  readonly #expire: (id: string) => void;
  /** Oldest first. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #perAgent = new Map<string, { readonly count: number; readonly bytes: number }>();
  #timer: Disposable | null = null;

  constructor(clock: Clock, expireAfterMs: () => number, expire: (id: string) => void) {
    this.#clock = clock;
    this.#expireAfterMs = expireAfterMs;
    this.#expire = expire;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Throws LimitExceeded if another action of this size would exceed the agent's limits. The actions that it supersedes
   * do not count.
   */
  checkRoom(agent: string, bytes: number, superseded: readonly string[]): void {
    const waiting = { ...this.#of(agent) };
    for (const id of superseded) {
      const going = this.#waiting.get(id);
      if (going === undefined) continue;
      waiting.count -= 1;
      waiting.bytes -= going.bytes;
    }
    if (waiting.count >= actionLimits.pendingPerAgent) {
      throw limitExceeded(
        "pendingPerAgent",
        waiting.count,
        `${waiting.count} actions of ${agent} wait for approval, which is the maximum. Approve or reject some first.`,
      );
    }
    const together = waiting.bytes + bytes;
    if (together <= actionLimits.pendingBytesPerAgent) return;
    throw limitExceeded(
      "pendingBytesPerAgent",
      together,
      `The waiting actions of ${agent} would need ${together} bytes; at most ${actionLimits.pendingBytesPerAgent} are stored. Approve or reject some first.`,
    );
  }

  /** Adds an action of this size. */
  add(id: string, agent: string, created: number, bytes: number): void {
    if (this.#waiting.has(id)) return;
    this.#waiting.set(id, { agent, created, bytes });
    const before = this.#of(agent);
    this.#perAgent.set(agent, { count: before.count + 1, bytes: before.bytes + bytes });
    if (this.#timer === null) this.#schedule();
  }

  remove(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    const before = this.#of(waiting.agent);
    const left = { count: before.count - 1, bytes: before.bytes - waiting.bytes };
    if (left.count > 0) this.#perAgent.set(waiting.agent, left);
    else this.#perAgent.delete(waiting.agent);
  }

  isOverdue(id: string): boolean {
    const waiting = this.#waiting.get(id);
    return waiting !== undefined && this.#dueAt(waiting) <= this.#clock.now();
  }

  /** Expires overdue actions and sets the timer for the next one. */
  sweep(): void {
    const waiting = Array.from(this.#waiting.keys());
    for (const id of waiting) if (this.isOverdue(id)) this.#expire(id);
    this.#schedule();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
  }

  #of(agent: string): { readonly count: number; readonly bytes: number } {
    return this.#perAgent.get(agent) ?? { count: 0, bytes: 0 };
  }

  #dueAt(waiting: Waiting): number {
    return waiting.created + this.#expireAfterMs();
  }

  #schedule(): void {
    this[Symbol.dispose]();
    const now = this.#clock.now();
    let due = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting.values()) {
      const at = this.#dueAt(waiting);
      // Overdue actions were handed over above and are about to be removed.
      if (at > now) due = Math.min(due, at);
    }
    if (this.#waiting.size === 0) return;
    this.#timer = this.#clock.timer(Math.min(due - now, longestWaitMs), () => this.sweep());
  }
}
