import * as v from "valibot";
import { AgentState, commonPushes, commonRequests, Count, Id, Nothing, Text } from "../shared/situation.ts";

/** Days that the charts show, today included; by UTC, as the kernel counts. */
export const shownDays = 14;
/** Actions that the charts are made from, the newest. */
export const maxActions = 500;
/** Agents that have a line in the table. */
export const maxAgentRows = 200;
/** Warnings and errors that are shown. */
export const maxProblems = 10;

const Amount = v.pipe(v.number(), v.minValue(0));

export const ActionState = v.picklist([
  "PendingApproval",
  "Approved",
  "Committing",
  "Committed",
  "Rejected",
  "Failed",
  "Stale",
  "Expired",
  "Undone",
]);

/** An action without its effects. */
export const ActionLine = v.object({
  id: Id,
  agent: Text(256),
  title: Text(200),
  state: ActionState,
  created: Text(40),
  decided: v.optional(Text(40)),
  decidedBy: v.optional(v.picklist(["user", "policy"])),
  error: v.optional(Text(1_000)),
  effects: Count,
  /** So many of them were applied, where a person let a part of it happen. */
  applied: v.optional(Count),
});
export type ActionLine = v.InferOutput<typeof ActionLine>;

export const AgentFigures = v.object({
  id: Text(256),
  state: AgentState,
  eventsToday: Count,
  /** Answered since the kernel started, as all that follow. */
  events: Count,
  failed: Count,
  jobs: Count,
  jobsFailed: Count,
  averageLatencyMs: Amount,
  cpuMs: Amount,
  wakeups: Count,
  memoryBytes: Count,
  /** What it remembered, by day; absent where the kernel would not say. */
  remembered: v.optional(v.record(Text(40), Count)),
});
export type AgentFigures = v.InferOutput<typeof AgentFigures>;

export const Problem = v.object({
  timestamp: Text(40),
  level: v.picklist(["warn", "error"]),
  agent: Text(256),
  message: Text(1_000),
});
export type Problem = v.InferOutput<typeof Problem>;

export const Overview = v.object({
  /** Of all agents. */
  eventsToday: Count,
  /** Since the kernel started; absent until it said so. */
  totals: v.optional(v.object({ actions: Count, refusals: Count })),
  /** Newest first. */
  actions: v.pipe(v.array(ActionLine), v.maxLength(maxActions)),
  agents: v.pipe(v.array(AgentFigures), v.maxLength(maxAgentRows)),
  /** Agents beyond those. */
  moreAgents: Count,
  /** Newest first. */
  problems: v.pipe(v.array(Problem), v.maxLength(maxProblems)),
});
export type Overview = v.InferOutput<typeof Overview>;

export const activityContract = {
  requests: {
    ...commonRequests,
    overview: { params: Nothing, result: Overview },
    /** Shows an action's changes in the editor. */
    showChanges: { params: v.object({ id: Id }), result: Nothing },
    /** Shows the traces of an agent. */
    showTraces: { params: v.object({ agent: Text(256) }), result: Nothing },
    /** Shows the view where actions are approved. */
    showApprovals: { params: Nothing, result: Nothing },
  },
  pushes: {
    ...commonPushes,
    /** The figures are others now. At most one in `minChangeMs`. */
    changed: Nothing,
  },
};
export type ActivityContract = typeof activityContract;
