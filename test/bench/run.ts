/**
 * Compares Lares with its floors and peers: `node test/bench/run.ts [name …] [--short] [--json FILE] [--plot
 * FILE.svg]`. Nothing here passes or fails; the table shows the measured values, the targets, and whether they were
 * reached.
 */
import { writeFile } from "node:fs/promises";
import { availableParallelism, cpus } from "node:os";
import { parseArgs } from "node:util";
import type { Figure } from "./figure.ts";
import { add } from "./figures/add.ts";
import { attack } from "./figures/attack.ts";
import { append } from "./figures/append.ts";
import { change } from "./figures/change.ts";
import { documents } from "./figures/documents.ts";
import { editor } from "./figures/editor.ts";
import { flood } from "./figures/flood.ts";
import { review } from "./figures/review.ts";
import { index } from "./figures/index.ts";
import { inside } from "./figures/inside.ts";
import { language } from "./figures/language.ts";
import { memory } from "./figures/memory.ts";
import { models } from "./figures/models.ts";
import { rebuild } from "./figures/rebuild.ts";
import { retrieval } from "./figures/retrieval.ts";
import { scan } from "./figures/scan.ts";
import { search } from "./figures/search.ts";
import { spin } from "./figures/spin.ts";
import { start } from "./figures/start.ts";
import { talk } from "./figures/talk.ts";
import { temporal } from "./figures/temporal.ts";
import { throughput } from "./figures/throughput.ts";
import { together } from "./figures/together.ts";
import { vectors } from "./figures/vectors.ts";
import { wake } from "./figures/wake.ts";
import { plotOf } from "./plot.ts";
import { type FigureReport, isReached, load, ratioToFloor, tableOf } from "./report.ts";

const figures: readonly Figure[] = [
  start,
  change,
  inside,
  throughput,
  together,
  wake,
  memory,
  index,
  spin,
  attack,
  retrieval,
  temporal,
  append,
  add,
  rebuild,
  vectors,
  search,
  language,
  documents,
  editor,
  flood,
  review,
  models,
  talk,
  scan,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean", short: "h", default: false },
    short: { type: "boolean", default: false },
    json: { type: "string" },
    plot: { type: "string" },
  },
});
const listed = figures.map(({ name, title }) => `  ${name.padEnd(12)}${title}`).join("\n");
if (values.help) {
  console.log(`npm run bench -- [name …] [options]

Measures the figures of these names, all of them by default.

  --short          fewer samples
  --json FILE      also writes the figures as JSON
  --plot FILE.svg  also draws them
  --help           prints this

Figures:
${listed}`);
  process.exit(0);
}
const unknown = positionals.filter((name) => !figures.some((figure) => figure.name === name));
if (unknown.length > 0) {
  console.error(`There is no figure ${unknown.join(", ")}. There are:\n${listed}`);
  process.exit(1);
}

async function measure(figure: Figure): Promise<FigureReport> {
  const before = load();
  const startedAt = performance.now();
  console.error(`${figure.name}: ${figure.title}`);
  const options = { isShort: values.short, say: (line: string) => console.error(`  ${line}`) };
  const done = (result: Pick<FigureReport, "rows" | "failure">): FigureReport => ({
    figure: figure.name,
    ...result,
    seconds: (performance.now() - startedAt) / 1000,
    load: [before, load()],
  });
  try {
    return done({ rows: await figure.run(options) });
  } catch (error) {
    // A failed measurement does not prevent the others.
    console.error(error);
    process.exitCode = 1;
    return done({ rows: [], failure: error instanceof Error ? error.message : String(error) });
  }
}

const reports: FigureReport[] = [];
for (const figure of figures) {
  if (positionals.length === 0 || positionals.includes(figure.name)) reports.push(await measure(figure));
}

const machine = {
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  processor: cpus()[0]?.model ?? "unknown",
  cores: availableParallelism(),
  short: values.short,
};
console.log(`\n${tableOf(reports)}`);
for (const { figure, rows } of reports) {
  for (const { what, note } of rows) if (note !== undefined) console.log(`${figure}, ${what}: ${note}`);
}
const loads = reports.flatMap(({ load }) => load);
const measuredOn = `${machine.processor}, ${machine.cores} cores, Node ${machine.node}; load average ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`;
console.log(
  `\n${measuredOn}; ` +
    `${reports.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(0)} s${machine.short ? "; shortened" : ""}`,
);
if (values.json !== undefined) {
  const detailed = reports.map((report) => ({
    ...report,
    rows: report.rows.map((row) => ({ ...row, reached: isReached(row), ratio: ratioToFloor(row) })),
  }));
  await writeFile(values.json, `${JSON.stringify({ machine, figures: detailed }, null, 2)}\n`);
}
if (values.plot !== undefined) await writeFile(values.plot, plotOf(reports, measuredOn));
// What a failed figure left open must not hold up whoever waits for this run.
process.stdout.write("", () => process.exit());
