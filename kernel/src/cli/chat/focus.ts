import { maxRejectionReason } from "../../base/vocabulary/bounds.ts";
import { layoutOf, cardLinesOf } from "./render/layout.ts";
import type { Key } from "../keyboard/key.ts";
import { answerByKey } from "../render/question-keys.ts";
import { knownKey, movedBy } from "./known-keys.ts";
import type { ChatStep } from "./input.ts";
import {
  actionOf,
  isFocusable,
  isWaiting,
  shownItems,
  stateOfAction,
  waitingItems,
  type ChatState,
  type Panel,
  type ShownItem,
} from "./state/state.ts";
import { redactKey } from "./redacting.ts";
import { complain, say, stay } from "./steps.ts";
import { workersKey } from "./worker-keys.ts";

/** Moves to what waits for the person, else to the last item that can be opened. */
export function toWaiting(state: ChatState): ChatStep {
  const [waiting] = waitingItems(state);
  const item = waiting ?? shownItems(state).findLast((each) => isFocusable(each));
  return item === undefined ? stay(state) : stay(toItem(state, item.key));
}

/** Returns the state with the keys at an item, which is visible. */
function toItem(state: ChatState, key: string): ChatState {
  const next = { ...state, focus: key, message: null };
  const { ranges, top, bodyRows } = layoutOf(next);
  const range = ranges.get(key);
  if (range === undefined) return next;
  if (range.start < top) return { ...next, top: range.start };
  // The beginning of a long item is more important than its end.
  if (range.end > top + bodyRows) return { ...next, top: Math.min(range.start, range.end - bodyRows) };
  return next;
}

/** Opens or closes the item with the keys, or the last one that can be opened. */
export function toggled(state: ChatState): ChatStep {
  const item =
    state.focus === null
      ? shownItems(state).findLast((each) => isFocusable(each) && !isWaiting(state, each))
      : shownItems(state).find(({ key }) => key === state.focus);
  if (item === undefined) return say(state, "There is nothing to open yet.");
  const open = new Set(state.open);
  if (!open.delete(item.key)) open.add(item.key);
  const next = { ...state, open };
  return stay(state.focus === null ? next : toItem(next, item.key));
}

/** Handles a key while an item has the keys. */
export function focusKey(state: ChatState, focus: string, key: Key): ChatStep {
  const items = shownItems(state);
  const item = items.find((each) => each.key === focus);
  if (item === undefined) return stay({ ...state, focus: null });
  switch (key.name) {
    case "escape":
    case "tab":
      return stay({ ...state, focus: null, top: null });
    case "up":
    case "down":
    case "k":
    case "j":
      return moved(state, items, focus, key.name === "up" || key.name === "k" ? -1 : 1);
    case "return":
    case "space":
      return toggled(state);
  }
  if (item.kind === "ask") return askKey(state, item, key);
  if (item.kind === "action") return actionKey(state, item, key);
  return stay(state);
}

function moved(state: ChatState, items: readonly ShownItem[], focus: string, step: -1 | 1): ChatStep {
  const { ranges, top, bodyRows } = layoutOf(state);
  const range = ranges.get(focus);
  // A long item is scrolled before the next one is reached.
  if (range !== undefined && step > 0 && range.end > top + bodyRows) return stay({ ...state, top: top + 1 });
  if (range !== undefined && step < 0 && range.start < top) return stay({ ...state, top: top - 1 });
  const focusable = items.filter((each) => isFocusable(each));
  const next = focusable[focusable.findIndex(({ key }) => key === focus) + step];
  if (next !== undefined) return stay(toItem(state, next.key));
  return step > 0 ? stay({ ...state, focus: null, top: null }) : stay(state);
}

function actionKey(state: ChatState, item: ShownItem & { kind: "action" }, key: Key): ChatStep {
  const id = item.action;
  const action = actionOf(state, id);
  if (action === null) return say(state, "It is being read. Press the key again in a moment.");
  if (state.busy.has(id)) return whileDecided(state, key, "arsu");
  const now = stateOfAction(state, item);
  if (now === "Committed" && key.text === "u") return stay(begun(state, id), { kind: "undo", id });
  if (now === "Stale" && action.rebasable === true && key.text === "f")
    return stay(begun(state, id), { kind: "rebase", id });
  if (now !== "PendingApproval") return stay(state);
  switch (key.text) {
    case "a":
      return ifSeen(state, id, () => stay(begun(state, id), { kind: "approve", id, digest: action.digest }));
    case "s":
      if ((action.scopes?.length ?? 0) === 0) return complain(state, "It cannot be approved always.");
      return ifSeen(state, id, () =>
        stay({ ...state, panel: { kind: "scopes", id, digest: action.digest } }),
      );
    case "r":
      return stay({ ...state, panel: { kind: "reason", id, text: "" } });
  }
  return stay(state);
}

/** Calls `then` if the whole card was on the screen; otherwise opens it, and shows what was not. */
function ifSeen(state: ChatState, id: string, then: () => ChatStep): ChatStep {
  const whole = state.actions.get(id);
  if (whole === undefined) return stay(state);
  if (whole.unread.size > 0)
    return complain(
      state,
      `Its contents cannot be shown here. Once you have seen them: lares actions approve ${id} --digest ${whole.action.digest}`,
    );
  const { width, ranges } = layoutOf(state);
  const lines = cardLinesOf(state, id, width).length;
  const seen = state.seen.get(id);
  const to = seen?.digest === whole.action.digest && seen.width === width ? seen.to : 0;
  if (to >= lines) return then();
  const open = new Set(state.open).add(id);
  const start = layoutOf({ ...state, open }).ranges.get(id)?.start ?? ranges.get(id)?.start ?? 0;
  const next = { ...state, open, top: Math.max(0, start + to - (to === 0 ? 0 : 1)) };
  const whenShown = say(next, "Shown now. Press the key again to decide.");
  const { top, bodyRows } = layoutOf(whenShown.state);
  if (start + lines <= top + bodyRows) return whenShown;
  // Without a number: the rule above says how many lines are below, also while they are scrolled.
  return say(next, "Some lines are not seen yet: ↓ or PgDn. The key decides after the last one.");
}

function askKey(state: ChatState, { ask }: ShownItem & { kind: "ask" }, key: Key): ChatStep {
  if (state.busy.has(ask.id)) return whileDecided(state, key, "arsd123456789");
  const answer = answerByKey(ask, key.text);
  if (answer === undefined) return stay(state);
  const { allow, remember } = answer;
  return stay(begun(state, ask.id), { kind: "answer", id: ask.id, digest: ask.digest, allow, remember });
}

/** A key for a card that is being decided does nothing, and begins no message either. */
function whileDecided(state: ChatState, { text }: Key, keys: string): ChatStep {
  return text !== "" && keys.includes(text) ? say(state, "It is being decided.") : stay(state);
}

/** A decision is under way: the keys are at the composer again, so that a second press decides nothing. */
function begun(state: ChatState, id: string): ChatState {
  return { ...state, busy: new Set(state.busy).add(id), focus: null, panel: null, message: null, top: null };
}

/** Handles a key while a panel is open. */
export function panelKey(state: ChatState, panel: Panel, key: Key): ChatStep {
  const closed: ChatState = { ...state, panel: null };
  if (panel.kind === "known") return knownKey(state, panel, key);
  if (panel.kind === "redact") return redactKey(state, panel, key);
  if (key.name === "escape") return stay(closed);
  switch (panel.kind) {
    case "reason": {
      if (key.name === "return") {
        const reason = panel.text.trim();
        return stay(begun(closed, panel.id), {
          kind: "reject",
          id: panel.id,
          ...(reason === "" ? {} : { reason }),
        });
      }
      const text = key.name === "backspace" ? panel.text.slice(0, -1) : panel.text + key.text;
      return stay({ ...state, panel: { ...panel, text: text.slice(0, maxRejectionReason) } });
    }
    case "scopes": {
      const scope = actionOf(state, panel.id)?.scopes?.[Number(key.text) - 1];
      if (scope === undefined) return stay(state);
      return stay(begun(closed, panel.id), {
        kind: "approve",
        id: panel.id,
        digest: panel.digest,
        rules: scope.rules,
      });
    }
    case "choose": {
      const { items, selected } = panel;
      const chosen = items[selected];
      if (key.name === "return" && chosen !== undefined)
        return stay(closed, { kind: "resume", conversation: chosen.conversation });
      const moved = movedBy(key, selected, items.length);
      return moved === null ? stay(state) : stay({ ...state, panel: { ...panel, selected: moved } });
    }
    case "workers":
      return workersKey(state, panel, key);
    case "help":
    case "context": {
      if (key.text === "q") return stay(closed);
      const { body, bodyRows } = layoutOf(state);
      const last = Math.max(0, body.length - bodyRows);
      const page = bodyRows - 1;
      const steps = { down: 1, up: -1, pagedown: page, pageup: -page, home: -last, end: last };
      const step = (steps as Partial<Record<string, number>>)[key.name];
      if (step === undefined) return stay(state);
      return stay({ ...state, panel: { ...panel, top: Math.max(0, Math.min(last, panel.top + step)) } });
    }
  }
}
