import type { Clock } from "../../base/clock.ts";

/** Minimum time that a busy agent keeps its place while others wait, and an idle one while too many are loaded. */
export const placeTurnMs = 5000;

interface IdleTrackerPorts {
  readonly clock: Clock;
  readonly idleUnloadMs: () => number;
  readonly isActive: () => boolean;
  /** It is delivering events or waiting for their answers. */
  readonly isDelivering: () => boolean;
  /** It has other work, or would have it immediately. */
  readonly isAtWork: () => boolean;
  /** Another agent waits for a place, or has one that is beyond the limit. */
  readonly isPlaceWanted: () => boolean;
  /** More agents are loaded than may be in the long run. */
  readonly isCrowded: () => boolean;
  /** Somebody waits for its answer from now on, and it may not be loaded yet. */
  readonly called: () => void;
  /** Nothing is open any more. */
  readonly rested: () => void;
  /** Unloads the guest. Its memory is in the journal, and the next event wakes it. */
  readonly unload: () => void;
}

/** Decides how long an agent's guest stays loaded, from its open requests, its idle time and the agents that wait. */
export class IdleTracker implements Disposable {
  readonly #ports: IdleTrackerPorts;
  #openRequests = 0;
  /** Tool calls, including those that still wait for the agent to wake. */
  #openCalls = 0;
  #lastActivity: number;
  #activeSince = 0;
  #idle: Disposable | null = null;

  constructor(ports: IdleTrackerPorts) {
    this.#ports = ports;
    this.#lastActivity = ports.clock.monotonic();
  }

  /** Number of open requests to the guest. */
  get hasNothingOpen(): boolean {
    return this.#openRequests === 0;
  }

  /** In monotonic milliseconds. */
  get lastActivity(): number {
    return this.#lastActivity;
  }

  /** Somebody waits for its answer. */
  get isAwaited(): boolean {
    return this.#openCalls > 0;
  }

  /** In monotonic milliseconds; null while the agent has work, or would have it immediately. */
  get idleSince(): number | null {
    const { isActive, isAtWork } = this.#ports;
    const isIdle = isActive() && this.#openRequests === 0 && this.#openCalls === 0 && !isAtWork();
    return isIdle ? this.#lastActivity : null;
  }

  /** The agent's turn begins. */
  began(): void {
    this.#activeSince = this.#ports.clock.monotonic();
  }

  /** Runs a request to the guest, counted as open work. */
  async request<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#openRequests += 1;
    try {
      return await work();
    } finally {
      this.#openRequests -= 1;
      this.#ended();
    }
  }

  /** Keeps the guest loaded while a tool call is waking it. */
  async call<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#openCalls += 1;
    this.#ports.called();
    try {
      return await work();
    } finally {
      this.#openCalls -= 1;
      this.#ended();
    }
  }

  #ended(): void {
    this.#lastActivity = this.#ports.clock.monotonic();
    if (this.#openRequests > 0 || this.#openCalls > 0) return;
    this.watch();
    this.#ports.rested();
  }

  /** Sets the timer for unloading if the agent may be idle. */
  watch(): void {
    const { clock, isActive, isDelivering } = this.#ports;
    this.ended();
    if (!isActive() || this.#openRequests > 0 || this.#openCalls > 0 || isDelivering()) return;
    const restMs = this.#restMs;
    this.#idle = clock.timer(restMs, () => {
      // It may have been crowded when the timer was set.
      if (clock.monotonic() - this.#lastActivity < this.#restMs) this.watch();
      else this.unloadIfIdle();
    });
  }

  get #restMs(): number {
    const { idleUnloadMs, isCrowded } = this.#ports;
    return isCrowded() ? Math.min(placeTurnMs, idleUnloadMs()) : idleUnloadMs();
  }

  /** The guest is being unloaded. */
  ended(): void {
    this.#idle?.[Symbol.dispose]();
    this.#idle = null;
  }

  [Symbol.dispose](): void {
    this.ended();
  }

  unloadIfIdle(): void {
    if (this.idleSince !== null) this.#ports.unload();
  }

  /** True if another agent waits for its place, its turn is over, and at most this many requests are open. */
  mayMakeRoom(openRequests: number): boolean {
    const { clock, isPlaceWanted } = this.#ports;
    const hadItsTurn = clock.monotonic() - this.#activeSince >= placeTurnMs;
    return this.#openRequests <= openRequests && hadItsTurn && isPlaceWanted();
  }
}
