import { visibleSentence, visibleText } from "../../../kernel/src/base/visible-text.ts";
import { requestedBySentence } from "../../../kernel/src/base/vocabulary/principal.ts";
import { decidedWord } from "../model/decided.ts";
import { effectVerb, folderOf, hasContents, nameOf } from "../model/effect-text.ts";
import { extentText, fileCount, impactSentence, weightOf } from "../model/weight.ts";
import type { Action, Effect } from "../protocol.ts";
import {
  maxCardFiles,
  type Became,
  type Card,
  type CardFile,
  type FileSign,
  type Section,
} from "../webviews/review/messages.ts";

/** The number of a card's files that are always listed, in addition to deletes and moves. */
const listedFiles = 3;
const pictureName = /\.(?:png|jpe?g|gif|webp|avif|bmp)$/iu;

/** Returns the card of an action: every text visible and complete, deletes and moves first. */
export function cardOf(action: Action): Card {
  const { id, digest, agent, title, reason, on_behalf_of, state, effects, created, decided, receipt } =
    action;
  const weight = weightOf(action);
  const listed = listedOf(effects);
  const section = sectionOf(action);
  const ended = action.ended ?? receipt?.finished ?? decided;
  const [first] = effects;
  const isOne = fileCount(effects) === 1 && first !== undefined;
  const path = isOne ? visibleText(first.path) : commonFolder(effects);
  const said = action.rejected_reason === undefined ? action.error : `You said: ${action.rejected_reason}`;
  const why = section === "waiting" ? action.asked_because : action.rule;
  const became = becameOf(action);
  const outcome = state === "PendingApproval" ? undefined : decidedWord(action);
  return {
    id,
    digest,
    agent,
    section,
    name: isOne ? nameOf(path) : extentText(effects),
    folder: isOne ? folderOf(path) : path,
    title: visibleText(title),
    reason: lines(reason),
    ...(on_behalf_of === undefined
      ? {}
      : { requestedBy: visibleText(requestedBySentence(on_behalf_of)).slice(0, 4_000) }),
    created,
    ...(ended === undefined ? {} : { ended }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(became === undefined ? {} : { became }),
    ...(why === undefined ? {} : { rule: visibleSentence(why.sentence).slice(0, 2_000) }),
    ...(said === undefined ? {} : { error: lines(said).slice(0, 4_000) }),
    level: weight.level,
    impact: impactOf(action),
    showsFirst: weight.showsFirst,
    isAlone: weight.isAlone,
    files: listed.map((index) => fileOf(action, index)),
    moreFiles: effects.length - listed.length,
    effects: effects.length,
    folders: [...new Set(effects.map((effect) => visibleText(topFolder(effect.path))))].slice(
      0,
      maxCardFiles,
    ),
    kinds: [...new Set(effects.map(signOf))],
    scopes: (action.scopes ?? []).slice(0, 8).map(({ id, title }) => ({ id, title: visibleText(title) })),
    canUndo: state === "Committed",
    canRebase: action.rebasable === true,
    canEdit: state === "PendingApproval" && effects.some(isEditable),
  };
}

/** Returns every effect of an action, deletes and moves first. */
export function filesOf(action: Action): CardFile[] {
  return inOrder(action.effects).map((index) => fileOf(action, index));
}

/** Only what a person can decide now counts as waiting; actions that a rule applied have their own section. */
export function sectionOf(action: Action): Section {
  const { state, decided_by, superseded_by } = action;
  switch (state) {
    case "PendingApproval":
      return "waiting";
    case "Stale":
      return superseded_by === undefined ? "outdated" : "replaced";
    case "Committed":
      return decided_by === "policy" ? "automatic" : "decided";
    case "Approved":
    case "Committing":
    case "Rejected":
    case "Failed":
    case "Expired":
    case "Undone":
      return "decided";
  }
}

function becameOf({ state, superseded_by }: Action): Became | undefined {
  switch (state) {
    case "PendingApproval":
    case "Approved":
    case "Committing":
      return undefined;
    case "Committed":
      return "applied";
    case "Rejected":
      return "rejected";
    case "Undone":
      return "undone";
    case "Failed":
      return "failed";
    case "Expired":
      return "expired";
    case "Stale":
      return superseded_by === undefined ? "outdated" : "replaced";
  }
}

/** Returns true if a person can edit what the effect would write. */
function isEditable(effect: Effect): boolean {
  return (effect.kind === "file.write" || effect.kind === "file.edit") && effect.after !== null;
}

function impactOf(action: Action): string {
  const isPossible = action.state === "PendingApproval" || action.state === "Committed";
  const canUndo = isPossible && action.effects.some(({ kind }) => kind.startsWith("file."));
  return [impactSentence(action.effects), ...(canUndo ? ["Can be undone."] : [])].join(" ");
}

function fileOf({ effects, receipt }: Action, index: number): CardFile {
  const effect = effects[index]!;
  const path = effect.from ?? effect.path;
  return {
    effect: index,
    sign: signOf(effect),
    verb: effectVerb(effect),
    path: visibleText(effect.path),
    ...(effect.from === undefined ? {} : { from: visibleText(effect.from) }),
    hasText: hasContents(effect) && !pictureName.test(path),
    isPicture: pictureName.test(path),
    isLeftOut: receipt !== undefined && !receipt.applied.includes(index),
  };
}

function signOf({ kind, before }: Effect): FileSign {
  switch (kind) {
    case "file.delete":
      return "delete";
    case "file.move":
      return "move";
    case "file.write":
      return before === null ? "new" : "edit";
    case "file.edit":
      return "edit";
    case "folder.create":
      return "folder";
    case "tag.add":
    case "tag.remove":
    case "field.set":
    case "sidecar.write":
      return "note";
  }
}

const order: Readonly<Record<FileSign, number>> = { delete: 0, move: 1, new: 2, folder: 2, edit: 2, note: 3 };

function inOrder(effects: readonly Effect[]): number[] {
  return [...effects.keys()].toSorted(
    (one, other) => order[signOf(effects[one]!)] - order[signOf(effects[other]!)],
  );
}

/**
 * Returns the indices of the effects that the card lists: all deletes and moves, up to the limit of a card, and some
 * others.
 */
function listedOf(effects: readonly Effect[]): number[] {
  const all = inOrder(effects);
  const gone = all.filter((index) => order[signOf(effects[index]!)] < 2).length;
  return all.slice(0, Math.min(maxCardFiles, gone + listedFiles));
}

function lines(text: string): string {
  return text
    .split("\n")
    .map((line) => visibleText(line))
    .join("\n");
}

/** Returns "notes" for "notes/trips/a.md"; empty for a path at the top. */
function topFolder(path: string): string {
  const slash = path.indexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

/** Returns the deepest folder that contains all effects. */
function commonFolder(effects: readonly Effect[]): string {
  const [first = [], ...others] = effects.map(({ path }) => folderOf(path).split("/"));
  const end = first.findIndex((name, at) => others.some((other) => other[at] !== name));
  return visibleText((end < 0 ? first : first.slice(0, end)).join("/"));
}
