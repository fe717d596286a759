import { isAtWork, waitingItems, type ChatState } from "../state/state.ts";
import { displayWidth } from "../../render/width.ts";

interface Hint {
  readonly key: string;
  readonly words: string;
  /** For a terminal where not all of the words have room. */
  readonly short?: string;
  /** Those with the highest numbers are left out first. */
  readonly rank: number;
}

const between = "  ";

/** Returns the keys that do something now, in one line: in shorter words, and then without the lesser ones, if it is narrow. */
export function keyLine(state: ChatState, width: number): string {
  const { style } = state.screenStyle;
  return fitted(hintsOf(state), width)
    .map(({ key, words }) => `${style.bold(key)} ${style.dim(words)}`)
    .join(between);
}

function hintsOf(state: ChatState): readonly Hint[] {
  const { panel, completion } = state;
  // Their questions name the keys.
  if (panel?.kind === "reason" || panel?.kind === "scopes" || panel?.kind === "redact") return [];
  if (panel?.kind === "known")
    return panel.doing === "list"
      ? [
          { key: "c", words: "correct", rank: 1 },
          { key: "f", words: "forget", rank: 2 },
          { key: "↑ ↓", words: "move", rank: 3 },
          { key: "Esc", words: "back", rank: 0 },
        ]
      : [];
  if (panel !== null)
    return [
      ...(panel.kind === "choose" ? [{ key: "Enter", words: "choose", rank: 1 }] : []),
      ...(panel.kind === "workers" ? [{ key: "Enter", words: "open or close", short: "open", rank: 1 }] : []),
      { key: "↑ ↓", words: "move", rank: 2 },
      { key: "Esc", words: "back", rank: 0 },
    ];
  if (state.focus !== null)
    return [
      { key: "↑ ↓", words: "move", rank: 2 },
      { key: "Enter", words: "open or close", short: "open", rank: 1 },
      { key: "Tab", words: "back to the message", short: "back", rank: 0 },
    ];
  if (completion !== null && completion.choices.length > 0)
    return [
      { key: "Tab", words: "take", rank: 0 },
      { key: "↑ ↓", words: "move", rank: 1 },
      { key: "Esc", words: "close the list", short: "close", rank: 2 },
    ];
  const waits = waitingItems(state).length > 0;
  return [
    { key: "Enter", words: "send", rank: 3 },
    ...(isAtWork(state) ? [{ key: "Esc", words: "stop", rank: 2 }] : []),
    waits
      ? { key: "Tab", words: "to what waits", short: "decide", rank: 1 }
      : { key: "Tab", words: "open and look", short: "look", rank: 4 },
    { key: "Alt-Enter", words: "new line", short: "line", rank: 6 },
    { key: "Ctrl-O", words: "open the last call", short: "open", rank: 7 },
    { key: "/help", words: "more", rank: 5 },
    { key: "Ctrl-D", words: "leave", rank: 0 },
  ];
}

/** Returns as many hints as fit, in their order: all of them in short words before any is left out. */
function fitted(hints: readonly Hint[], width: number): readonly Hint[] {
  const widthOf = (list: readonly Hint[]): number =>
    list.reduce((sum, { key, words }) => sum + displayWidth(key) + 1 + displayWidth(words), 0) +
    between.length * (list.length - 1);
  if (widthOf(hints) <= width) return hints;
  let shown = hints.map((hint) => ({ ...hint, words: hint.short ?? hint.words }));
  while (shown.length > 1 && widthOf(shown) > width) {
    const least = Math.max(...shown.map(({ rank }) => rank));
    shown = shown.filter(({ rank }) => rank !== least);
  }
  return shown;
}
