import { isDeepStrictEqual } from "node:util";
import type { Key } from "../keyboard/key.ts";
import { typedInto } from "./composing.ts";
import type { ChatStep } from "./input.ts";
import { insert, typed } from "./state/composer.ts";
import {
  correcting,
  knownPanel,
  textNow,
  whyFixed,
  type KnownPanel,
  type KnownSource,
} from "./state/memories.ts";
import type { ChatState } from "./state/state.ts";
import { complain, say, stay } from "./steps.ts";

const forgetKey = "f";
/** A question that is answered sooner was not read: the key is a part of a word. */
export const readMs = 500;

/** Handles a key in a list of what the mind knows. */
export function knownKey(state: ChatState, panel: KnownPanel, key: Key): ChatStep {
  const { items, selected, doing, purpose } = panel;
  const item = items[selected];
  const shown = (next: KnownPanel): ChatStep => stay({ ...state, panel: next, message: null });
  if (typeof doing === "object") {
    if (key.name === "escape") return shown({ ...panel, doing: "list" });
    if (key.name === "return" && key.isMeta !== true) return corrected(state, panel, doing.composer.text);
    const composer = key.name === "return" ? insert(doing.composer, "\n") : typed(doing.composer, key);
    return composer === null ? stay(state) : shown({ ...panel, doing: { composer } });
  }
  if (doing === "forget") {
    if (key.name === "escape" || item === undefined) return shown({ ...panel, doing: "list" });
    // A slash begins a command.
    if (key.text.trim() === "" || key.text === "/") return stay(state);
    const isRead = state.nowMs - (panel.asked?.atMs ?? 0) >= readMs;
    // A person who types words for something else must not forget with them: they are a message.
    if (!isRead) return typedInto(state, `${panel.asked?.by ?? ""}${key.text}`);
    const isEverywhere = key.text === "t" && item.kind === "memory";
    if (key.text !== "y" && !isEverywhere) return shown({ ...panel, doing: "list" });
    const { next, again } = afterChange(state, panel);
    return say(next, "Forgetting…", { kind: "forget", item, everywhere: isEverywhere, ...again });
  }
  if (key.name === "escape" || key.text === "q") return stay({ ...state, panel: null, message: null });
  const moved = movedBy(key, selected, items.length);
  if (moved !== null) return shown({ ...panel, selected: moved });
  const wanted =
    key.text === "c" || (key.name === "return" && purpose === "correct")
      ? "correct"
      : key.text === forgetKey || (key.name === "return" && purpose === "forget")
        ? "forget"
        : null;
  if (wanted === null || item === undefined) return stay(state);
  const fixed = whyFixed(item);
  if (fixed !== null) return complain(state, fixed);
  return shown(
    wanted === "correct"
      ? correcting(panel, textNow(item))
      : { ...panel, doing: "forget", asked: { atMs: state.nowMs, by: key.text } },
  );
}

/** Returns the index that a key moves to in a list; null for another key. */
export function movedBy(key: Key, selected: number, length: number): number | null {
  const steps = { down: 1, up: -1, pagedown: 5, pageup: -5, home: -length, end: length };
  const step = (steps as Partial<Record<string, number>>)[key.name];
  return step === undefined ? null : Math.max(0, Math.min(length - 1, selected + step));
}

/** Returns the state with an open list as it is now; unchanged if the person has left it, or already changes something else. */
export function listedAgain(
  state: ChatState,
  listed: Pick<KnownPanel, "title" | "items" | "purpose" | "source">,
): ChatState {
  const { panel } = state;
  if (panel?.kind !== "known" || panel.doing !== "list" || !isDeepStrictEqual(panel.source, listed.source))
    return state;
  const { length } = listed.items;
  // The person may be about to leave the list with Esc.
  if (length === 0) return { ...state, panel: null, hasJustLeft: true };
  return { ...state, panel: knownPanel(listed, Math.min(panel.selected, length - 1)) };
}

/** A list that was opened to look at stays open after a change; one that was opened for a single change closes. */
function afterChange(
  state: ChatState,
  panel: KnownPanel,
): { readonly next: ChatState; readonly again: { readonly again?: KnownSource } } {
  return panel.purpose === "look"
    ? { next: { ...state, panel: { ...panel, doing: "list" } }, again: { again: panel.source } }
    : { next: { ...state, panel: null }, again: {} };
}

function corrected(state: ChatState, panel: KnownPanel, given: string): ChatStep {
  const item = panel.items[panel.selected];
  const text = given.trim();
  if (item === undefined) return stay(state);
  if (text === "" && item.kind === "memory")
    return complain(state, "Write what it says from now on. Esc goes back; f forgets it.");
  if (text === textNow(item)) return complain(state, "It says that already. Esc goes back.");
  const { next, again } = afterChange(state, panel);
  return say(next, "Correcting…", { kind: "correct", item, text, ...again });
}
