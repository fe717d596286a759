import { needsCare } from "../../../base/vocabulary/impact-words.ts";
import type { Action } from "../../../base/vocabulary/action.ts";
import { isSelectable, rowsOf, type ReviewState, type Row } from "../state/state.ts";
import type { SectionId } from "../state/sections.ts";
import { decisionLines } from "../../render/decision-text.ts";
import { ageWords, joinPieces, subjectLines } from "./lines.ts";
import { wrap } from "../../render/width.ts";
import { actionStateWords } from "../../../base/vocabulary/action-words.ts";

/** The number of lines of one text in a row of the list; the card has the rest. */
const maxTitleLines = 3;
const maxNameLines = 4;

const sectionTitles: Readonly<Record<SectionId, string>> = {
  waiting: "Waiting for you",
  stale: "Out of date",
  automatic: "Applied automatically",
  replaced: "Replaced",
  decided: "Decided here",
};

export interface ListLine {
  /** The row that the line belongs to. */
  readonly row: string | null;
  readonly text: string;
}

/** Returns all lines of the list, whether or not the screen has room for them. */
export function listLines(state: ReviewState, width: number): ListLine[] {
  const rows = rowsOf(state);
  const lines: ListLine[] = [];
  rows.forEach((row, index) => {
    const before = rows[index - 1];
    if (before !== undefined && (row.kind === "action" || before.kind === "action"))
      lines.push({ row: null, text: "" });
    lines.push(...rowLines(state, row, width).map((text) => ({ row: row.id, text })));
    if (row.kind === "section" && row.section === "waiting" && row.count === 0)
      lines.push({ row: null, text: state.screenStyle.style.dim("  Nothing waits for you.") });
  });
  return lines;
}

function rowLines(state: ReviewState, row: Row, width: number): string[] {
  const { style } = state.screenStyle;
  const bar = row.id === state.current ? style.cyan("▌") : " ";
  const inner =
    row.kind === "section" ? sectionLines(state, row, width - 1) : actionLines(state, row, width - 1);
  return inner.map((line) => bar + line);
}

function sectionLines(state: ReviewState, row: Row & { kind: "section" }, width: number): string[] {
  const { style } = state.screenStyle;
  const isFolded = row.section !== "waiting" && !state.open.has(row.section) && row.count > 0;
  const title = `${sectionTitles[row.section]} · ${row.count}`;
  const hint = isFolded && row.id === state.current ? "  Enter opens" : "";
  return wrap(`${title}${hint}`, width).map((line) => style.bold(line));
}

/** Hundreds of rows are drawn for every key, but few of them have changed, so their last lines are cached. */
const known = new WeakMap<Action, { readonly key: readonly unknown[]; readonly lines: string[] }>();

function actionLines(state: ReviewState, row: Row & { kind: "action" }, width: number): string[] {
  const { screenStyle, selected, busy, nowMs } = state;
  const { action, section } = row;
  const age = ageWords(action.created, nowMs);
  const key = [screenStyle, section, width, selected.has(action.id), busy.has(action.id), age];
  const before = known.get(action);
  if (before !== undefined && before.key.every((value, index) => value === key[index])) return before.lines;
  const lines = drawnRow(state, row, width);
  known.set(action, { key, lines });
  return lines;
}

function drawnRow(
  state: ReviewState,
  { action, section }: Row & { kind: "action" },
  width: number,
): string[] {
  const { screenStyle, selected, busy, nowMs } = state;
  const { style, isAscii } = screenStyle;
  const box =
    section !== "waiting" ? "" : isSelectable(action) ? (selected.has(action.id) ? "[x]" : "[ ]") : " ! ";
  const indent = section === "waiting" ? 4 : 1;
  const surface = { style, width: Math.max(8, width - indent), isAscii };
  const names = capped(subjectLines(action, surface), maxNameLines);
  const title = capped(
    decisionLines(action.title, surface.width - 2, { isAscii }).map((line) => `${style.dim("┆")} ${line}`),
    maxTitleLines,
  );
  const about = joinPieces(
    [
      ...decisionLines(action.agent, surface.width, { isAscii }),
      ageWords(action.created, nowMs),
      ...(busy.has(action.id) ? ["being decided"] : []),
      ...(section === "decided" ? [actionStateWords[action.state]] : []),
    ],
    " · ",
    surface.width,
  );
  const lines = [...names, ...title, ...about.map((line) => style.dim(line))];
  return lines.map((line, index) =>
    indent === 1
      ? ` ${line}`
      : `${index === 0 ? (needsCare(action) ? style.yellow(box) : box) : "   "} ${line}`,
  );
}

function capped(lines: readonly string[], most: number): string[] {
  return lines.length <= most ? [...lines] : [...lines.slice(0, most - 1), "…"];
}
