import { effectWords } from "../../base/vocabulary/effect-words.ts";
import { needsCare, subjectOf } from "../../base/vocabulary/impact-words.ts";
import { visibleText } from "../../base/visible-text.ts";
import type { Action } from "../../base/vocabulary/action.ts";
import type { RememberedRule } from "../../base/vocabulary/approval-rule.ts";
import { layoutOf } from "./render/screen.ts";
import { moreLines } from "../render/pages.ts";
import type { Command } from "./input.ts";
import { complain, say, scrolled, stay, type ReviewStep } from "./moving.ts";
import { choiceOf } from "./state/parts.ts";
import { sectionOf, sectionsOf } from "./state/sections.ts";
import {
  currentAction,
  isSelectable,
  newCard,
  sectionNamed,
  type Confirmation,
  type ReviewState,
} from "./state/state.ts";

/** Returns the name of the change for use in a sentence. */
export function nameOf({ effects }: Pick<Action, "effects">): string {
  const subject = subjectOf(effects);
  return "path" in subject ? visibleText(subject.path) : subject.words;
}

/**
 * Handles the key `a`: takes the next safe step towards an approval. Lines of the card that were not on the screen yet
 * are shown first; a large change, or one that deletes, needs a second confirmation. The approval is bound to the
 * digest that is on the screen.
 */
export function approveKey(state: ReviewState, atMs: number): ReviewStep {
  const ready = readyToApprove(state, atMs);
  if ("commands" in ready) return ready;
  const { action } = ready;
  const { card } = state;
  if (card === null || !needsCare(action)) return approveCard(state);
  const all =
    card.leftOut.size > 0
      ? "the remaining parts"
      : action.effects.length > 1
        ? `all ${action.effects.length}`
        : "it";
  const gone = action.effects
    .filter(({ kind }) => kind === "file.delete")
    .map((effect) => `${effectWords(effect)}.`);
  return ask(
    state,
    { kind: "approve", id: action.id, digest: card.digest },
    [`Approve ${all}? ${nameOf(action)}.`, ...gone].join("\n"),
  );
}

/** Handles the key `s`: does the same as `a`, then asks how far to remember the approval. */
export function scopesKey(state: ReviewState, atMs: number): ReviewStep {
  const ready = readyToApprove(state, atMs);
  if ("commands" in ready) return ready;
  const { action } = ready;
  if ((action.scopes?.length ?? 0) === 0)
    return say(state, "This is asked each time, so the answer cannot be remembered. a approves it once.");
  return stay({ ...state, panel: { kind: "scopes", id: action.id, digest: action.digest }, message: null });
}

function readyToApprove(state: ReviewState, atMs: number): { readonly action: Action } | ReviewStep {
  const action = currentAction(state);
  const { card } = state;
  if (action === null) return say(state, "Choose a change first.");
  const section = sectionOf(action, state.decidedHere);
  if (section !== "waiting")
    return say(
      state,
      action.rebasable === true
        ? `${nameOf(action)} is out of date. f fits the change to the new text.`
        : `${nameOf(action)} does not wait for an answer.`,
    );
  if (state.busy.has(action.id)) return stay(state);
  if (card?.whole === null || card === null) return say(state, "Its changes are still being read.");
  // Approves only an action that was read, drawn, and is still proposed.
  if (card.id !== action.id || card.digest !== action.digest)
    return stay({ ...state, card: newCard(action, true) }, { kind: "load", id: action.id });
  const { showsCard, card: text, bodyRows, cardWidth } = layoutOf(state);
  if (!showsCard) return stay({ ...state, isFull: true, message: null });
  if (!card.isDrawn) return stay(state);
  if (card.whole.unread.size > 0)
    return complain(
      state,
      `Not all of it can be shown here. See it with "lares actions show ${action.id}", then approve it with "lares actions approve ${action.id} --digest ${action.digest}".`,
    );
  if (!card.isSeen) {
    const from = card.seenAtWidth === cardWidth ? card.seenTo : 0;
    const next = scrolled(state, card, from);
    const left = text.lines.length - from - bodyRows;
    const ends = left <= 0 ? "This is the end of it." : `${moreLines(left)} after this.`;
    return say(next, `Read this first. ${ends} a continues.`);
  }
  if (atMs < card.settledAtMs) return say(state, "This change has only just appeared. Press the key again.");
  return { action };
}

/** Approves what the card shows, with the left-out parts and edits. */
export function approveCard(state: ReviewState, rules?: readonly RememberedRule[]): ReviewStep {
  const { card } = state;
  if (card === null || card.whole === null) return stay(state);
  const choice = choiceOf(card.whole.action, card.parts, card.leftOut);
  if (choice === null) return say(state, "Every part is left out. r rejects the change.");
  const command: Command = {
    kind: "approve",
    id: card.id,
    digest: card.digest,
    action: card.whole.action,
    hunks: choice.hunks,
    edits: card.edits,
    ...(choice.effects === undefined ? {} : { effects: choice.effects }),
    ...(rules === undefined ? {} : { rules }),
  };
  return stay(begun(state, [card.id]), command);
}

export function begun(state: ReviewState, ids: readonly string[]): ReviewState {
  const selected = new Map(state.selected);
  for (const id of ids) selected.delete(id);
  return { ...state, busy: new Set([...state.busy, ...ids]), selected, panel: null, message: null };
}

export function rejectKey(state: ReviewState): ReviewStep {
  const action = currentAction(state);
  if (action === null || action.state !== "PendingApproval")
    return say(state, "There is nothing here to reject.");
  if (state.busy.has(action.id)) return stay(state);
  return stay({ ...state, panel: { kind: "reason", ids: [action.id], text: "" }, message: null });
}

export function selectKey(state: ReviewState): ReviewStep {
  const action = currentAction(state);
  if (action === null || action.state !== "PendingApproval")
    return say(state, "Only a change that waits for you can be selected.");
  if (!isSelectable(action))
    return say(
      state,
      `${nameOf(action)} must be decided alone, because it is large or deletes something. Enter shows it.`,
    );
  const selected = new Map(state.selected);
  if (!selected.delete(action.id)) selected.set(action.id, action.digest);
  return stay({ ...state, selected, message: null });
}

/** Handles the key `A`: lists everything that the selected changes do, and asks for confirmation. */
export function approveSelected(state: ReviewState): ReviewStep {
  if (state.selected.size === 0) return say(state, "Nothing is selected. Space selects.");
  const actions = [...state.selected.keys()].flatMap((id) => state.actions.get(id) ?? []);
  const words = actions.flatMap(({ effects }) => effects.map((effect) => `${effectWords(effect)}.`));
  const asked = ask(
    state,
    { kind: "approveSelected", selected: state.selected },
    [`Approve these ${actions.length}?`, ...words].join("\n"),
  );
  return isCut(asked.state)
    ? say(state, "The selected changes do not fit on one screen. Select fewer.")
    : asked;
}

export function rejectSelected(state: ReviewState): ReviewStep {
  if (state.selected.size === 0) return say(state, "Nothing is selected. Space selects.");
  return stay({
    ...state,
    panel: { kind: "reason", ids: [...state.selected.keys()], text: "" },
    message: null,
  });
}

function ask(state: ReviewState, confirm: Confirmation, question: string): ReviewStep {
  return stay({ ...state, panel: { kind: "confirm", confirm, question }, message: null });
}

/** Returns true if there is no room for the panel's last line, which says how to answer. */
function isCut(state: ReviewState): boolean {
  return layoutOf(state).bodyRows === 0;
}

/**
 * Handles the key `u`: undoes the current change, all changes of a section, or the change that was approved here last.
 */
export function undoKey(state: ReviewState): ReviewStep {
  const action = currentAction(state);
  if (action?.state === "Committed") return undo(state, [action.id]);
  if (state.current !== null && sectionNamed(state.current) === "automatic") {
    const found = sectionsOf(state.actions.values(), state.decidedHere, state.filter).find(
      ({ id }) => id === "automatic",
    );
    const ids = (found?.actions ?? []).map(({ id }) => id);
    return ask(
      state,
      { kind: "undoAll", ids },
      `Undo ${ids.length === 1 ? "this one" : `all ${ids.length}`}, the newest first? Files that have changed since are not touched.`,
    );
  }
  const last = [...state.decidedHere].findLast((id) => state.actions.get(id)?.state === "Committed");
  return last === undefined ? say(state, "There is nothing here to undo.") : undo(state, [last]);
}

export function undo(state: ReviewState, ids: readonly string[]): ReviewStep {
  const free = ids.filter((id) => !state.busy.has(id));
  return stay(begun(state, free), ...free.map((id) => ({ kind: "undo" as const, id })));
}

export function rebaseKey(state: ReviewState): ReviewStep {
  const action = currentAction(state);
  if (action?.rebasable !== true)
    return say(state, "Only a change that is out of date can be fitted to the new text.");
  if (state.busy.has(action.id)) return stay(state);
  return stay(begun(state, [action.id]), { kind: "rebase", id: action.id });
}

/** Handles the key `e`: opens the new text of the part with the focus, or of the first change that has one. */
export function editKey(state: ReviewState): ReviewStep {
  const action = currentAction(state);
  const { card } = state;
  if (action?.state !== "PendingApproval" || card?.whole === null || card === null)
    return say(state, "There is nothing here to edit.");
  if (state.busy.has(action.id)) return stay(state);
  const focus = card.parts[card.part]?.effect;
  const editable = action.effects.flatMap(({ kind, after }, index) =>
    (kind === "file.write" || kind === "file.edit") && after !== null ? [index] : [],
  );
  const effect = focus !== undefined && editable.includes(focus) ? focus : editable[0];
  return effect === undefined
    ? say(state, "This change has no text to edit.")
    : stay({ ...state, message: null }, { kind: "edit", id: action.id, effect });
}

/** Handles the keys `y` and `n`: takes the part with the focus or leaves it out, and moves on to the next. */
export function partKey(state: ReviewState, takes: boolean): ReviewStep {
  const { card } = state;
  const action = currentAction(state);
  if (card === null || action?.state !== "PendingApproval" || card.parts.length === 0)
    return say(state, "This change has only one part. a approves it, r rejects it.");
  const leftOut = new Set(card.leftOut);
  if (takes) leftOut.delete(card.part);
  else leftOut.add(card.part);
  const part = Math.min(card.parts.length - 1, card.part + 1);
  return stay({ ...state, card: { ...card, leftOut, part }, message: null });
}
