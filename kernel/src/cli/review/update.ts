import { maxRejectionReason } from "../../base/vocabulary/bounds.ts";
import { hasEnded, type Action } from "../../base/vocabulary/action.ts";
import { layoutOf } from "./render/screen.ts";
import { actionIs } from "../../base/vocabulary/action-words.ts";
import {
  approveCard,
  approveKey,
  approveSelected,
  begun,
  editKey,
  nameOf,
  partKey,
  rebaseKey,
  rejectKey,
  rejectSelected,
  scopesKey,
  selectKey,
  undo,
  undoKey,
} from "./deciding.ts";
import type { Key } from "../keyboard/key.ts";
import type { Input, Verb } from "./input.ts";
import {
  afterDecision,
  complain,
  goTo,
  moveBy,
  say,
  scrolled,
  seen,
  stay,
  withListInPlace,
  withListInSight,
  withPartInSight,
  type ReviewStep,
} from "./moving.ts";
import { cardWith, rowsOf, sectionNamed, sectionRow, type Panel, type ReviewState } from "./state/state.ts";

/** The number of ended actions in the lists; the newest are kept. */
const maxEnded = 300;
const maxFilter = 200;

/** Returns the state of a review after an input, and the requests that it makes. Pure. */
export function update(state: ReviewState, input: Input): ReviewStep {
  switch (input.kind) {
    case "key":
      return keyPressed(state, input.key, input.atMs);
    case "paste":
      return pasted(state, input.text);
    case "actions":
      return withChangedActions(state, input.actions);
    case "whole": {
      const { card } = state;
      if (card === null || card.id !== input.id) return stay(state);
      if (input.whole.action.digest !== card.digest) return stay(state);
      return stay({ ...state, card: cardWith(card, input.whole) });
    }
    case "edited":
      return edited(state, input);
    case "decided":
      return decided(state, input.verb, input.id, input.action);
    case "failed": {
      const busy = new Set(state.busy);
      busy.delete(input.id);
      return complain({ ...state, busy }, input.message);
    }
    case "drawn":
      return stay(seen(state, input.atMs));
    case "resized": {
      const resized = withListInSight({ ...state, size: input.size });
      return stay(resized.card === null ? resized : scrolled(resized, resized.card, resized.card.scroll), {
        kind: "redraw",
      });
    }
    case "tick":
      return stay({ ...state, nowMs: input.nowMs });
  }
}

function withChangedActions(state: ReviewState, news: readonly Action[]): ReviewStep {
  const actions = new Map(state.actions);
  for (const action of news) actions.set(action.id, action);
  const ended = [...actions.values()].filter((action) => hasEnded(action.state));
  if (ended.length > maxEnded) {
    const old = ended
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      .slice(0, ended.length - maxEnded);
    for (const { id } of old) if (id !== state.current) actions.delete(id);
  }
  const selected = new Map(
    [...state.selected].filter(([id, digest]) => {
      const action = actions.get(id);
      return action?.state === "PendingApproval" && action.digest === digest;
    }),
  );
  const lost = state.selected.size - selected.size;
  let panel = state.panel;
  // The panel asks about something that has ended, so an answer would mean nothing.
  if (panel !== null && isOver(panel, actions)) panel = null;
  const message =
    lost > 0
      ? {
          text: `${lost === 1 ? "1 selected change no longer waits" : `${lost} selected changes no longer wait`}.`,
          isFault: false,
        }
      : state.message;
  const next = withListInPlace(state, { ...state, actions, selected, panel, message });
  if (next.current !== null) return stay(next);
  const first = rowsOf(next).find(({ kind }) => kind === "action");
  return goTo(next, first?.id ?? sectionRow("waiting"), true);
}

function isOver(panel: Panel, actions: ReadonlyMap<string, Action>): boolean {
  const ids =
    panel.kind === "reason"
      ? panel.ids
      : panel.kind === "scopes"
        ? [panel.id]
        : panel.kind === "confirm"
          ? panel.confirm.kind === "approve"
            ? [panel.confirm.id]
            : panel.confirm.kind === "approveSelected"
              ? [...panel.confirm.selected.keys()]
              : []
          : [];
  return ids.some((id) => actions.get(id)?.state !== "PendingApproval");
}

const done: Readonly<Record<Verb, { readonly state: Action["state"]; readonly words: string }>> = {
  approve: { state: "Committed", words: "Approved" },
  reject: { state: "Rejected", words: "Rejected" },
  undo: { state: "Undone", words: "Undone" },
  rebase: { state: "PendingApproval", words: "Fitted to the new text" },
};

function decided(state: ReviewState, verb: Verb, id: string, action: Action): ReviewStep {
  const rows = rowsOf(state);
  const busy = new Set(state.busy);
  busy.delete(id);
  const decidedHere = new Set(state.decidedHere);
  // Added again, so that it is the last one in the order of undo.
  decidedHere.delete(id);
  if (verb !== "rebase") decidedHere.add(id);
  const { state: wanted, words } = done[verb];
  const step = withChangedActions({ ...state, busy, decidedHere }, [action]);
  const name = nameOf(action);
  const text =
    action.state !== wanted
      ? `${name} ${actionIs(action.state)}${action.error === undefined ? "." : `: ${action.error}`}`
      : `${words}: ${name}.${verb === "approve" ? " u undoes it." : verb === "rebase" ? " Check it and decide." : ""}`;
  const said = { ...step.state, message: { text, isFault: action.state !== wanted } };
  if (verb === "rebase") return goTo(said, action.id);
  if (state.current !== id || action.state === "PendingApproval" || verb === "undo")
    return stay(said, ...step.commands);
  const next = afterDecision(rows, id);
  return goTo(sectionNamed(next) === null ? said : { ...said, isFull: false }, next, true);
}

function edited(
  state: ReviewState,
  { id, effect, edited: text }: Extract<Input, { kind: "edited" }>,
): ReviewStep {
  const { card } = state;
  if (card === null || card.id !== id || card.whole === null) return stay(state);
  const edits = new Map(card.edits);
  if (text === null) edits.delete(effect);
  else edits.set(effect, text);
  const next = { ...state, card: cardWith({ ...card, edits }, card.whole) };
  return say(
    next,
    text === null ? "The text is unchanged." : "This is your text now. Check it; a approves it.",
  );
}

function pasted(state: ReviewState, text: string): ReviewStep {
  // Outside a text field, a paste does not count as keys: a web page that filled the clipboard must not decide
  // anything.
  return state.panel?.kind === "filter" || state.panel?.kind === "reason"
    ? typed(state, state.panel, text.replace(/\s+/g, " "))
    : say(state, "Pasted text is ignored here.");
}

type TextPanel = Extract<Panel, { readonly text: string }>;

function typed(state: ReviewState, panel: TextPanel, text: string): ReviewStep {
  const longest = panel.kind === "filter" ? maxFilter : maxRejectionReason;
  const whole = Array.from(panel.text + text)
    .slice(0, longest)
    .join("");
  return written(state, panel, whole);
}

function written(state: ReviewState, panel: TextPanel, text: string): ReviewStep {
  const next: ReviewState = { ...state, panel: { ...panel, text }, message: null };
  return panel.kind === "filter" ? filtered(next, text) : stay(next);
}

function filtered(state: ReviewState, filter: string): ReviewStep {
  const next = { ...state, filter };
  const rows = rowsOf(next);
  if (rows.some(({ id }) => id === next.current)) return stay(withListInSight(next));
  const first = rows.find(({ kind }) => kind === "action") ?? rows[0];
  return goTo({ ...next, listTop: 0 }, first?.id ?? null, true);
}

function keyPressed(state: ReviewState, key: Key, atMs: number): ReviewStep {
  if (key.isControl && key.name === "c") return stay(state, { kind: "quit" });
  if (key.isControl && key.name === "z") return stay(state, { kind: "suspend" });
  if (key.isControl && key.name === "l") return stay(state, { kind: "redraw" });
  if (state.panel !== null) return panelKey(state, state.panel, key);
  const scroll = scrollKey(state, key);
  if (scroll !== null) return scroll;
  if (key.isControl) return stay(state);
  switch (key.name === "space" ? " " : key.text) {
    case "a":
      return approveKey(state, atMs);
    case "r":
      return rejectKey(state);
    case "e":
      return editKey(state);
    case "s":
      return scopesKey(state, atMs);
    case "u":
      return undoKey(state);
    case "f":
      return rebaseKey(state);
    case "A":
      return approveSelected(state);
    case "R":
      return rejectSelected(state);
    case " ":
      return selectKey(state);
    case "y":
    case "n": {
      const { state: next, commands } = partKey(state, key.text === "y");
      return stay(withPartInSight(next), ...commands);
    }
    case "/":
      return stay({ ...state, isFull: false, panel: { kind: "filter", text: state.filter }, message: null });
    case "?":
      return stay({ ...state, panel: { kind: "keys" }, message: null });
    case "q":
      return state.isFull
        ? stay(withListInSight({ ...state, isFull: false }))
        : stay(state, { kind: "quit" });
    default:
      return named(state, key);
  }
}

function named(state: ReviewState, key: Key): ReviewStep {
  switch (key.name) {
    case "return":
    case "enter":
      return entered(state);
    case "escape":
      if (state.isFull) return stay(withListInSight({ ...state, isFull: false, message: null }));
      if (state.filter !== "") return filtered({ ...state, message: null }, "");
      return stay({ ...state, message: null });
    case "tab": {
      const { card } = state;
      if (card === null || card.parts.length === 0) return stay(state);
      const step = key.isShift ? card.parts.length - 1 : 1;
      return stay(
        withPartInSight({ ...state, card: { ...card, part: (card.part + step) % card.parts.length } }),
      );
    }
    default:
      return stay(state);
  }
}

function entered(state: ReviewState): ReviewStep {
  const section = state.current === null ? null : sectionNamed(state.current);
  if (section === null) return stay({ ...state, isFull: state.card !== null, message: null });
  const open = new Set(state.open);
  if (!open.delete(section)) open.add(section);
  return stay(withListInSight({ ...state, open, message: null }));
}

/** Moves in the list, or in the card if it is shown alone. */
function scrollKey(state: ReviewState, { name, isControl }: Key): ReviewStep | null {
  const { card } = state;
  const page = Math.max(1, layoutOf(state).bodyRows - 1);
  const by = (lines: number): ReviewStep =>
    card === null ? stay(state) : stay({ ...scrolled(state, card, card.scroll + lines), message: null });
  const move = (rows: number): ReviewStep => moveBy({ ...state, message: null }, rows);
  switch (name) {
    case "down":
    case "j":
      return isControl ? null : state.isFull ? by(1) : move(1);
    case "up":
    case "k":
      return isControl ? null : state.isFull ? by(-1) : move(-1);
    case "pagedown":
      return by(page);
    case "pageup":
      return by(-page);
    case "d":
      return isControl ? by(page) : null;
    case "b":
      return isControl ? by(-page) : null;
    case "home":
      return state.isFull ? by(-Infinity) : move(-Infinity);
    case "end":
      return state.isFull ? by(Infinity) : move(Infinity);
    default:
      return null;
  }
}

function panelKey(state: ReviewState, panel: Panel, key: Key): ReviewStep {
  const closed = { ...state, panel: null };
  if (key.name === "escape") return panel.kind === "filter" ? filtered(closed, "") : stay(closed);
  switch (panel.kind) {
    case "keys":
      return stay(closed);
    case "filter":
    case "reason":
      if (key.name === "return" || key.name === "enter")
        return panel.kind === "filter" ? stay(closed) : reject(state, panel.ids, panel.text.trim());
      if (key.name === "backspace") return written(state, panel, withoutLast(panel.text));
      if (key.isControl && key.name === "u") return written(state, panel, "");
      return key.isControl || key.text === "" ? stay(state) : typed(state, panel, key.text);
    case "scopes": {
      const action = state.actions.get(panel.id);
      const scope = action?.scopes?.[Number(key.text) - 1];
      if (scope === undefined || state.card?.id !== panel.id || state.card.digest !== panel.digest)
        return stay(state);
      return approveCard(closed, scope.rules);
    }
    case "confirm":
      if (key.text === "n" || key.text === "q") return stay(closed);
      return key.text === "y" ? confirmed(closed, panel.confirm) : stay(state);
  }
}

function confirmed(state: ReviewState, confirm: Extract<Panel, { kind: "confirm" }>["confirm"]): ReviewStep {
  switch (confirm.kind) {
    case "approve":
      return state.card?.id === confirm.id && state.card.digest === confirm.digest
        ? approveCard(state)
        : stay(state);
    case "approveSelected": {
      const { selected } = confirm;
      const commands = [...selected].map(([id, digest]) => ({ kind: "approve" as const, id, digest }));
      return stay(begun(state, [...selected.keys()]), ...commands);
    }
    case "undoAll":
      return undo(state, confirm.ids);
  }
}

function reject(state: ReviewState, ids: readonly string[], reason: string): ReviewStep {
  const commands = ids.map((id) => ({ kind: "reject" as const, id, ...(reason === "" ? {} : { reason }) }));
  return stay(begun(state, ids), ...commands);
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function withoutLast(text: string): string {
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
    .slice(0, -1)
    .join("");
}
