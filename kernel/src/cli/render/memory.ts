import type { ResultOf } from "../../protocol/v1/requests.ts";
import { manyLines, oneLine } from "./foreign.ts";
import { counted, dayAndTime } from "./quantities.ts";
import type { Style, Surface } from "./style.ts";
import { type Column, renderTable } from "./table.ts";
import { compactFields } from "./trace.ts";
import { displayWidth, padEnd, padStart, truncate } from "./width.ts";

type Answer = ResultOf<"lares/memory/query">;
export type Events = Extract<Answer, { total: number }>;
export type Items = Exclude<Extract<Answer, { items: unknown }>, Events | { mode: string }>;
/** The fields of a hit depend on its kind; all but these three are optional. */
export interface Hits {
  readonly items: readonly {
    readonly id: string;
    readonly kind: string;
    readonly score: number;
    readonly variant?: string;
    readonly timestamp?: string;
    readonly text?: string;
    readonly data?: unknown;
  }[];
  readonly mode: string;
}
export type Working = Extract<Answer, { revision: number }>;
export type Count = ResultOf<"lares/memory/count">;

/** A narrower table has no room for the contents: two lines per hit are used instead. */
const narrowestTable = 64;
/** From this width there is room for whole ids. */
const narrowestWithIds = 110;
const widestVariant = 20;
/** The characters of an item's data that are considered; more would never fit on a line. */
const longestText = 1000;
const longestBar = 40;
const shortestBar = 4;
const mostBars = 100;

/** Some columns of some rows. The column called What shrinks first; then the ids are dropped. */
interface Listing {
  readonly columns: readonly Column[];
  readonly rows: readonly { readonly cells: readonly string[]; readonly what: string; readonly id: string }[];
}

export function renderEvents({ items, total }: Events, surface: Surface): string[] {
  if (items.length === 0) return [remark("Nothing was found.", surface)];
  const rows = items.map(({ id, variant, timestamp, data }) => ({
    cells: [oneLine(dayAndTime(timestamp)), variantOf(variant)],
    what: textOf(data),
    id,
  }));
  return [
    ...renderListing({ columns: [{ title: "Time" }, { title: "Variant" }], rows }, surface),
    ...(total > items.length
      ? [remark(`${items.length} of ${counted(total, "event")}; --limit shows more.`, surface)]
      : []),
  ];
}

export function renderItems({ items }: Items, surface: Surface): string[] {
  if (items.length === 0) return [remark("Nothing was found.", surface)];
  const isSimilarity = items.some(({ similarity }) => similarity !== undefined);
  const rows = items.map((item) => ({
    cells: [
      ...(isSimilarity ? [item.similarity?.toFixed(2) ?? "–"] : []),
      item.importance.toFixed(2),
      variantOf(item.variant),
      item.relations.length === 0 ? "" : String(item.relations.length),
    ],
    what: item.text === undefined ? textOf(item.data) : oneLine(item.text.slice(0, longestText)),
    id: item.id,
  }));
  const columns: Column[] = [
    ...(isSimilarity ? [{ title: "Similar", align: "right" as const }] : []),
    { title: "Weight", align: "right" },
    { title: "Variant" },
    { title: "Rel.", align: "right" },
  ];
  const waiting = items.filter(({ embedded }) => !embedded).length;
  return [
    ...renderListing({ columns, rows }, surface),
    ...(waiting > 0
      ? [remark(`${counted(waiting, "item")} without a vector: found by text only.`, surface)]
      : []),
  ];
}

export function renderHits({ items, mode }: Hits, surface: Surface): string[] {
  if (items.length === 0) return [remark(`Nothing was found (${oneLine(mode)}).`, surface)];
  const rows = items.map((item) => ({
    cells: [
      item.score.toFixed(3),
      item.kind === "temporal" ? oneLine(dayAndTime(item.timestamp ?? "")) : "knowledge",
      variantOf(item.variant ?? ""),
    ],
    what: item.text === undefined ? textOf(item.data) : oneLine(item.text.slice(0, longestText)),
    id: item.id,
  }));
  const columns: Column[] = [{ title: "Score", align: "right" }, { title: "When" }, { title: "Variant" }];
  return [
    ...renderListing({ columns, rows }, surface),
    remark(`${counted(items.length, "hit")}, ${oneLine(mode)}`, surface),
  ];
}

export function renderWorking({ revision, state }: Working, { style }: Surface): string[] {
  const text = JSON.stringify(state, null, 2) ?? "null";
  return [style.dim(`revision ${revision}`), ...manyLines(text)];
}

/** Renders the count, and a bar for each group if it was counted by group. */
export function renderCount({ count, groups }: Count, by: string | undefined, surface: Surface): string[] {
  if (groups === undefined) return [String(count)];
  const { style, width } = surface;
  const isTime = by === "hour" || by === "day";
  const entries = Object.entries(groups);
  const sorted = isTime
    ? entries.toSorted(([one], [other]) => (one < other ? -1 : 1))
    : entries.toSorted(([, one], [, other]) => other - one);
  // For a long period, the newest groups are the most useful.
  const shown = isTime ? sorted.slice(-mostBars) : sorted.slice(0, mostBars);
  const countWidth = Math.max(0, ...shown.map(([, value]) => String(value).length));
  const widestLabel = Math.max(4, width - countWidth - shortestBar - 4);
  const labels = shown.map(([label]) =>
    truncate(isTime ? intervalOf(label, by) : variantOf(label), widestLabel),
  );
  const labelWidth = Math.max(0, ...labels.map(displayWidth));
  const room = Math.max(1, Math.min(longestBar, width - labelWidth - countWidth - 4));
  const most = Math.max(1, ...shown.map(([, value]) => value));
  const bars = shown.map(([, value], index) => {
    const cells = value === 0 ? 0 : Math.max(1, Math.round((value / most) * room));
    const label = padEnd(labels[index] ?? "", labelWidth);
    const left = `${label}  ${padStart(String(value), countWidth)}`;
    return cells === 0 ? left : `${left}  ${style.cyan("█".repeat(cells))}`;
  });
  const left = entries.length - shown.length;
  const rest = left > 0 ? `, ${left} more ${isTime ? "before" : "after"} them not shown` : "";
  return [...bars, remark(`${counted(count, "event")}${isTime ? ", times in UTC" : ""}${rest}`, surface)];
}

function remark(text: string, { style, width }: Surface): string {
  return style.dim(truncate(text, width));
}

function intervalOf(isoTime: string, by: "hour" | "day"): string {
  return oneLine(by === "day" ? isoTime.slice(0, 10) : isoTime.slice(0, 16).replace("T", " "));
}

function variantOf(variant: string): string {
  return truncate(oneLine(variant), widestVariant);
}

function textOf(data: unknown): string {
  const isFields = typeof data === "object" && data !== null && !Array.isArray(data);
  const text = isFields ? compactFields({ ...data }) : oneLine(plain(data));
  return text.slice(0, longestText);
}

function plain(data: unknown): string {
  return typeof data === "string" ? data.slice(0, longestText) : (JSON.stringify(data) ?? "–");
}

function renderListing({ columns, rows }: Listing, surface: Surface): string[] {
  const { style, width } = surface;
  if (width < narrowestTable) return rows.flatMap((row) => renderNarrow(row, style, width));
  const withIds = width >= narrowestWithIds;
  const table = renderTable(
    [...columns, { title: "What", flexible: true }, ...(withIds ? [{ title: "Id" }] : [])],
    rows.map(({ cells, what, id }) => [...cells, what, ...(withIds ? [truncate(oneLine(id), 40)] : [])]),
    surface,
  );
  return withIds ? table : [...table, remark("Use --json or a wider terminal to see the ids.", surface)];
}

function renderNarrow(row: Listing["rows"][number], style: Style, width: number): string[] {
  const head = truncate(row.cells.filter((cell) => cell !== "").join("  "), width);
  return [style.dim(head), `  ${truncate(row.what, Math.max(1, width - 2))}`];
}
