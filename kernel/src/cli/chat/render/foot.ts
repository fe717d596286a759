import { oneLine } from "../../render/foreign.ts";
import { displayWidth, padEnd, truncate, wrap } from "../../render/width.ts";
import {
  isAtWork,
  processesAtWork,
  runningProcesses,
  waitingItems,
  type ChatState,
  actionOf,
} from "../state/state.ts";
import { decisionLines } from "../../render/decision-text.ts";
import { counted } from "../../render/quantities.ts";
import { joinPieces } from "../../review/render/lines.ts";
import { forgetQuestion } from "../state/memories.ts";
import { plainText } from "../../../base/plain-text.ts";
import { movingDots, processLine } from "./process-line.ts";
import { redactionQuestion } from "./redaction.ts";
import { keyLine } from "./key-hints.ts";

const maxProcesses = 4;
const maxComposerRows = 8;
const maxChoices = 6;
/** With fewer rows, the keys are left out. */
const rowsForKeys = 14;

export interface Foot {
  readonly lines: readonly string[];
  /** Where the text cursor is: the row within the lines, and the column. Null if it is hidden. */
  readonly cursor: { readonly row: number; readonly column: number } | null;
}

/** Returns the lines beneath the transcript: what runs, the panel or the composer, the status and the keys. */
export function footOf(state: ChatState, columns: number): Foot {
  const { style } = state.screenStyle;
  const width = Math.max(16, columns - 1);
  const { message, panel } = state;
  const running = runningProcesses(state);
  const processes = running
    .slice(0, maxProcesses)
    .map((process) => processLine(process, state, { style, width }));
  const more = running.length - processes.length;
  const said =
    message === null
      ? []
      : wrap(oneLine(message.text), width).map((line) => (message.isFault ? style.red(line) : line));
  const above = [
    style.dim("─".repeat(width)),
    ...processes,
    ...(more > 0 ? [style.dim(`… and ${more} more: /workers`)] : []),
    ...said,
  ];
  const field = panel === null ? composerLines(state, width) : panelField(state, width);
  const choices = panel === null ? completionLines(state, width) : [];
  const lines = [
    ...above,
    ...field.lines,
    ...choices,
    statusLine(state, width),
    ...(state.size.rows >= rowsForKeys ? [keyLine(state, width)] : []),
  ];
  return {
    lines,
    cursor:
      field.cursor === null || state.focus !== null
        ? null
        : { row: above.length + field.cursor.row, column: field.cursor.column },
  };
}

/** The question of an open panel, in place of the composer. */
function panelField(state: ChatState, width: number): Field {
  const { panel } = state;
  return panel?.kind === "known"
    ? knownField(state, panel, width)
    : { lines: questionLines(state, width), cursor: null };
}

/** The question about the selected memory or block, or its text while it is corrected. */
function knownField(
  state: ChatState,
  { items, selected, doing }: ChatState["panel"] & { kind: "known" },
  width: number,
): Field {
  const { style } = state.screenStyle;
  const item = items[selected];
  if (doing === "list" || item === undefined) return { lines: [], cursor: null };
  const bold = (text: string): string[] => wrap(text, width).map((line) => style.bold(line));
  const dim = (text: string): string[] => wrap(text, width).map((line) => style.dim(line));
  if (doing === "forget") {
    const everywhere =
      item.kind === "memory" ? " t also removes its text from all conversations that have it." : "";
    return {
      lines: [...bold(forgetQuestion(item)), ...dim(`y forgets it.${everywhere} Esc keeps it.`)],
      cursor: null,
    };
  }
  const above = bold("What does it say from now on?");
  const field = composerLines({ ...state, composer: doing.composer }, width, { advice: "", isMarked: true });
  const below = dim(
    item.kind === "memory"
      ? "Enter saves it in your words, and the old text is forgotten. Esc goes back."
      : "Enter saves it. Esc goes back.",
  );
  return {
    lines: [...above, ...field.lines, ...below],
    cursor:
      field.cursor === null ? null : { row: above.length + field.cursor.row, column: field.cursor.column },
  };
}

function questionLines(state: ChatState, width: number): string[] {
  const { panel } = state;
  const { style, isAscii } = state.screenStyle;
  if (panel?.kind === "reason") {
    const agent = actionOf(state, panel.id)?.agent ?? "The agent";
    return [
      ...wrap(`Why not? ${oneLine(agent)} receives this.`, width).map((line) => style.bold(line)),
      ...decisionLines(`${panel.text}_`, width - 2, { isAscii }).map(
        (line, row) => `${row === 0 ? "> " : "  "}${line}`,
      ),
      ...wrap("Enter rejects it, with or without a reason. Esc goes back.", width).map((line) =>
        style.dim(line),
      ),
    ];
  }
  if (panel?.kind === "redact") return redactionQuestion(panel, { style, width });
  if (panel?.kind === "scopes")
    return [
      ...wrap("Approve, and from now on without asking:", width).map((line) => style.bold(line)),
      ...(actionOf(state, panel.id)?.scopes ?? []).flatMap(({ title }, index) =>
        decisionLines(title, width - 4, { isAscii }).map((line, row) =>
          row === 0 ? ` ${style.bold(String(index + 1))}  ${line}` : `    ${line}`,
        ),
      ),
      ...wrap("Press a number. Esc goes back.", width).map((line) => style.dim(line)),
    ];
  return [];
}

interface Field {
  readonly lines: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number } | null;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * Renders what the person writes, wrapped at any place, around the row with the cursor. `isMarked`: with a sign before each
 * row, because others wrote the text at first.
 */
function composerLines(
  { composer, screenStyle: { style }, focus }: ChatState,
  width: number,
  { advice, isMarked } = { advice: "Write a message, / for commands, @ for files", isMarked: false },
): Field {
  const room = width - 2;
  const rows: string[] = [""];
  let used = 0;
  let cursor = { row: 0, column: 0 };
  let place = 0;
  const note = (): void => {
    if (place <= composer.cursor) cursor = { row: rows.length - 1, column: used };
  };
  note();
  for (const { segment } of graphemes.segment(composer.text)) {
    if (segment === "\n" || segment === "\r\n") {
      place += segment.length;
      rows.push("");
      used = 0;
      note();
      continue;
    }
    const shown = plainText(segment);
    const columns = displayWidth(shown);
    if (used + columns > room) {
      rows.push("");
      used = 0;
      note();
    }
    rows[rows.length - 1] += shown;
    used += columns;
    place += segment.length;
    note();
  }
  // Two rows are needed to say how many lines are hidden.
  const most = rows.length > maxComposerRows ? maxComposerRows - 2 : maxComposerRows;
  const first = Math.max(0, Math.min(cursor.row - most + 1, rows.length - most));
  const shown = rows.slice(first, first + most);
  const above = hiddenRows("↑", first).map(style.dim);
  const below = hiddenRows("↓", rows.length - first - shown.length).map(style.dim);
  const sign = focus === null ? style.cyan("›") : style.dim("›");
  const hint = style.dim(truncate(advice, room));
  const own = shown.map((line, row) =>
    composer.text === ""
      ? `${sign} ${focus === null ? hint : ""}`
      : `${row === 0 || isMarked ? sign : " "} ${line}`,
  );
  return {
    lines: [...above, ...own, ...below],
    cursor: { row: above.length + cursor.row - first, column: cursor.column + 2 },
  };
}

function hiddenRows(arrow: string, count: number): string[] {
  return count === 0 ? [] : [`  ${arrow} ${counted(count, "more line")}`];
}

function completionLines({ completion, screenStyle: { style } }: ChatState, width: number): string[] {
  if (completion === null || completion.choices.length === 0) return [];
  const { choices, selected } = completion;
  const first = Math.max(0, Math.min(selected - maxChoices + 1, choices.length - maxChoices));
  const shown = choices.slice(first, first + maxChoices);
  const widest = Math.min(40, Math.max(...shown.map(({ value }) => displayWidth(oneLine(value)))));
  return shown.map(({ value, about }, index) => {
    const isChosen = first + index === selected;
    const name = padEnd(truncate(oneLine(value), Math.max(8, width - 4)), widest);
    const rest = truncate(oneLine(about), Math.max(0, width - displayWidth(name) - 5));
    return `${isChosen ? style.cyan("▌") : " "} ${isChosen ? style.bold(name) : name} ${style.dim(rest)}`;
  });
}

/** Renders the model, how full its window is, the cost, and whether it works or waits for the person. */
function statusLine(state: ChatState, width: number): string {
  const { conversation, rehearsal, isCutOff, nowMs, screenStyle } = state;
  const { style } = screenStyle;
  const { context, usage, model } = conversation;
  const waits = waitingItems(state).length;
  const work = isCutOff
    ? style.yellow("the kernel is being started again")
    : waits > 0
      ? style.bold(style.yellow(`${counted(waits, "decision")} ${waits === 1 ? "waits" : "wait"} for you`))
      : null;
  const running = processesAtWork(state).length;
  const busy = isAtWork(state) ? style.dim(`working${movingDots(nowMs)}`) : null;
  const factsWith = (answers: string): readonly string[] => [
    answers,
    ...(context.limit > 0
      ? [`${context.tokens.toLocaleString("en")} of ${context.limit.toLocaleString("en")} tokens`]
      : []),
    ...(usage.usd === undefined || rehearsal !== null ? [] : [`$${usage.usd.toFixed(2)}`]),
    ...(running === 0 ? [] : [counted(running, "process runs", "processes run")]),
  ];
  const first = [work, busy].filter((piece) => piece !== null);
  const linesWith = (answers: string): readonly string[] =>
    joinPieces(
      [...first, ...factsWith(answers).map((fact) => style.dim(truncate(fact, width)))],
      style.dim(" · "),
      width,
    );
  const answers =
    rehearsal === null
      ? oneLine(model) === ""
        ? "no model"
        : oneLine(model)
      : `rehearsal of ${oneLine(rehearsal)}, no model is asked`;
  const lines = linesWith(answers);
  // In a narrow terminal the left side is kept; which script it is matters less than the size of the context.
  const [line = ""] = lines.length > 1 && rehearsal !== null ? linesWith("rehearsal") : lines;
  return line;
}
