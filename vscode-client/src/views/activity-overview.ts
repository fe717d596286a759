import type { Action, Agent, Status, TraceEntry } from "../protocol.ts";
import {
  maxActions,
  maxAgentRows,
  maxProblems,
  type ActionLine,
  type AgentFigures,
  type Overview,
  type Problem,
} from "../webviews/activity/messages.ts";

/** What the kernel said, as the view is told it. */
export interface OverviewParts {
  readonly status: Status | undefined;
  /** Newest first. */
  readonly actions: readonly Action[];
  readonly agents: readonly Agent[];
  /** By agent and day. */
  readonly remembered: ReadonlyMap<string, Readonly<Record<string, number>>>;
  /** Newest first. */
  readonly problems: readonly TraceEntry[];
}

export function overviewOf({ status, actions, agents, remembered, problems }: OverviewParts): Overview {
  return {
    eventsToday: agents.reduce((sum, { metrics }) => sum + metrics.events_today, 0),
    ...(status === undefined
      ? {}
      : { totals: { actions: status.totals.actions, refusals: status.totals.refusals } }),
    actions: actions.slice(0, maxActions).map(lineOf),
    agents: agents.slice(0, maxAgentRows).map((agent) => figuresOf(agent, remembered.get(agent.id))),
    moreAgents: Math.max(0, agents.length - maxAgentRows),
    problems: problems.flatMap(problemOf).slice(0, maxProblems),
  };
}

function lineOf({
  id,
  agent,
  title,
  state,
  created,
  decided,
  decided_by,
  error,
  effects,
  receipt,
}: Action): ActionLine {
  return {
    id,
    agent: agent.slice(0, 256),
    title: title.slice(0, 200),
    state,
    created,
    ...(decided === undefined ? {} : { decided }),
    ...(decided_by === undefined ? {} : { decidedBy: decided_by }),
    ...(error === undefined ? {} : { error: error.slice(0, 1_000) }),
    effects: effects.length,
    ...(receipt === undefined || receipt.applied.length >= effects.length
      ? {}
      : { applied: receipt.applied.length }),
  };
}

function figuresOf(
  { id, state, metrics }: Agent,
  remembered: Readonly<Record<string, number>> | undefined,
): AgentFigures {
  return {
    id: id.slice(0, 256),
    state,
    eventsToday: metrics.events_today,
    events: metrics.events_processed + metrics.events_failed,
    failed: metrics.events_failed,
    jobs: metrics.jobs_completed,
    jobsFailed: metrics.jobs_failed,
    averageLatencyMs: metrics.avg_event_latency_ms,
    cpuMs: metrics.cpu_time_ms,
    wakeups: metrics.wakeups,
    memoryBytes: metrics.memory_size_bytes,
    ...(remembered === undefined ? {} : { remembered }),
  };
}

function problemOf({ timestamp, level, agent, message }: TraceEntry): Problem[] {
  if (level !== "warn" && level !== "error") return [];
  return [{ timestamp, level, agent: agent.slice(0, 256), message: message.slice(0, 1_000) }];
}
