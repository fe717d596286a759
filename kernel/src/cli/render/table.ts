import Table from "cli-table3";
import type { Surface } from "./style.ts";
import { displayWidth, truncate } from "./width.ts";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  /** The column that gives way when the table is too wide. */
  readonly flexible?: boolean;
}

/** A table in light rules. Cells are ready for the terminal: foreign text has been through `oneLine`. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { style, width }: Surface,
): string[] {
  const fitted = fit(columns, rows, width);
  const table = new Table({
    head: columns.map(({ title }) => style.bold(title)),
    colAligns: columns.map(({ align = "left" }) => align),
    style: { head: [], border: [], "padding-left": 1, "padding-right": 1 },
    chars: {
      top: "─",
      "top-mid": "─",
      "top-left": "─",
      "top-right": "─",
      bottom: "─",
      "bottom-mid": "─",
      "bottom-left": "─",
      "bottom-right": "─",
      left: "",
      "left-mid": "",
      mid: "",
      "mid-mid": "",
      right: "",
      "right-mid": "",
      middle: " ",
    },
  });
  for (const row of fitted) table.push([...row]);
  const lines = table.toString().split("\n");
  // cli-table3 draws no rule beneath the head alone: it is put there, as wide as the others.
  const rule = lines[0] ?? "";
  const body = [lines[1] ?? "", rule, ...lines.slice(2)];
  return body.map((line) => (line.startsWith("─") ? style.dim(line) : line.trimEnd()));
}

function fit(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly (readonly string[])[] {
  const flexible = columns.findIndex((column) => column.flexible === true);
  if (flexible === -1) return rows;
  const widths = columns.map(({ title }, index) =>
    Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[index] ?? ""))),
  );
  const total = widths.reduce((sum, cell) => sum + cell + 3, 0);
  const room = Math.max(10, (widths[flexible] ?? 0) - Math.max(0, total - width));
  return rows.map((row) => row.map((cell, index) => (index === flexible ? truncate(cell, room) : cell)));
}
