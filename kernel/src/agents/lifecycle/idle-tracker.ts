import type { Clock } from "../../base/clock.ts";

/** An agent that is at work keeps its place for so long at least, whoever waits for it. */
export const placeTurnMs = 5000;

interface IdleTrackerPorts {
  readonly clock: Clock;
  readonly idleUnloadMs: () => number;
  readonly isActive: () => boolean;
  /** It hands events over, or waits for their answers. */
  readonly isDelivering: () => boolean;
  /** It does something beside what is asked of its guest here, or would at once. */
  readonly isAtWork: () => boolean;
  /** Another agent waits for a place. */
  readonly isPlaceWanted: () => boolean;
  /** Nothing is open any more. */
  readonly rested: () => void;
  /** Lets the guest go; its memory is in the journal, and the next event wakes it. */
  readonly unload: () => void;
}

/** How long an agent's guest stays: what is asked of it, since when it rests, and when its place is for others. */
export class IdleTracker implements Disposable {
  readonly #ports: IdleTrackerPorts;
  #openRequests = 0;
  /** Tool calls, from the moment they wait for the agent to be awake. */
  #openCalls = 0;
  #lastActivity: number;
  #activeSince = 0;
  #idle: Disposable | null = null;

  constructor(ports: IdleTrackerPorts) {
    this.#ports = ports;
    this.#lastActivity = ports.clock.monotonic();
  }

  /** Of requests to the guest. */
  get hasNothingOpen(): boolean {
    return this.#openRequests === 0;
  }

  /** In monotonic milliseconds. */
  get lastActivity(): number {
    return this.#lastActivity;
  }

  /** In monotonic milliseconds; null where the agent does something, or would at once. */
  get idleSince(): number | null {
    const { isActive, isAtWork } = this.#ports;
    const isIdle = isActive() && this.#openRequests === 0 && this.#openCalls === 0 && !isAtWork();
    return isIdle ? this.#lastActivity : null;
  }

  /** Its turn begins. */
  began(): void {
    this.#activeSince = this.#ports.clock.monotonic();
  }

  /** A request to the guest, counted as work in hand. */
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

  /** Nobody lets the guest go that a tool call wakes, before it has it. */
  async call<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#openCalls += 1;
    try {
      return await work();
    } finally {
      this.#openCalls -= 1;
    }
  }

  /** Sets the clock for unloading, where it may have come to rest. */
  watch(): void {
    const { clock, isActive, isDelivering, idleUnloadMs } = this.#ports;
    this.ended();
    if (!isActive() || this.#openRequests > 0 || isDelivering()) return;
    this.#idle = clock.timer(idleUnloadMs(), () => this.unloadIfIdle());
  }

  /** The guest goes. */
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

  /** True where another waits for its place, it had its turn, and no more than so many requests are in hand. */
  mayMakeRoom(openRequests: number): boolean {
    const { clock, isPlaceWanted } = this.#ports;
    const hadItsTurn = clock.monotonic() - this.#activeSince >= placeTurnMs;
    return this.#openRequests <= openRequests && hadItsTurn && isPlaceWanted();
  }
}
