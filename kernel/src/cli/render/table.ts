import { stripVTControlCharacters } from "node:util";
import type { Surface } from "./style.ts";
import { displayWidth, padEnd, padStart, truncate, wrap } from "./width.ts";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  /** The column that shrinks if the table is too wide. */
  readonly flexible?: boolean;
}

/**
 * Returns a table with light rules, or, if it would be wider than the terminal, each row as a short paragraph under its
 * first cell. Foreign text in cells must have been through `oneLine`.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { style, width }: Surface,
): string[] {
  const fitted = fit(columns, rows, width);
  if (tableWidth(columns, fitted) > width) return rows.flatMap((row) => paragraph(columns, row, width));
  const widths = widthsOf(columns, fitted);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => {
        const pad = columns[index]?.align === "right" ? padStart : padEnd;
        return ` ${pad(cell, widths[index] ?? 0)} `;
      })
      .join(" ")
      .trimEnd();
  const rule = style.dim("─".repeat(tableWidth(columns, fitted)));
  const titles = columns.map(({ title }) => style.bold(title));
  return [line(titles), rule, ...fitted.map(line), rule];
}

function fit(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly (readonly string[])[] {
  const flexible = columns.findIndex((column) => column.flexible === true);
  if (flexible === -1) return rows;
  const widths = widthsOf(columns, rows);
  const total = tableWidth(columns, rows);
  const room = Math.max(10, (widths[flexible] ?? 0) - Math.max(0, total - width));
  return rows.map((row) => row.map((cell, index) => (index === flexible ? truncate(cell, room) : cell)));
}

function widthsOf(columns: readonly Column[], rows: readonly (readonly string[])[]): number[] {
  return columns.map(({ title }, index) =>
    Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[index] ?? ""))),
  );
}

/** Columns of the rules: a blank around each cell, one to the next cell, and two beyond the last. */
function tableWidth(columns: readonly Column[], rows: readonly (readonly string[])[]): number {
  return widthsOf(columns, rows).reduce((sum, cell) => sum + cell + 3, 1);
}

/** Renders one row as a paragraph, "title value" for each further cell that has a value, as many per line as fit. */
function paragraph(columns: readonly Column[], row: readonly string[], width: number): string[] {
  const [first = "", ...rest] = row;
  const lines: string[] = [];
  for (const [index, cell] of rest.entries()) {
    if (cell === "") continue;
    const word = `${columns[index + 1]?.title ?? ""} ${cell}`;
    const joined = `${lines.at(-1) ?? ""} · ${word}`;
    if (lines.length > 0 && displayWidth(joined) <= width - 2) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return [
    ...whole(first, width),
    ...lines.flatMap((line) => whole(line, width - 2).map((part) => `  ${part}`)),
  ];
}

/** Wraps the text; removes its colours if it has to be broken, so that no colour code is split. */
function whole(text: string, width: number): string[] {
  return displayWidth(text) <= width ? [text] : wrap(stripVTControlCharacters(text), width);
}
