import { type FigureReport, isReached, type Row } from "./report.ts";

const layout = { row: 26, top: 46, bottom: 34, labels: 430, scale: 340, values: 190, bar: 14 } as const;
/** The scale goes from a quarter to four times the target, in doublings. */
const marks = [0.25, 0.5, 1, 2, 4] as const;

/** Returns the used share of the target: below 1 the target is reached, whichever its direction. */
function shareOfTarget({ value, target }: Row): number | null {
  if (target === undefined) return null;
  return "atMost" in target ? value / target.atMost : target.atLeast / value;
}

/**
 * Draws the rows with a target as bars on one logarithmic scale, the target in the middle: a bar that ends left of it
 * reaches the target. Returns an SVG that is readable on light and dark.
 */
export function plotOf(reports: readonly FigureReport[], footer: string): string {
  const bars = reports.flatMap(({ figure, rows }) =>
    rows
      .flatMap((row) => {
        const share = shareOfTarget(row);
        return share === null ? [] : [{ row, share }];
      })
      .map((bar, index) => ({ ...bar, figure: index === 0 ? figure : "" })),
  );
  const width = layout.labels + layout.scale + layout.values;
  const height = layout.top + bars.length * layout.row + layout.bottom;
  const x = (share: number): number => {
    const [first, last] = [Math.log2(marks[0]), Math.log2(marks[4])];
    const place = (Math.log2(share) - first) / (last - first);
    return layout.labels + Math.min(1, Math.max(0.01, place)) * layout.scale;
  };
  const end = height - layout.bottom + 4;
  const grid = marks.map((mark) => {
    const isTarget = mark === 1;
    const name = isTarget ? "target" : mark < 1 ? `1/${1 / mark}` : `${mark} ×`;
    return `<line class="${isTarget ? "target" : "grid"}" x1="${x(mark)}" x2="${x(mark)}" y1="${layout.top - 12}" y2="${end}"/><text class="mark" text-anchor="middle" x="${x(mark)}" y="${layout.top - 18}">${name}</text>`;
  });
  const rows = bars.map(({ row, share, figure }, index) => {
    const middle = layout.top + index * layout.row + layout.row / 2;
    const sign = row.target !== undefined && "atMost" in row.target ? "≤" : "≥";
    const wanted = row.target === undefined ? "" : Object.values(row.target).join("");
    return [
      `<text class="mark" x="12" y="${middle + 4}">${escaped(figure)}</text>`,
      `<text x="${layout.labels - 12}" y="${middle + 4}" text-anchor="end">${escaped(row.what)}</text>`,
      `<rect class="${isReached(row) === true ? "reached" : "missed"}" x="${layout.labels}" y="${middle - layout.bar / 2}" width="${(x(share) - layout.labels).toFixed(1)}" height="${layout.bar}" rx="2"/>`,
      `<text x="${layout.labels + layout.scale + 12}" y="${middle + 4}">${escaped(`${shown(row.value)} ${row.unit}`)} <tspan class="mark">${escaped(`${sign} ${wanted}`)}</tspan></text>`,
    ].join("");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Figures beside their targets">
<style>
text { font: 13px system-ui, "Segoe UI", sans-serif; fill: #1f2328 }
.mark { font-size: 11px; fill: #59636e }
.grid { stroke: #d1d9e0 } .target { stroke: #1f2328; stroke-width: 1.5 }
.reached { fill: #2da44e } .missed { fill: #d1792b }
@media (prefers-color-scheme: dark) { text { fill: #f0f6fc } .mark { fill: #9198a1 } .grid { stroke: #3d444d } .target { stroke: #f0f6fc } }
</style>
${grid.join("\n")}
${rows.join("\n")}
<text class="mark" x="${layout.labels}" y="${height - 10}">${escaped(footer)}</text>
</svg>
`;
}

function shown(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return Number(value.toPrecision(3)).toString();
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
