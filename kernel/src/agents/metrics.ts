import type { AgentMetrics } from "../base/vocabulary/agent.ts";

/** Number of recent latencies stored for the percentile. */
const latencySamples = 1024;

/** One agent's figures since the kernel started. Memory figures come from its room, today's count from `DayCounts`. */
export class MetricsRecorder {
  #received = 0;
  #processed = 0;
  #failed = 0;
  #latencySumMs = 0;
  #latencyCount = 0;
  readonly #latencies: number[] = [];
  #cpuOfEndedGuestsMs = 0;
  #cpuOfGuestMs = 0;
  #peakMemoryBytes = 0;
  #wakeups = 0;
  #refusals = 0;
  readonly #jobs = { dispatched: 0, completed: 0, failed: 0, cancelled: 0 };

  received(count = 1): void {
    this.#received += count;
  }

  /** A handler answered, with success or an error, `latencyMs` after the event was handed to the guest. */
  answered(outcome: "processed" | "failed", latencyMs: number): void {
    if (outcome === "processed") this.#processed += 1;
    else this.#failed += 1;
    this.#latencySumMs += latencyMs;
    this.#latencies[this.#latencyCount % latencySamples] = latencyMs;
    this.#latencyCount += 1;
  }

  wokeUp(): void {
    this.#wakeups += 1;
  }

  job(what: "dispatched" | "completed" | "failed" | "cancelled"): void {
    this.#jobs[what] += 1;
  }

  refused(): void {
    this.#refusals += 1;
  }

  /** The resources that the running guest has used so far. */
  usage(cpuTimeMs: number, memoryBytes: number): void {
    this.#cpuOfGuestMs = Math.max(this.#cpuOfGuestMs, cpuTimeMs);
    this.#peakMemoryBytes = Math.max(this.#peakMemoryBytes, memoryBytes);
  }

  /** The guest is gone; the next one starts at zero. */
  guestEnded(): void {
    this.#cpuOfEndedGuestsMs += this.#cpuOfGuestMs;
    this.#cpuOfGuestMs = 0;
  }

  /** Events that handlers answered, with success or an error. */
  get eventsAnswered(): number {
    return this.#processed + this.#failed;
  }

  /** Events and jobs that ended with an error. */
  get failed(): { readonly events: number; readonly jobs: number } {
    return { events: this.#failed, jobs: this.#jobs.failed };
  }

  get refusals(): number {
    return this.#refusals;
  }

  snapshot(memory: MemoryFigures, eventsToday: number): AgentMetrics {
    const sorted = this.#latencies.toSorted((a, b) => a - b);
    return {
      events_today: eventsToday,
      events_received: this.#received,
      events_processed: this.#processed,
      events_failed: this.#failed,
      avg_event_latency_ms: rounded(this.#latencyCount === 0 ? 0 : this.#latencySumMs / this.#latencyCount),
      p99_event_latency_ms: rounded(sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0),
      temporal_events_count: memory.temporalEvents,
      knowledge_items_count: memory.knowledgeItems,
      memory_size_bytes: memory.sizeBytes,
      jobs_dispatched: this.#jobs.dispatched,
      jobs_completed: this.#jobs.completed,
      jobs_failed: this.#jobs.failed,
      ...(this.#jobs.cancelled === 0 ? {} : { jobs_cancelled: this.#jobs.cancelled }),
      cpu_time_ms: rounded(this.#cpuOfEndedGuestsMs + this.#cpuOfGuestMs),
      peak_memory_bytes: this.#peakMemoryBytes,
      wakeups: this.#wakeups,
    };
  }
}

export interface MemoryFigures {
  readonly temporalEvents: number;
  readonly knowledgeItems: number;
  readonly sizeBytes: number;
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
