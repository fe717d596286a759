import * as v from "valibot";
import { commonPushes, commonRequests, Count, Id, Nothing, Text } from "../shared/common-state.ts";

/** The number of actions in the timeline, newest first. */
export const maxActions = 500;
/** The number of agents with a row. */
export const maxAgentRows = 200;
/** The number of files of one action that are named. */
export const maxFiles = 5;
/** The number of different failures in the timeline. */
export const maxFailures = 200;

/** The kinds of status that a person should know about, the most urgent first. */
const healthKinds = [
  "manifest",
  "error",
  "failed",
  "permission",
  "suspended",
  "changing",
  "working",
  "active",
  "asleep",
  "off",
] as const;
export type HealthKind = (typeof healthKinds)[number];

const ActionState = v.picklist([
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

const FileLine = v.object({
  path: Text(4_096),
  /** For a move: the old path. */
  from: v.optional(Text(4_096)),
});
type FileLine = v.InferOutput<typeof FileLine>;

/** An action without its contents. */
export const ActionLine = v.object({
  id: Id,
  agent: Text(256),
  title: Text(200),
  state: ActionState,
  /** The time of its last change. */
  at: Text(40),
  decidedBy: v.optional(v.picklist(["user", "policy"])),
  /** The rule that decided instead of a person; `isPlace`: the rule can be opened. */
  rule: v.optional(v.object({ sentence: Text(1_000), isPlace: v.boolean() })),
  error: v.optional(Text(1_000)),
  /** The reason that the person gave for the rejection. */
  rejectedReason: v.optional(Text(2_000)),
  /** The first of its files. */
  files: v.pipe(v.array(FileLine), v.maxLength(maxFiles)),
  effects: Count,
  deletes: Count,
  /** The number of applied effects if a person approved a part. */
  applied: v.optional(Count),
});
export type ActionLine = v.InferOutput<typeof ActionLine>;

export const AgentRow = v.object({
  id: Text(256),
  kind: v.picklist(healthKinds),
  /** "Last run failed at 10:41" */
  words: Text(400),
  problem: v.optional(
    v.object({
      message: Text(1_000),
      /** "agent.ts:18" */
      place: v.optional(Text(100)),
      more: Count,
    }),
  ),
});
export type AgentRow = v.InferOutput<typeof AgentRow>;

/** The same failure of the same agent, with its count. */
export const Failure = v.object({
  agent: Text(256),
  message: Text(1_000),
  /** First and last time. */
  since: Text(40),
  at: Text(40),
  count: Count,
});
export type Failure = v.InferOutput<typeof Failure>;

export const Overview = v.object({
  /** Newest first. */
  actions: v.pipe(v.array(ActionLine), v.maxLength(maxActions)),
  /** Problems first. */
  agents: v.pipe(v.array(AgentRow), v.maxLength(maxAgentRows)),
  /** The number of further agents. */
  moreAgents: Count,
  /** Newest first. */
  failures: v.pipe(v.array(Failure), v.maxLength(maxFailures)),
});
export type Overview = v.InferOutput<typeof Overview>;

const OfAction = v.object({ id: Id });
const OfAgent = v.object({ agent: Text(256) });

export const activityContract = {
  requests: {
    ...commonRequests,
    overview: { params: Nothing, result: Overview },
    /** Shows an action's changes in the editor, before and after. */
    showChanges: { params: OfAction, result: Nothing },
    /** Opens a file of an action by its index among the effects, so that a page cannot name paths. */
    openFile: { params: v.object({ id: Id, file: Count }), result: Nothing },
    /** Opens the rule that decided an action. */
    openRule: { params: OfAction, result: Nothing },
    undo: { params: OfAction, result: Nothing },
    /** Opens the line with an agent's problem. */
    showProblem: { params: OfAgent, result: Nothing },
    /** Resumes a suspended agent. */
    resume: { params: OfAgent, result: Nothing },
    /** Shows the traces of an agent. */
    showTraces: { params: OfAgent, result: Nothing },
    /** Shows the view where actions are approved. */
    showApprovals: { params: Nothing, result: Nothing },
  },
  pushes: {
    ...commonPushes,
    /** There may be new entries. Sent at most once in `minChangeMs`. */
    changed: Nothing,
    /** Changes have waited longer than the person configured, for a desktop notification if the editor allows one. */
    remind: v.object({ title: Text(200), body: Text(500) }),
  },
};
export type ActivityContract = typeof activityContract;
