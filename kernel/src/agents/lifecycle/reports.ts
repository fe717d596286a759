import type { Clock } from "../../base/clock.ts";
import { Emitter } from "../../base/emitter.ts";
import type { Agent } from "../../base/vocabulary/agent.ts";
import { RefusalLog } from "../calls/refusal-log.ts";
import type { WriteTrace } from "../trace-writer.ts";
import type { AgentDefinition } from "../ports.ts";
import { Throttle } from "../throttle.ts";
import { NamedTimers } from "../timers.ts";

/** Interval in which counted events are reported together. */
const countedAfterMs = 1000;
/** Minimum interval between two reports of an agent's job changes. */
export const jobsChangedEveryMs = 1000;

interface ReportPorts {
  readonly id: string;
  readonly clock: Clock;
  describe(): Agent;
  readonly trace: WriteTrace;
}

/** Reports about one agent apart from its state, throttled. */
export class Reports implements Disposable {
  /** Events were counted, or a handler started or stopped failing; throttled. */
  readonly counted = new Emitter<Agent>();
  /** Its jobs changed or progressed; throttled. */
  readonly jobsChanged = new Emitter<string>();
  readonly #ports: ReportPorts;
  readonly #timers: NamedTimers<"counted">;
  readonly #jobsPace: Throttle;
  /** A handler that alternates between failure and success is reported no more often than the counts. */
  readonly #failuresPace: Throttle;
  readonly #missed: RefusalLog;

  constructor(ports: ReportPorts) {
    const { id, clock, trace } = ports;
    this.#ports = ports;
    this.#timers = new NamedTimers(clock);
    this.#jobsPace = new Throttle(clock, jobsChangedEveryMs, () => this.jobsChanged.emit(id));
    this.#failuresPace = new Throttle(clock, countedAfterMs, () => this.tellCounts());
    this.#missed = new RefusalLog(clock, (message, fields) => trace("warn", message, fields));
  }

  /** Counts an event. */
  hasCounted(): void {
    if (!this.#timers.has("counted")) this.#timers.set("counted", countedAfterMs, () => this.tellCounts());
  }

  tellCounts(): void {
    this.counted.emit(this.#ports.describe());
  }

  failuresChanged(): void {
    this.#failuresPace.changed();
  }

  jobsHaveChanged(): void {
    this.#jobsPace.changed();
  }

  /** Writes to the agent's traces that it did not receive an event. A flood is only counted. */
  missed(event: string, how: "withheld" | "dropped", reason: string): void {
    this.#missed.refused(`the event ${event} was ${how}: ${reason}`, { event });
  }

  /**
   * An agent that the user has not allowed is Error in the protocol, but that is a decision, not a failure to
   * report.
   */
  trouble(state: "Suspended" | "Error", reason: string, { awaiting }: AgentDefinition): void {
    const { trace } = this.#ports;
    if (state === "Error" && awaiting !== undefined) trace("info", `needs your permission: ${reason}`);
    else trace(state === "Error" ? "error" : "warn", `${state}: ${reason}`);
  }

  [Symbol.dispose](): void {
    this.#timers[Symbol.dispose]();
    this.#missed[Symbol.dispose]();
    this.#jobsPace[Symbol.dispose]();
    this.#failuresPace[Symbol.dispose]();
  }
}
