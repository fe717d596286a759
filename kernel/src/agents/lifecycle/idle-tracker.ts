import type { Clock } from "../../base/clock.ts";

/** Minimum time that a busy agent keeps its place while others wait. */
export const placeTurnMs = 5000;

interface IdleTrackerPorts {
  readonly clock: Clock;
  readonly idleUnloadMs: () => number;
  readonly isActive: () => boolean;
  /** It is delivering events or waiting for their answers. */
  readonly isDelivering: () => boolean;
  /** It has other work, or would have it immediately. */
  readonly isAtWork: () => boolean;
  /** Another agent waits for a place. */
  readonly isPlaceWanted: () => boolean;
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
      this.#lastActivity = this.#ports.clock.monotonic();
      if (this.#openRequests === 0) {
        this.watch();
        this.#ports.rested();
      }
    }
  }

  /** Keeps the guest loaded while a tool call is waking it. */
  async call<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#openCalls += 1;
    try {
      return await work();
    } finally {
      this.#openCalls -= 1;
    }
  }

  /** Sets the timer for unloading if the agent may be idle. */
  watch(): void {
    const { clock, isActive, isDelivering, idleUnloadMs } = this.#ports;
    this.ended();
    if (!isActive() || this.#openRequests > 0 || isDelivering()) return;
    this.#idle = clock.timer(idleUnloadMs(), () => this.unloadIfIdle());
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
