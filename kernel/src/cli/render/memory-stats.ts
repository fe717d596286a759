import type { MemoryStats } from "../../base/vocabulary/memory-reports.ts";
import type { ResultOf } from "../../protocol/v1/requests.ts";
import { oneLine } from "./foreign.ts";
import { bytes, counted, dayAndTime } from "./quantities.ts";
import type { Style, Surface } from "./style.ts";
import { truncate } from "./width.ts";

type Projections = NonNullable<MemoryStats["projections"]>;
export type Imported = ResultOf<"lares/memory/import">;

const barCells = 20;
const labelWidth = 13;
/** From this fill level, a journal is highlighted. */
const nearlyFull = 0.8;

/** Renders sizes, contents, search indexes and outstanding work. */
export function renderStats(agent: string, stats: MemoryStats, surface: Surface): string[] {
  const { style, width } = surface;
  const { records, head, sizeBytes, limitBytes, projections } = stats;
  const part = limitBytes > 0 ? sizeBytes / limitBytes : 0;
  const quota = `${bytes(sizeBytes)} of ${bytes(limitBytes)}, ${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`;
  const colour = part >= nearlyFull ? style.yellow : style.cyan;
  const lines: (readonly [label: string, text: string])[] = [
    ["journal", `${bar(part, colour, style)} ${quota}`],
    ["records", records === 0 ? "none yet" : `${records}, head ${oneLine(head).slice(0, 16)}…`],
    ...(projections === null
      ? [["projections", "none yet; they are created by the first query"] as const]
      : linesOf(projections, records, style)),
  ];
  return [
    style.bold(truncate(oneLine(agent), width)),
    ...lines.map(([label, text]) => `  ${style.dim(label.padEnd(labelWidth))} ${text}`),
  ];
}

function linesOf(
  { projected, temporal, knowledge, vectors, embedder, rebuilding, bytes: sizeBytes }: Projections,
  records: number,
  style: Style,
): (readonly [string, string])[] {
  const { oldest, newest } = temporal;
  const span = oldest !== null && newest !== null ? `, ${day(oldest)} to ${day(newest)}` : "";
  const behind = Math.max(0, records - projected);
  const tiers = [`${vectors.hot} hot`, `${vectors.warm} warm`, `${vectors.cold} cold`].join(", ");
  return [
    ["events", `${temporal.events}${span}`],
    ["knowledge", `${counted(knowledge.items, "item")}, ${counted(knowledge.relations, "relation")}`],
    ["vectors", `${vectors.count} of ${vectors.dimensions} dimensions, ${oneLine(vectors.engine)}: ${tiers}`],
    ["embedder", oneLine(embedder)],
    ...(vectors.pending > 0
      ? [["pending", style.yellow(`${counted(vectors.pending, "item")} without a vector yet`)] as const]
      : []),
    ...(vectors.failed > 0
      ? [
          [
            "failed",
            style.red(`${counted(vectors.failed, "item")} could not be embedded; found by text only`),
          ] as const,
        ]
      : []),
    [
      "projections",
      `${bytes(sizeBytes)}, ${behind === 0 ? "up to date" : `${counted(behind, "record")} behind`}`,
    ],
    ...(rebuilding === undefined
      ? []
      : [
          [
            "rebuilding",
            `${bar(rebuilding.fraction, style.cyan, style)} ${Math.floor(rebuilding.fraction * 100)} % of the ${rebuilding.what}`,
          ] as const,
        ]),
  ];
}

/** Renders what an import would add, according to the file and as verified. */
export function renderImport(imported: Imported, { style, width }: Surface): string[] {
  const { records, head, from, created, first, last, bytes: sizeBytes, vectors } = imported;
  const lines: readonly (readonly [string, string])[] = [
    ["memory of", oneLine(from)],
    ["exported", dayAndTime(oneLine(created))],
    ["records", `${records}, ${bytes(sizeBytes)}, ${day(first)} to ${day(last)}`],
    // Vectors are not part of the hash chain: the author of the file controls what searches find.
    [
      "vectors",
      vectors === 0 ? "none" : `${vectors}, not verified; forged ones would falsify search results`,
    ],
  ];
  return [
    ...lines.map(([label, text]) => truncate(`  ${label.padEnd(labelWidth)} ${text}`, width)),
    // Never cut, because it is meant to be compared.
    `  ${style.dim("head")} ${oneLine(head)}`,
  ];
}

function day(isoTime: string): string {
  return oneLine(dayAndTime(isoTime)).slice(0, 10);
}

function bar(fraction: number, colour: (text: string) => string, style: Style): string {
  const within = Math.min(1, Math.max(0, fraction));
  const full = within === 0 ? 0 : Math.max(1, Math.round(within * barCells));
  return colour("▰".repeat(full)) + style.dim("▱".repeat(barCells - full));
}
