import type { VNode } from "preact";
import { count, dayName } from "./format.ts";

/** What one part of every bar counts. */
export interface Series<Kind extends string> {
  readonly kind: Kind;
  /** "applied" */
  readonly label: string;
}

interface ChartProps<Kind extends string> {
  readonly label: string;
  readonly series: readonly Series<Kind>[];
  readonly bars: readonly { readonly day: string; readonly counts: Readonly<Record<Kind, number>> }[];
}

const chartHeight = 64;
const barWidth = 10;
const gap = 3;

/** Stacked bars, one a day. Colours are classes (`series-<kind>`); what is drawn is also there as a table to be read. */
export function BarChart<Kind extends string>({ label, series, bars }: ChartProps<Kind>): VNode {
  const totals = bars.map(({ counts }) => series.reduce((sum, { kind }) => sum + counts[kind], 0));
  const most = Math.max(1, ...totals);
  const width = bars.length * (barWidth + gap) - gap;
  const used = series.filter(({ kind }) => bars.some(({ counts }) => counts[kind] > 0));
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${width} ${chartHeight}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        {bars.map((bar, index) => (
          <g key={bar.day} transform={`translate(${index * (barWidth + gap)} 0)`}>
            <title>{sentenceOf(bar.day, bar.counts, series)}</title>
            <rect class="chart-ground" width={barWidth} height={chartHeight} />
            {stack(bar.counts, series, most).map(({ kind, y, height }) => (
              <rect key={kind} class={`series-${kind}`} width={barWidth} y={y} height={height} />
            ))}
          </g>
        ))}
      </svg>
      <div class="chart-ends quiet" aria-hidden="true">
        <span>{dayName(bars[0]?.day ?? "")}</span>
        <span>today</span>
      </div>
      {series.length > 1 && used.length > 0 && (
        <div class="legend" aria-hidden="true">
          {used.map(({ kind, label }) => (
            <span key={kind}>
              <i class={`swatch series-${kind}`} />
              {label}
            </span>
          ))}
        </div>
      )}
      <table class="hidden-text">
        <caption>{label}</caption>
        <tbody>
          {bars.map(({ day, counts }) => (
            <tr key={day}>
              <th scope="row">{dayName(day)}</th>
              <td>{sentenceOf(undefined, counts, series)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

interface Part<Kind extends string> {
  readonly kind: Kind;
  readonly y: number;
  readonly height: number;
}

/** From the ground up; what is there at all is seen, however little of the highest bar it is. */
export function stack<Kind extends string>(
  counts: Readonly<Record<Kind, number>>,
  series: readonly Series<Kind>[],
  most: number,
): Part<Kind>[] {
  const least = 2;
  let y = chartHeight;
  return series.flatMap(({ kind }) => {
    if (counts[kind] <= 0) return [];
    const height = Math.max(least, (counts[kind] / most) * chartHeight);
    y = Math.max(0, y - height);
    return [{ kind, y, height }];
  });
}

function sentenceOf<Kind extends string>(
  day: string | undefined,
  counts: Readonly<Record<Kind, number>>,
  series: readonly Series<Kind>[],
): string {
  const parts = series.filter(({ kind }) => counts[kind] > 0);
  const told = parts.map(({ kind, label }) => `${count(counts[kind])} ${label}`).join(", ") || "none";
  return day === undefined ? told : `${dayName(day)}: ${told}`;
}
