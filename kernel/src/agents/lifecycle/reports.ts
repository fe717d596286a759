import type { Clock } from "../../base/clock.ts";
import { Emitter } from "../../base/emitter.ts";
import type { Agent } from "../../base/vocabulary/agent.ts";
import { RefusalLog } from "../calls/refusal-log.ts";
import type { WriteTrace } from "../trace-writer.ts";
import type { AgentDefinition } from "../ports.ts";
import { Throttle } from "../throttle.ts";
import { NamedTimers } from "../timers.ts";

/** Events that are counted within this time are told of together. */
const countedAfterMs = 1000;
/** That an agent's jobs are others, or further on, is told no more often. */
export const jobsChangedEveryMs = 1000;

interface ReportPorts {
  readonly id: string;
  readonly clock: Clock;
  describe(): Agent;
  readonly trace: WriteTrace;
}

/** What is told of one agent besides its state, and of many things at once only together. */
export class Reports implements Disposable {
  /** Events were counted, or a handler failed or no longer does; said once for all of a while. */
  readonly counted = new Emitter<Agent>();
  /** Its jobs are others, or further on; said once for all of a while. */
  readonly jobsChanged = new Emitter<string>();
  readonly #ports: ReportPorts;
  readonly #timers: NamedTimers<"counted">;
  readonly #jobsPace: Throttle;
  /** A handler that fails and succeeds in turns is told no more often than what is counted. */
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

  /** An event was counted. */
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

  /** Notes in the agent's traces that it did not get an event. A flood of them is only counted. */
  missed(event: string, how: "withheld" | "dropped", reason: string): void {
    this.#missed.refused(`the event ${event} was ${how}: ${reason}`, { event });
  }

  /** An agent that the person has not allowed is Error in the protocol; that is their decision, and no failure to report. */
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
