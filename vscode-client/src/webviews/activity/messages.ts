import * as v from "valibot";
import { commonPushes, commonRequests, Count, Id, Nothing, Text } from "../shared/situation.ts";

/** Actions that the timeline is made from, the newest. */
export const maxActions = 500;
/** Agents that have a row. */
export const maxAgentRows = 200;
/** Files of one action that are named. */
export const maxFiles = 5;
/** Different failures that the timeline shows. */
export const maxFailures = 200;

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

export const FileLine = v.object({
  path: Text(4_096),
  /** For a move: where it was. */
  from: v.optional(Text(4_096)),
});
export type FileLine = v.InferOutput<typeof FileLine>;

/** An action without its contents. */
export const ActionLine = v.object({
  id: Id,
  agent: Text(256),
  title: Text(200),
  state: ActionState,
  /** When it last changed. */
  at: Text(40),
  decidedBy: v.optional(v.picklist(["user", "policy"])),
  /** The rule that decided instead of a person; `isPlace`: it can be opened. */
  rule: v.optional(v.object({ sentence: Text(1_000), isPlace: v.boolean() })),
  error: v.optional(Text(1_000)),
  /** The first of its files. */
  files: v.pipe(v.array(FileLine), v.maxLength(maxFiles)),
  effects: Count,
  deletes: Count,
  /** How many of the effects were applied, if a person approved a part. */
  applied: v.optional(Count),
});
export type ActionLine = v.InferOutput<typeof ActionLine>;

export const AgentRow = v.object({
  id: Text(256),
  kind: v.picklist([
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
  ]),
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

/** The same failure of the same agent, as often as it happened. */
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
  /** Agents beyond those. */
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
    /** Opens a file of an action, counted from 0 among its effects: a page names no path. */
    openFile: { params: v.object({ id: Id, file: Count }), result: Nothing },
    /** Opens the rule that decided an action. */
    openRule: { params: OfAction, result: Nothing },
    undo: { params: OfAction, result: Nothing },
    /** Opens the line that is wrong with an agent. */
    showProblem: { params: OfAgent, result: Nothing },
    /** Lets a suspended agent go on. */
    resume: { params: OfAgent, result: Nothing },
    /** Shows the traces of an agent. */
    showTraces: { params: OfAgent, result: Nothing },
    /** Shows the view where actions are approved. */
    showApprovals: { params: Nothing, result: Nothing },
  },
  pushes: {
    ...commonPushes,
    /** Says that there may be new entries. Sent at most once in `minChangeMs`. */
    changed: Nothing,
    /** Changes that have waited for longer than the person set, for a desktop notification if the editor allows one. */
    remind: v.object({ title: Text(200), body: Text(500) }),
  },
};
export type ActivityContract = typeof activityContract;
