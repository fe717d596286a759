import { appliedOf, effectVerb, folderOf, nameOf } from "../model/effect-text.ts";
import { impactText, impactWord } from "../model/impact.ts";
import { count, label, when } from "../model/text.ts";
import type { Action, ActionState, Effect } from "../protocol.ts";
import type { TreeNode } from "./tree-node.ts";

/** Few and small enough to be seen whole without a click. */
const maxOpen = 3;
const maxOpenEffects = 5;
/** Of one action, so many effects are listed; all of them are in its changes. */
const maxEffects = 100;

const impactColors = { low: "charts.green", medium: "charts.yellow", high: "charts.red" } as const;

/** How an action that was decided is said and drawn. */
const looks: Readonly<Record<ActionState, { word: string; icon: string; color?: string }>> = {
  PendingApproval: { word: "Waiting", icon: "question" },
  Approved: { word: "Being applied", icon: "sync~spin" },
  Committing: { word: "Being applied", icon: "sync~spin" },
  Committed: { word: "Applied", icon: "pass", color: "testing.iconPassed" },
  Rejected: { word: "Rejected", icon: "circle-slash", color: "disabledForeground" },
  Failed: { word: "Failed", icon: "error", color: "errorForeground" },
  Stale: { word: "Stale", icon: "history", color: "editorWarning.foreground" },
  Expired: { word: "Expired", icon: "watch", color: "disabledForeground" },
  Undone: { word: "Undone", icon: "discard", color: "disabledForeground" },
};

/** What is left to do about an action that ended without having been applied. */
const whatNow: Partial<Readonly<Record<ActionState, string>>> = {
  Stale:
    "A file it would change was changed meanwhile, so nothing was applied. The agent may propose it anew for the file as it is now.",
  Expired: "Nobody answered in time, so nothing was applied.",
  Failed: "It could not be applied; everything is as it was before.",
};

export interface ApprovalTreeInput {
  readonly pending: readonly Action[];
  readonly recent: readonly Action[];
  /** An agent's name by its id. */
  readonly nameOfAgent: (id: string) => string;
  /** A file of a waiting action that is something else by now. */
  readonly driftOf: (action: string) => string | undefined;
  /** Milliseconds of the epoch. */
  readonly now: number;
}

/** The Approvals view: what waits, and what was decided lately. Empty where there was never anything. */
export function approvalNodes(input: ApprovalTreeInput): TreeNode[] {
  const { pending, recent } = input;
  if (pending.length === 0 && recent.length === 0) return [];
  const waiting: TreeNode =
    pending.length === 0
      ? { id: "waiting", label: "Nothing waits for you", icon: { id: "check-all" } }
      : {
          id: "waiting",
          label: "Waiting for You",
          description: String(pending.length),
          spoken: `Waiting for you, ${count(pending.length, "action")}`,
          isOpen: true,
          children: pending.map((action) => pendingNode(action, input, pending.length <= maxOpen)),
        };
  if (recent.length === 0) return [waiting];
  return [
    waiting,
    {
      id: "recent",
      label: "Recent",
      description: String(recent.length),
      spoken: `Recent, ${count(recent.length, "action")}`,
      // What was just approved is where one looks for its undo.
      isOpen: true,
      children: recent.map((action) => decidedNode(action, input)),
    },
  ];
}

function pendingNode(action: Action, input: ApprovalTreeInput, isOpen: boolean): TreeNode {
  const agent = label(input.nameOfAgent(action.agent));
  const age = when(action.created, input.now);
  const impact = impactText(action.impact_score);
  const drifted = input.driftOf(action.id);
  const stale = drifted === undefined ? [] : [staleText(drifted)];
  return {
    id: `action ${action.id}`,
    action: { id: action.id, digest: action.digest },
    label: label(action.title),
    description: [...stale.map(() => "stale"), agent, impact, age].filter(Boolean).join(" · "),
    icon:
      drifted === undefined
        ? { id: "circle-filled", color: impactColors[impactWord(action.impact_score)] }
        : { id: "history", color: "editorWarning.foreground" },
    tooltip: [...stale, ...tooltip(action, `${agent} proposes this; ${impact}; ${age}`)],
    spoken: `${[label(action.title), ...stale.map(() => "Stale")].join(". ")}. ${agent} proposes ${count(action.effects.length, "change")}, ${impact}, ${age}. ${label(action.reason, 300)}`,
    context: action.effects.length > 1 ? "lares.action.pending.many" : "lares.action.pending.one",
    isOpen: isOpen && action.effects.length <= maxOpenEffects,
    children: [
      ...stale.map((text) => staleNode(action, text)),
      proposalNode(action, `${agent} · ${impact}`),
      ...effectNodes(action),
    ],
  };
}

function staleText(path: string): string {
  return `Stale: ${label(path, 200)} was changed since this was proposed. Reject it; the agent may propose it anew for the file as it is now.`;
}

function staleNode({ id, digest }: Action, text: string): TreeNode {
  return {
    id: `action ${id} stale`,
    action: { id, digest },
    label: text,
    icon: { id: "warning", color: "editorWarning.foreground" },
    tooltip: [text],
  };
}

/** Why, and by whom: where there is little room, the item's own description is cut. */
function proposalNode(action: Action, who: string): TreeNode {
  const reason = label(action.reason, 200);
  return {
    id: `action ${action.id} proposal`,
    action: { id: action.id, digest: action.digest },
    label: reason === "" ? who : reason,
    ...(reason === "" ? {} : { description: who, tooltip: [label(action.reason, 2000), who] }),
    icon: { id: "info" },
    spoken: [reason.replace(/\.$/, ""), who].filter(Boolean).join(". "),
  };
}

function decidedNode(action: Action, input: ApprovalTreeInput): TreeNode {
  const { word, icon, color } = looks[action.state];
  const agent = label(input.nameOfAgent(action.agent));
  const at = when(action.receipt?.finished ?? action.decided ?? action.created, input.now);
  const by = action.state === "Committed" || action.state === "Rejected" ? decider(action) : "";
  const part = action.state === "Committed" ? appliedOf(action) : undefined;
  const said = [word, part, by].filter(Boolean).join(" ");
  return {
    id: `action ${action.id}`,
    action: { id: action.id, digest: action.digest },
    label: label(action.title),
    description: [said, agent, at].filter(Boolean).join(" · "),
    icon: color === undefined ? { id: icon } : { id: icon, color },
    tooltip: tooltip(action, `${said}, ${at}; proposed by ${agent}, ${impactText(action.impact_score)}`),
    spoken: `${label(action.title)}. ${said}, ${at}, proposed by ${agent}`,
    context: `lares.action.${action.state}`,
    children: [...outcomeNodes(action), ...effectNodes(action)],
  };
}

function decider({ decided_by }: Action): string {
  if (decided_by === undefined) return "";
  return decided_by === "user" ? "by you" : "by your rules";
}

/** Reason and error as whole paragraphs: a tooltip is where there is room. */
function tooltip(action: Action, how: string): string[] {
  const left = whatNow[action.state];
  return [
    label(action.title, 300),
    ...(action.reason === "" ? [] : [label(action.reason, 2000)]),
    how,
    ...(action.error === undefined ? [] : [label(action.error, 1000)]),
    ...(left === undefined ? [] : [left]),
  ];
}

function outcomeNodes({ id, digest, state, error }: Action): TreeNode[] {
  const left = whatNow[state];
  if (left === undefined) return [];
  return [
    {
      id: `action ${id} outcome`,
      action: { id, digest },
      label: error === undefined ? left : label(error, 200),
      icon: { id: "info" },
      tooltip: [...(error === undefined ? [] : [label(error, 1000)]), left],
    },
  ];
}

function effectNodes(action: Action): TreeNode[] {
  const nodes = action.effects.slice(0, maxEffects).map((effect, index) => effectNode(action, effect, index));
  const left = action.effects.length - nodes.length;
  if (left > 0)
    nodes.push({
      id: `action ${action.id} more`,
      action: { id: action.id, digest: action.digest },
      label: `… and ${count(left, "more change", "more changes")}`,
      command: { id: "lares.showChanges", title: "Show Changes", arguments: [{ id: action.id }] },
    });
  return nodes;
}

function effectNode(action: Action, effect: Effect, index: number): TreeNode {
  const name = label(nameOf(effect.path));
  const folder = label(folderOf(effect.path), 80);
  const wasApplied = action.receipt === undefined || action.receipt.applied.includes(index);
  const verb = `${effectVerb(effect)}${wasApplied ? "" : " (left out)"}`;
  return {
    id: `action ${action.id} effect ${index}`,
    action: { id: action.id, effect: index, digest: action.digest },
    label: name,
    description: [verb, folder].filter(Boolean).join(" · "),
    ...(effect.kind === "folder.create" ? { icon: { id: "new-folder" } } : { file: effect.path }),
    tooltip: [label(effect.summary, 500), label(effect.path, 500)],
    spoken: `${name}, ${verb}, in ${folder === "" ? "the top folder" : folder}`,
    context: "lares.effect",
    command: {
      id: "lares.showChanges",
      title: "Show Changes",
      arguments: [{ id: action.id, effect: index }],
    },
  };
}
