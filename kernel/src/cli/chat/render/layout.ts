import { isFocusable, isWaiting, shownItems, type ChatState } from "../state/state.ts";
import type { Surface } from "../../render/style.ts";
import { chained, DrawnLines, type Lines } from "../../render/lines.ts";
import { wrap } from "../../render/width.ts";
import { footOf, type Foot } from "./foot.ts";
import { cardLines, isCardWhole, itemLines, personLines } from "./items.ts";
import { panelLines } from "./panels.ts";

/** Text that is wider is hard to read. */
const widestText = 110;
/** The bar of the item that has the keys. */
const margin = 2;
const headRows = 2;

interface Layout {
  /** Columns of the text. */
  readonly width: number;
  readonly body: Lines;
  readonly bodyRows: number;
  /** The first visible line of the body. */
  readonly top: number;
  /** The lines of each item in the body; `end` is behind the last one. */
  readonly ranges: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
  /** The cards that wait for a decision, with the place of their lines. */
  readonly cards: readonly {
    readonly id: string;
    readonly digest: string;
    readonly start: number;
    readonly end: number;
    readonly isWhole: boolean;
  }[];
  readonly foot: Foot;
  /** The body shows something else than the transcript. */
  readonly coversBody: boolean;
}

/** Returns how the screen is divided, and what is drawn where. */
export function layoutOf(state: ChatState): Layout {
  const { columns, rows } = state.size;
  const width = Math.max(16, Math.min(columns - margin - 1, widestText));
  const surface = surfaceOf(state, width);
  const foot = footOf(state, columns);
  const bodyRows = Math.max(1, rows - headRows - foot.lines.length);
  const panel = panelLines(state, surface);
  if (panel !== null)
    return {
      width,
      body: panel.lines.map((line) => " ".repeat(margin) + line),
      bodyRows,
      top: Math.max(0, Math.min(panel.top, panel.lines.length - bodyRows)),
      ranges: panel.ranges ?? new Map(),
      cards: [],
      foot,
      coversBody: true,
    };
  const { body, ranges, cards } = transcriptLines(state, surface);
  const last = Math.max(0, body.length - bodyRows);
  return {
    width,
    body,
    bodyRows,
    top: state.top === null ? last : Math.min(state.top, last),
    ranges,
    cards,
    foot,
    coversBody: false,
  };
}

function surfaceOf({ screenStyle: { style, isAscii } }: ChatState, width: number): Surface {
  return { style, width, isAscii };
}

/** Returns the lines of an action's card with all of its contents. */
export function cardLinesOf(state: ChatState, id: string, width: number): readonly string[] {
  return cardLines(state, id, surfaceOf(state, width));
}

function transcriptLines(state: ChatState, surface: Surface): Pick<Layout, "body" | "ranges" | "cards"> {
  const { style } = state.screenStyle;
  const body: Lines[] = [];
  let length = 0;
  const put = (lines: Lines): void => {
    body.push(lines);
    length += lines.length;
  };
  const ranges = new Map<string, { start: number; end: number }>();
  const cards: Layout["cards"][number][] = [];
  let wasCompact = false;
  for (const item of shownItems(state)) {
    const lines = itemLines(state, item, surface);
    if (lines.length === 0) continue;
    const isCompact = item.kind === "call" || item.kind === "process";
    // Calls stand together.
    if (length > 0 && !(isCompact && wasCompact)) put([""]);
    wasCompact = isCompact;
    const start = length;
    const hasKeys = state.focus === item.key && isFocusable(item);
    const bar = hasKeys ? `${style.cyan("▌")} ` : " ".repeat(margin);
    put(new DrawnLines(lines, (line) => (line === "" && !hasKeys ? "" : bar + line)));
    ranges.set(item.key, { start, end: length });
    if (item.kind === "action" && isWaiting(state, item)) {
      const digest = state.actions.get(item.action)?.action.digest ?? "";
      const isWhole = isCardWhole(state, item.action, surface);
      const end = start + cardLines(state, item.action, surface).length;
      cards.push({ id: item.action, digest, start, end, isWhole });
    }
  }
  for (const { text } of state.sending) {
    if (length > 0) put([""]);
    put(personLines(text, surface).map((line) => style.dim(" ".repeat(margin) + line)));
  }
  if (length === 0) put(beginning(state, surface));
  return { body: chained(body), ranges, cards };
}

function beginning(
  { agentName, rehearsal, screenStyle: { style } }: ChatState,
  { width }: Surface,
): string[] {
  const sentences = [
    `Write to ${agentName}. Nothing is changed before you approve it.`,
    ...(rehearsal === null ? [] : [`This is a rehearsal: ${rehearsal} answers, and no model is asked.`]),
  ];
  return sentences.flatMap((text) => wrap(text, width)).map((line) => `  ${style.dim(line)}`);
}
