import type { Key } from "../keyboard/key.ts";
import type { ChatStep } from "./input.ts";
import { insert, typed } from "./state/composer.ts";
import { correcting, textNow, whyFixed, type Known, type KnownPanel } from "./state/memories.ts";
import type { ChatState } from "./state/state.ts";
import { complain, say, stay } from "./steps.ts";

/** Handles a key in a list of what the mind knows. */
export function knownKey(state: ChatState, panel: KnownPanel, key: Key): ChatStep {
  const { items, selected, doing, purpose } = panel;
  const item = items[selected];
  const shown = (next: KnownPanel): ChatStep => stay({ ...state, panel: next, message: null });
  if (typeof doing === "object") {
    if (key.name === "escape") return shown({ ...panel, doing: "list" });
    if (key.name === "return" && key.isMeta !== true) return corrected(state, item, doing.composer.text);
    const composer = key.name === "return" ? insert(doing.composer, "\n") : typed(doing.composer, key);
    return composer === null ? stay(state) : shown({ ...panel, doing: { composer } });
  }
  if (doing === "forget") {
    if (key.name === "escape" || item === undefined) return shown({ ...panel, doing: "list" });
    const isEverywhere = key.text === "t" && item.kind === "memory";
    if (key.name !== "return" && !isEverywhere)
      // A letter cancels: a person who types words for something else ends them with Enter, which must not forget.
      return key.text === "" ? stay(state) : shown({ ...panel, doing: "list" });
    return say({ ...state, panel: null }, "Forgetting…", { kind: "forget", item, everywhere: isEverywhere });
  }
  if (key.name === "escape" || key.text === "q") return stay({ ...state, panel: null, message: null });
  const step = { down: 1, up: -1, pagedown: 5, pageup: -5 }[key.name] ?? 0;
  if (step !== 0)
    return shown({ ...panel, selected: Math.max(0, Math.min(items.length - 1, selected + step)) });
  const wanted =
    key.text === "c" || (key.name === "return" && purpose === "correct")
      ? "correct"
      : key.text === "f" || (key.name === "return" && purpose === "forget")
        ? "forget"
        : null;
  if (wanted === null || item === undefined) return stay(state);
  const fixed = whyFixed(item);
  if (fixed !== null) return complain(state, fixed);
  return shown(wanted === "correct" ? correcting(panel, textNow(item)) : { ...panel, doing: "forget" });
}

function corrected(state: ChatState, item: Known | undefined, given: string): ChatStep {
  const text = given.trim();
  if (item === undefined) return stay(state);
  if (text === "" && item.kind === "memory")
    return complain(state, "Write what it says from now on. Esc goes back; f forgets it.");
  if (text === textNow(item)) return complain(state, "It says that already. Esc goes back.");
  return say({ ...state, panel: null }, "Correcting…", { kind: "correct", item, text });
}
