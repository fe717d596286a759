import { loadavg } from "node:os";
import Table from "cli-table3";

export type Unit = "ms" | "µs" | "MB" | "events/s" | "×" | "%" | "";

/** What a figure is to reach; no target means it is shown for comparison. */
export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: Unit;
  readonly target?: Target;
  /** What was measured beside it in the same run, and can hardly be undercut, or does the same work. */
  readonly floor?: { readonly what: string; readonly value: number };
  readonly samples?: number;
  readonly note?: string;
}

export interface FigureReport {
  readonly figure: string;
  readonly rows: readonly Row[];
  /** Instead of rows, where the measuring itself failed. */
  readonly failure?: string;
  readonly seconds: number;
  /** Processes that wanted a processor, over the last minute, before and after. */
  readonly load: readonly [before: number, after: number];
}

export function isReached({ value, target }: Row): boolean | null {
  if (target === undefined) return null;
  return "atMost" in target ? value <= target.atMost : value >= target.atLeast;
}

/** How often the floor goes into the value; null where they are not of one kind. */
export function ratioToFloor({ value, floor }: Row): number | null {
  return floor === undefined || floor.value === 0 ? null : value / floor.value;
}

export function load(): number {
  return loadavg()[0] ?? Number.NaN;
}

export function tableOf(reports: readonly FigureReport[]): string {
  const table = new Table({
    head: ["figure", "what", "measured", "target", "", "floor or peer in the same run", "ratio", "n"],
    style: { head: [], border: [], compact: true },
    colAligns: ["left", "left", "right", "right", "left", "left", "right", "right"],
  });
  for (const { figure, rows, failure } of reports) {
    if (failure !== undefined) table.push([figure, failure, "", "", "!", "", "", ""]);
    rows.forEach((row, index) => {
      const ratio = ratioToFloor(row);
      table.push([
        index === 0 ? figure : "",
        row.what,
        `${rounded(row.value)} ${row.unit}`,
        row.target === undefined
          ? ""
          : "atMost" in row.target
            ? `≤ ${row.target.atMost}`
            : `≥ ${row.target.atLeast}`,
        { true: "✓", false: "✗", null: "" }[String(isReached(row)) as "true" | "false" | "null"],
        row.floor === undefined ? "" : `${row.floor.what}: ${rounded(row.floor.value)}`,
        ratio === null ? "" : ratio.toFixed(2),
        row.samples ?? "",
      ]);
    });
  }
  return table.toString();
}

/** Three digits that count. */
function rounded(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return value.toFixed(size >= 10 ? 1 : 2);
}
