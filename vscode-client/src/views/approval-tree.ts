import { requestedByLines } from "../../../kernel/src/base/vocabulary/principal.ts";
import { decidedWord } from "../model/decided.ts";
import { effectVerb, folderOf, nameOf } from "../model/effect-text.ts";
import { extentText, fileCount, impactSentence, levelWords, weightOf } from "../model/weight.ts";
import { count, label, message, when } from "../model/text.ts";
import type { Action, ActionState, Ask, Effect } from "../protocol.ts";
import type { Section } from "../webviews/review/messages.ts";
import { sectionOf } from "../deciding/review-cards.ts";
import type { TreeNode } from "./tree-node.ts";

/** Up to these numbers, items start expanded. */
const maxOpen = 3;
const maxOpenEffects = 5;
/** The number of effects of one action that are listed; its diff shows all of them. */
const maxEffects = 100;
/** The number of files that a tooltip names. */
const maxTooltipPaths = 10;
/** More than the longest path, title or reason that the kernel accepts. */
const maxTooltipCharacters = 10_000;

/** The icon for each state of an action. Actions that a rule applied have `automaticIcon`. */
const icons: Readonly<Record<ActionState, { readonly id: string; readonly color?: string }>> = {
  PendingApproval: { id: "circle-filled" },
  Approved: { id: "sync~spin" },
  Committing: { id: "sync~spin" },
  Committed: { id: "pass", color: "testing.iconPassed" },
  Rejected: { id: "circle-slash", color: "disabledForeground" },
  Failed: { id: "error", color: "errorForeground" },
  Stale: { id: "history", color: "editorWarning.foreground" },
  Expired: { id: "watch", color: "disabledForeground" },
  Undone: { id: "discard", color: "disabledForeground" },
};
const automaticIcon = { id: "zap" };

/** What a person can do about an action that ended without being applied. */
const whatNow: Partial<Readonly<Record<ActionState, string>>> = {
  Stale:
    "A file it would change was changed meanwhile, so nothing was applied. If it still fits, “Fit to the New Text and Show” proposes it again.",
  Expired: "Nobody answered in time, so nothing was applied.",
  Failed: "It could not be applied; everything is as it was before.",
};

interface ApprovalTreeInput {
  readonly pending: readonly Action[];
  readonly recent: readonly Action[];
  /** Questions that calls wait for. */
  readonly asks: readonly Ask[];
  /** Returns an agent's name by its id. */
  readonly nameOfAgent: (id: string) => string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Returns the items of the Approvals view, a narrow version of the review page: what waits and, separately, what is out
 * of date, what rules applied, and what a person decided. Empty if there was never an action.
 */
export function approvalNodes(input: ApprovalTreeInput): TreeNode[] {
  const { pending, recent, asks } = input;
  if (pending.length === 0 && recent.length === 0 && asks.length === 0) return [];
  const of = (section: Section): Action[] => recent.filter((action) => sectionOf(action) === section);
  const [outdated, automatic, decided] = [
    of("outdated"),
    of("automatic"),
    [...of("decided"), ...of("replaced")],
  ];
  const waiting: TreeNode =
    pending.length === 0
      ? { id: "waiting", label: "Nothing waits for you", icon: { id: "check-all" } }
      : {
          id: "waiting",
          label: "Waiting for You",
          description: String(pending.length),
          spoken: `Waiting for you, ${count(pending.length, "change")}`,
          isOpen: true,
          children: pending.map((action) => pendingNode(action, input, pending.length <= maxOpen)),
        };
  const group = (
    id: string,
    name: string,
    actions: readonly Action[],
    more: Partial<TreeNode> = {},
  ): TreeNode[] =>
    actions.length === 0
      ? []
      : [
          {
            id,
            label: name,
            description: String(actions.length),
            spoken: `${name}, ${count(actions.length, "change")}`,
            // People look for the undo of a decision here.
            isOpen: true,
            children: actions.map((action) => decidedNode(action, input)),
            ...more,
          },
        ];
  return [
    ...questionNodes(input),
    // A question waits, too.
    ...(pending.length === 0 && asks.length > 0 ? [] : [waiting]),
    ...group("outdated", "Out of Date", outdated),
    ...group("automatic", "Applied Automatically", automatic, {
      icon: automaticIcon,
      context: "lares.automatic",
    }),
    ...group("recent", "Decided", decided),
  ];
}

/** A call waits for each of them. Opening one shows it with its answers. */
function questionNodes({ asks, nameOfAgent, now }: ApprovalTreeInput): TreeNode[] {
  if (asks.length === 0) return [];
  const questions = asks.map((ask): TreeNode => {
    const { id, title, reason, agent, created } = ask;
    const who = label(nameOfAgent(agent));
    const text = message(title, 200);
    const age = when(created, now);
    return {
      id: `ask ${id}`,
      label: text,
      description: [who, age].filter(Boolean).join(" · "),
      icon: { id: "question" },
      tooltip: [
        message(title, maxTooltipCharacters),
        message(reason, maxTooltipCharacters),
        ...requestedByLines(ask).map((line) => message(line, maxTooltipCharacters)),
        `${who}, ${age}`,
      ],
      spoken: `Question. ${text} ${who} asks, ${age}. ${message(reason, 300)}`,
      context: "lares.ask",
      command: { id: "lares.openAsks", title: "Answer", arguments: [{ ask: id }] },
    };
  });
  return [
    {
      id: "questions",
      label: "Questions for You",
      description: String(asks.length),
      spoken: `Questions for you, ${count(asks.length, "question")}`,
      isOpen: true,
      children: questions,
    },
  ];
}

/** The subject comes first: `walks.md`, or `14 files, deletes 1`. */
function nameOfAction({ effects }: Action): string {
  const [first] = effects;
  return first !== undefined && fileCount(effects) === 1 ? label(nameOf(first.path)) : extentText(effects);
}

function pendingNode(action: Action, input: ApprovalTreeInput, isOpen: boolean): TreeNode {
  const agent = label(input.nameOfAgent(action.agent));
  const age = when(action.created, input.now);
  const { level, isAlone } = weightOf(action);
  const impact = `${levelWords[level].toLowerCase()} change`;
  const name = nameOfAction(action);
  const title = message(action.title, 120);
  return {
    id: `action ${action.id}`,
    action: { id: action.id, digest: action.digest },
    label: name,
    // A narrow sidebar cuts from the right, so agent and size come first.
    description: [agent, levelWords[level].toLowerCase(), title, age].filter(Boolean).join(" · "),
    icon: icons.PendingApproval,
    tooltip: tooltip(action, `${agent} proposes this; ${impact}; ${age}`),
    spoken: `${name}. ${title}. ${agent} proposes ${count(action.effects.length, "change")}, ${impact}, ${age}. ${message(action.reason, 300)}`,
    context: `lares.action.pending.${action.effects.length > 1 ? "many" : "one"}${isAlone ? ".alone" : ""}`,
    isOpen: isOpen && action.effects.length <= maxOpenEffects,
    children: [proposalNode(action, `${agent} · ${impact}`), ...effectNodes(action)],
  };
}

/** The reason and the agent, because the item's own description is cut if there is little room. */
function proposalNode(action: Action, who: string): TreeNode {
  const reason = message(action.reason, 200);
  return {
    id: `action ${action.id} proposal`,
    action: { id: action.id, digest: action.digest },
    label: reason === "" ? who : reason,
    ...(reason === ""
      ? {}
      : { description: who, tooltip: [message(action.reason, maxTooltipCharacters), who] }),
    icon: { id: "info" },
    spoken: [reason.replace(/\.$/, ""), who].filter(Boolean).join(". "),
  };
}

function decidedNode(action: Action, input: ApprovalTreeInput): TreeNode {
  const isAutomatic = sectionOf(action) === "automatic";
  const agent = label(input.nameOfAgent(action.agent));
  const at = when(action.ended ?? action.receipt?.finished ?? action.decided ?? action.created, input.now);
  const by = decider(action);
  const said = [decidedWord(action), by].filter(Boolean).join(" ");
  const name = nameOfAction(action);
  const title = message(action.title, 120);
  const canRebase = action.rebasable === true;
  return {
    id: `action ${action.id}`,
    action: { id: action.id, digest: action.digest },
    label: name,
    description: [isAutomatic ? decidedWord(action) : said, agent, title, isAutomatic ? by : "", at]
      .filter(Boolean)
      .join(" · "),
    icon: isAutomatic ? automaticIcon : icons[action.state],
    tooltip: tooltip(action, `${said}, ${at}; proposed by ${agent}, ${impactSentence(action.effects)}`),
    spoken: `${name}. ${title}. ${said}, ${at}, proposed by ${agent}`,
    context: isAutomatic
      ? "lares.action.Automatic"
      : `lares.action.${action.state}${canRebase ? ".rebasable" : ""}`,
    children: [...outcomeNodes(action), ...effectNodes(action)],
  };
}

function decider({ state, decided_by, undone_by, rule }: Action): string {
  if (state === "Undone") return undone_by === "user" ? "by you" : "";
  if (state !== "Committed" && state !== "Rejected") return "";
  if (decided_by === "policy") return rule === undefined ? "" : message(rule.sentence);
  return decided_by === "user" ? "by you" : "";
}

/** Paths, reason and error in full, because a tooltip has room for them. */
function tooltip(action: Action, how: string): string[] {
  const left = whatNow[action.state];
  const paths = [...new Set(action.effects.map(({ path }) => path))];
  const more = paths.length - maxTooltipPaths;
  return [
    ...paths.slice(0, maxTooltipPaths).map((path) => label(path, maxTooltipCharacters)),
    ...(more > 0 ? [`and ${count(more, "more file")}`] : []),
    message(action.title, maxTooltipCharacters),
    ...(action.reason === "" ? [] : [message(action.reason, maxTooltipCharacters)]),
    how,
    ...(action.rebased_by === undefined ? [] : ["You rebased it."]),
    ...(action.error === undefined ? [] : [message(action.error, maxTooltipCharacters)]),
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
      label: error === undefined ? left : message(error, 200),
      icon: { id: "info" },
      tooltip: [...(error === undefined ? [] : [message(error, maxTooltipCharacters)]), left],
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
    tooltip: [label(effect.path, maxTooltipCharacters), message(effect.summary, maxTooltipCharacters)],
    spoken: `${name}, ${verb}, in ${folder === "" ? "the top folder" : folder}`,
    context: "lares.effect",
    command: {
      id: "lares.showChanges",
      title: "Show Changes",
      arguments: [{ id: action.id, effect: index }],
    },
  };
}
