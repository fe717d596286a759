import { byUrgency, healthOf, placeText } from "../model/agent-health.ts";
import type { AgentJobs } from "../model/ports.ts";
import type { Action, Agent, TraceEntry } from "../protocol.ts";
import {
  maxActions,
  maxAgentRows,
  maxFailures,
  maxFiles,
  type ActionLine,
  type AgentRow,
  type Failure,
  type Overview,
} from "../webviews/activity/messages.ts";

/** The kernel's data from which the overview is built. */
export interface OverviewParts {
  /** Newest first. */
  readonly actions: readonly Action[];
  /** By name. */
  readonly agents: readonly Agent[];
  jobsOf(agent: string): AgentJobs;
  /** Errors of agents, newest first. */
  readonly errors: readonly TraceEntry[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function overviewOf({ actions, agents, jobsOf, errors, now }: OverviewParts): Overview {
  const lines = actions.slice(0, maxActions).map(lineOf);
  const rows = agents
    .map((agent) => ({ agent, health: healthOf(agent, jobsOf(agent.id).items, now) }))
    .toSorted((one, other) => byUrgency(one.health, other.health))
    .slice(0, maxAgentRows);
  return {
    actions: lines.toSorted((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0)),
    agents: rows.map(({ agent, health: { kind, words, problem, problems } }): AgentRow => ({
      id: agent.id.slice(0, 256),
      kind,
      words: words.slice(0, 400),
      ...(problem === undefined
        ? {}
        : {
            problem: {
              message: problem.message.slice(0, 1_000),
              ...(problem.place === undefined ? {} : { place: placeText(problem.place) }),
              more: Math.max(0, problems - 1),
            },
          }),
    })),
    moreAgents: Math.max(0, agents.length - maxAgentRows),
    failures: failuresOf(errors),
  };
}

function lineOf(action: Action): ActionLine {
  const {
    id,
    agent,
    title,
    state,
    created,
    decided,
    decided_by,
    rule,
    error,
    effects,
    receipt,
    rejected_reason,
  } = action;
  return {
    id,
    agent: agent.slice(0, 256),
    title: title.slice(0, 200),
    state,
    at: receipt?.finished ?? decided ?? created,
    ...(decided_by === undefined ? {} : { decidedBy: decided_by }),
    ...(rule === undefined
      ? {}
      : { rule: { sentence: rule.sentence.slice(0, 1_000), isPlace: rule.place !== undefined } }),
    ...(error === undefined ? {} : { error: error.slice(0, 1_000) }),
    ...(rejected_reason === undefined ? {} : { rejectedReason: rejected_reason.slice(0, 2_000) }),
    files: effects.slice(0, maxFiles).map(({ path, from }) => ({
      path,
      ...(from === undefined ? {} : { from }),
    })),
    effects: effects.length,
    deletes: effects.filter(({ kind }) => kind === "file.delete").length,
    ...(receipt === undefined || receipt.applied.length >= effects.length
      ? {}
      : { applied: receipt.applied.length }),
  };
}

/** The same failure on the same day is listed once, with its count. */
function failuresOf(errors: readonly TraceEntry[]): Failure[] {
  const found = new Map<string, Failure>();
  for (const { timestamp, agent, message } of errors) {
    const key = JSON.stringify([new Date(timestamp).toDateString(), agent, message]);
    const known = found.get(key);
    if (known !== undefined) found.set(key, { ...known, since: timestamp, count: known.count + 1 });
    else if (found.size < maxFailures)
      found.set(key, {
        agent: agent.slice(0, 256),
        message: message.slice(0, 1_000),
        since: timestamp,
        at: timestamp,
        count: 1,
      });
  }
  return [...found.values()];
}
