import { loadavg } from "node:os";
import { noStyle } from "../../kernel/src/cli/render/style.ts";
import { renderTable, type Column } from "../../kernel/src/cli/render/table.ts";

type Unit = "ms" | "µs" | "KB" | "MB" | "MB/s" | "events/s" | "items/s" | "×" | "%" | "";

/** A figure's target; without one, it is shown for comparison. */
type Target = { readonly atMost: number } | { readonly atLeast: number };

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: Unit;
  readonly target?: Target;
  /** Something measured in the same run that can hardly be undercut, or that does the same work. */
  readonly floor?: { readonly what: string; readonly value: number };
  readonly samples?: number;
  readonly note?: string;
}

export interface FigureReport {
  readonly figure: string;
  readonly rows: readonly Row[];
  /** Set instead of rows if the measurement itself failed. */
  readonly failure?: string;
  readonly seconds: number;
  /** The load average over the last minute, before and after. */
  readonly load: readonly [before: number, after: number];
}

export function isReached({ value, target }: Row): boolean | null {
  if (target === undefined) return null;
  return "atMost" in target ? value <= target.atMost : value >= target.atLeast;
}

/** Returns the ratio of value and floor; null if they are not of one kind. */
export function ratioToFloor({ value, floor }: Row): number | null {
  return floor === undefined || floor.value === 0 ? null : value / floor.value;
}

export function load(): number {
  return loadavg()[0] ?? Number.NaN;
}

export function tableOf(reports: readonly FigureReport[]): string {
  const rows = reports.flatMap(({ figure, rows, failure }) =>
    failure === undefined
      ? rows.map((row, index) => cellsOf(index === 0 ? figure : "", row))
      : [[figure, failure, "", "", "!", "", "", ""]],
  );
  return renderTable(columns, rows, { style: noStyle, width: 1000 }).join("\n");
}

const columns: readonly Column[] = [
  { title: "figure" },
  { title: "what" },
  { title: "measured", align: "right" },
  { title: "target", align: "right" },
  { title: "" },
  { title: "floor or peer in the same run" },
  { title: "ratio", align: "right" },
  { title: "n", align: "right" },
];

function cellsOf(figure: string, row: Row): string[] {
  const { what, value, unit, target, floor, samples } = row;
  const ratio = ratioToFloor(row);
  return [
    figure,
    what,
    `${rounded(value)} ${unit}`,
    target === undefined ? "" : "atMost" in target ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`,
    { true: "✓", false: "✗", null: "" }[String(isReached(row)) as "true" | "false" | "null"],
    floor === undefined ? "" : `${floor.what}: ${rounded(floor.value)}`,
    ratio === null ? "" : ratio.toFixed(2),
    String(samples ?? ""),
  ];
}

/** Rounds to three significant digits. */
function rounded(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return value.toFixed(size >= 10 ? 1 : 2);
}
