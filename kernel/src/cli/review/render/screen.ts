import { visibleSections, type ReviewState } from "../state/state.ts";
import { displayWidth, truncate } from "../../render/width.ts";
import { oneLine } from "../../render/foreign.ts";
import { cardText, type CardText } from "./card.ts";
import { footLines } from "./foot.ts";
import { joinPieces } from "./lines.ts";
import { listLines, type ListLine } from "./list.ts";
import { columnsForBoth, inAscii } from "../../render/screen-style.ts";

/** A piece of a line of the screen. Text drawn before it cannot move it, however wide the terminal draws that text. */
export interface Cell {
  /** Counted from 0. */
  readonly column: number;
  readonly text: string;
}

export type Frame = readonly (readonly Cell[])[];

export const fewestColumns = 24;
const fewestRows = 8;
const widestList = 56;
const widestText = 120;

/** How the screen is divided, and what is drawn where. */
interface Layout {
  readonly showsList: boolean;
  readonly showsCard: boolean;
  /** Columns of text. */
  readonly listWidth: number;
  readonly cardWidth: number;
  /** The number of lines for the list and the card. */
  readonly bodyRows: number;
  readonly list: readonly ListLine[];
  readonly card: CardText;
  readonly foot: readonly string[];
}

export function layoutOf(state: ReviewState): Layout {
  const { columns, rows } = state.size;
  const isWide = columns >= columnsForBoth;
  const inner = isWide ? columns - 4 : columns;
  const showsBoth = isWide && !state.isFull;
  const showsCard = showsBoth || state.isFull;
  const listWidth = showsBoth ? Math.min(widestList, Math.floor(inner * 0.36)) : inner;
  const cardWidth = Math.min(widestText, showsBoth ? inner - listWidth - 3 : inner);
  const frameRows = isWide ? 3 : 2;
  const whole = footLines(state, inner);
  // The footer may push everything else off the screen, but always stays on it.
  const foot = whole.slice(0, Math.max(1, rows - frameRows));
  return {
    showsList: showsBoth || !state.isFull,
    showsCard,
    listWidth,
    cardWidth,
    bodyRows: Math.max(0, rows - frameRows - foot.length),
    list: listLines(state, listWidth),
    card: cardText(state, cardWidth),
    foot,
  };
}

/** Renders the whole screen, in exactly as many lines as it has. */
export function renderReview(state: ReviewState, layout = layoutOf(state)): Frame {
  const { columns, rows } = state.size;
  const frame =
    columns < fewestColumns || rows < fewestRows
      ? tooSmall(state)
      : columns >= columnsForBoth
        ? wideFrame(state, layout)
        : narrowFrame(state, layout);
  const cut = frame.slice(0, rows);
  const filled = [...cut, ...Array.from({ length: rows - cut.length }, (): Cell[] => [])];
  if (!state.screenStyle.isAscii) return filled;
  return filled.map((cells) => cells.map(({ column, text }) => ({ column, text: inAscii(text) })));
}

function tooSmall({ size: { columns, rows } }: ReviewState): Cell[][] {
  return [
    [{ column: 0, text: truncate("Too small", columns) }],
    [{ column: 0, text: truncate(`${columns}×${rows}`, columns) }],
  ];
}

function wideFrame(state: ReviewState, layout: Layout): Cell[][] {
  const { style } = state.screenStyle;
  const { columns } = state.size;
  const { showsList, showsCard, listWidth, bodyRows, list, card, foot } = layout;
  const rule = style.dim("│");
  const edge = (cells: readonly Cell[]): Cell[] => [
    { column: 0, text: rule },
    ...cells,
    { column: columns - 1, text: rule },
  ];
  const body = Array.from({ length: bodyRows }, (_none, index) => {
    const cells: Cell[] = [];
    if (showsList) cells.push({ column: 2, text: list[state.listTop + index]?.text ?? "" });
    if (showsList && showsCard) cells.push({ column: 2 + listWidth + 1, text: rule });
    if (showsCard)
      cells.push({
        column: showsList ? 2 + listWidth + 3 : 2,
        text: card.lines[(state.card?.scroll ?? 0) + index] ?? "",
      });
    return edge(cells);
  });
  const horizontal = (left: string, right: string, middle: string): Cell[] => [
    {
      column: 0,
      text: style.dim(
        `${left}${middle}${"─".repeat(Math.max(0, columns - 2 - displayWidth(middle)))}${right}`,
      ),
    },
  ];
  return [
    headLine(state),
    ...body,
    horizontal("├", "┤", scrollWords(state, layout)),
    ...foot.map((line) => edge([{ column: 2, text: line }])),
    horizontal("└", "┘", ""),
  ].slice(0, state.size.rows);
}

function narrowFrame(state: ReviewState, layout: Layout): Cell[][] {
  const { style } = state.screenStyle;
  const { columns } = state.size;
  const { showsCard, bodyRows, list, card, foot } = layout;
  const lines = Array.from({ length: bodyRows }, (_none, index) =>
    showsCard
      ? (card.lines[(state.card?.scroll ?? 0) + index] ?? "")
      : (list[state.listTop + index]?.text ?? ""),
  );
  const middle = scrollWords(state, layout);
  // Counts that do not fit are also in the list.
  const [head = ""] = joinPieces(countWords(state), " · ", columns);
  return [
    head,
    ...lines,
    style.dim(`${middle}${"─".repeat(Math.max(0, columns - displayWidth(middle)))}`),
    ...foot,
  ].map((text) => [{ column: 0, text }]);
}

function headLine(state: ReviewState): Cell[] {
  const { style } = state.screenStyle;
  const { columns } = state.size;
  const counts = countWords(state).join(" · ");
  const name = oneLine(state.workspace);
  const right = ` ${counts} `;
  const room = columns - displayWidth(right) - 6;
  const left = ` ${truncate(`lares review · ${name}`, Math.max(1, room - 4))} `;
  const line = "─".repeat(Math.max(0, columns - displayWidth(left) - displayWidth(right) - 4));
  return [
    { column: 0, text: style.dim("┌─") + style.bold(left) + style.dim(line) + right + style.dim("─┐") },
  ];
}

/** The number of actions in each section. */
function countWords(state: ReviewState): string[] {
  const counts = new Map(
    visibleSections({ ...state, filter: "" }).map(({ id, actions }) => [id, actions.length]),
  );
  const waiting = counts.get("waiting") ?? 0;
  const of = (id: "stale" | "automatic", words: string): string[] =>
    (counts.get(id) ?? 0) > 0 ? [`${counts.get(id)} ${words}`] : [];
  return [
    `${waiting} ${waiting === 1 ? "waits" : "wait"} for you`,
    ...of("stale", "out of date"),
    ...of("automatic", "automatic"),
    ...(state.filter === "" ? [] : [`only "${oneLine(state.filter)}"`]),
  ];
}

/** How much of the card is not visible. */
function scrollWords(state: ReviewState, { showsCard, card, bodyRows }: Layout): string {
  if (!showsCard || state.card === null) return "";
  const above = state.card.scroll;
  const below = Math.max(0, card.lines.length - above - bodyRows);
  const parts = [...(above > 0 ? [`↑ ${above}`] : []), ...(below > 0 ? [`↓ ${below} more`] : [])];
  return parts.length === 0 ? "" : `─ ${parts.join("  ")} `;
}
