import { sectionOf } from "../state/sections.ts";
import { currentAction, sectionNamed, type Panel, type ReviewState } from "../state/state.ts";
import { decisionLines } from "../../render/decision-text.ts";
import { wrap } from "../../render/width.ts";
import { columnsForBoth } from "../../render/screen-style.ts";
import { joinPieces } from "./lines.ts";

/** Returns the lines beneath the list and the card: the open panel, the last message, and the keys that apply now. */
export function footLines(state: ReviewState, width: number): string[] {
  const { style, isAscii } = state.screenStyle;
  const { message, panel } = state;
  const said =
    message === null
      ? []
      : decisionLines(message.text, width, { isAscii }).map((line) =>
          message.isFault ? style.red(line) : line,
        );
  const open = panel === null ? keyLines(state, width) : panelLines(state, panel, width);
  return [...said, ...open];
}

interface KeyWord {
  readonly keys: string;
  readonly words: string;
}

/** Returns the keys that apply in the current state. */
function keysNow(state: ReviewState): KeyWord[] {
  const action = currentAction(state);
  const row = state.current === null ? null : sectionNamed(state.current);
  const section = action === null ? null : sectionOf(action, state.decidedHere);
  const keys: KeyWord[] = [];
  const add = (key: string, words: string): void => void keys.push({ keys: key, words });
  const { card, selected } = state;
  if (selected.size > 0) {
    add("A", `approve ${selected.size}`);
    add("R", `reject ${selected.size}`);
  }
  if (section === "waiting") {
    const kept = card === null ? 0 : card.parts.length - card.leftOut.size;
    add(
      "a",
      card !== null && card.leftOut.size > 0 ? `approve ${kept} of ${card.parts.length} parts` : "approve",
    );
    add("r", "reject");
    add("e", "edit");
    const showsCard = state.isFull || state.size.columns >= columnsForBoth;
    if (card !== null && card.parts.length > 0 && showsCard) {
      add("y", "take part");
      add("n", "leave it out");
      add("Tab", "next part");
    }
    add("Space", selected.has(action?.id ?? "") ? "deselect" : "select");
    if ((action?.scopes?.length ?? 0) > 0) add("s", "always…");
  }
  if (section === "stale" && action?.rebasable === true) add("f", "fit to the new text");
  if (action?.state === "Committed" || row === "automatic")
    add("u", row === "automatic" ? "undo all…" : "undo");
  else if ([...state.decidedHere].some((id) => state.actions.get(id)?.state === "Committed"))
    add("u", "undo the last");
  if (state.isFull) add("Esc", "back");
  else add("Enter", row === null ? "show" : state.open.has(row) ? "close" : "open");
  add("/", "filter");
  add("?", "keys");
  add("q", "quit");
  return keys;
}

function keyLines(state: ReviewState, width: number): string[] {
  const { style } = state.screenStyle;
  const keys = keysNow(state);
  const drawn = (shown: readonly KeyWord[]): string[] =>
    joinPieces(
      shown.map(({ keys: names, words }) => `${style.bold(names)} ${words}`),
      "  ",
      width,
    );
  const all = drawn(keys);
  // A low screen needs its lines for the change itself; `?` shows the rest.
  return all.length <= Math.max(1, state.size.rows / keyShare)
    ? all
    : drawn(keys.filter(({ keys: name }) => ["A", "a", "r", "Enter", "Esc", "?"].includes(name)));
}

/** The keys take up to one of this many lines. */
const keyShare = 6;

function panelLines(state: ReviewState, panel: Panel, width: number): string[] {
  const { style, isAscii } = state.screenStyle;
  const field = (label: string, text: string, hint: string): string[] => [
    ...wrap(label, width).map((line) => style.bold(line)),
    ...decisionLines(`${text}_`, width - 2, { isAscii }).map(
      (line, row) => `${row === 0 ? "> " : "  "}${line}`,
    ),
    ...wrap(hint, width).map((line) => style.dim(line)),
  ];
  switch (panel.kind) {
    case "filter":
      return field(
        "Show only changes with these words:",
        panel.text,
        "Enter applies it, Esc shows all again.",
      );
    case "reason": {
      const first = state.actions.get(panel.ids[0] ?? "")?.agent ?? "The agent";
      const reader = panel.ids.length === 1 ? `${first} receives this.` : "Their agents receive this.";
      return field(
        `Why not? ${reader}`,
        panel.text,
        `Enter rejects ${panel.ids.length === 1 ? "it" : `all ${panel.ids.length}`}, with or without a reason. Esc goes back.`,
      );
    }
    case "scopes": {
      const scopes = state.actions.get(panel.id)?.scopes ?? [];
      return [
        ...wrap("Approve, and from now on without asking:", width).map((line) => style.bold(line)),
        ...scopes.flatMap(({ title }, index) =>
          decisionLines(title, width - 4, { isAscii }).map((line, row) =>
            row === 0 ? ` ${style.bold(String(index + 1))}  ${line}` : `    ${line}`,
          ),
        ),
        ...wrap("Press a number. Esc goes back. lares decisions lists and revokes these answers.", width).map(
          (line) => style.dim(line),
        ),
      ];
    }
    case "confirm":
      return [
        ...panel.question.split("\n").flatMap((line) => decisionLines(line, width, { isAscii })),
        ...joinPieces([`${style.bold("y")} yes`, `${style.bold("Esc")} no`], "  ", width),
      ];
    case "keys":
      return allKeys(width, (text) => style.bold(text));
  }
}

const keyList: readonly (readonly [keys: string, words: string])[] = [
  ["↓ ↑ or j k", "move; in an open card, scroll"],
  ["Enter, Esc", "show the card alone, and back; open and close a section"],
  ["PgDn PgUp", "scroll the card"],
  ["a", "approve; shows first what you have not seen yet"],
  ["r", "reject, with a reason if you like"],
  ["e", "edit the new text in $VISUAL or $EDITOR, then approve that"],
  ["y n Tab", "include a part, leave it out, go to the next"],
  ["s", "approve, and always from now on: choose the scope"],
  ["Space, A, R", "select; approve or reject all selected changes"],
  ["u", "undo this one, or what you approved last"],
  ["f", "rebase an outdated change on the new text"],
  ["/", "filter the list"],
  ["q", "quit; undecided proposals keep waiting"],
];

function allKeys(width: number, bold: (text: string) => string): string[] {
  const column = 13;
  return [
    ...keyList.flatMap(([keys, words]) =>
      wrap(words, width - column).map(
        (line, row) =>
          (row === 0 ? bold(keys) + " ".repeat(Math.max(1, column - keys.length)) : " ".repeat(column)) +
          line,
      ),
    ),
    "Any key closes this.",
  ];
}
