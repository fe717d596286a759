import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { Ajv } from "ajv";
import { getStaticTOMLValue, parseTOML } from "toml-eslint-parser";
import { parseDocument } from "yaml";
import { silentLog } from "../../../kernel/src/base/log.ts";
import { openKernel } from "../../../kernel/src/composition/kernel.ts";
import { nothingOpen } from "../../../kernel/src/configuration/observed-files.ts";
import { Manifest } from "../../../kernel/src/documents/schema/manifest.ts";
import { systemClock } from "../../../kernel/src/platform/clock.ts";
import { Bench } from "../../support/bench.ts";
import type { Figure } from "../figure.ts";
import { type Format, longManifest, program, typed } from "../long-manifest.ts";
import type { Row } from "../report.ts";
import { percentile } from "../statistics.ts";

const lines = 500;
/** Uncounted keystrokes at the beginning, after which everything is compiled. */
const warmUp = 20;

/** Milliseconds of real time and of CPU time; on a busy machine the second is more meaningful. */
class Samples {
  readonly passed: number[] = [];
  readonly worked: number[] = [];

  async measure(run: () => unknown, isCounted: boolean): Promise<void> {
    const before = process.cpuUsage();
    const startedAt = performance.now();
    await run();
    if (!isCounted) return;
    this.passed.push(performance.now() - startedAt);
    const { user, system } = process.cpuUsage(before);
    this.worked.push((user + system) / 1000);
  }
}

/**
 * A hook with its filter is typed into the middle of a manifest, character by character, so that most of the texts are
 * unfinished. The kernel runs in this very process, without the wire.
 */
export const language: Figure = {
  name: "language",
  title: `a keystroke in a manifest of ${lines} lines, to its diagnostics and to a completion`,
  async run({ isShort }) {
    await using bench = await Bench.create({ files: { "extension/agent.ts": program } });
    const stateFolder = join(bench.home, "state");
    await mkdir(stateFolder);
    await using kernel = await openKernel({
      stateFolder,
      stateHome: bench.home,
      roots: [bench.root],
      givenRoots: [bench.root],
      userFolder: join(bench.home, "user"),
      environment: {},
      version: "0.0.0",
      clock: systemClock,
      log: silentLog,
    });
    const { documents, authoring } = kernel.services;
    const validate = new Ajv({ allErrors: true, strict: false }).compile(Manifest);
    const rows: Row[] = [];
    for (const format of ["yaml", "toml"] as const) {
      const diagnostics = new Samples();
      const checkingAlone = new Samples();
      const completion = new Samples();
      const readingAlone = new Samples();
      const uri = bench.uri(`extension/extension.${format}`);
      // As for an open document: the files that it was checked with are watched.
      using followed = documents.follow(uri, () => undefined);
      // The libraries reject an unfinished text, so they get a finished one.
      const finished = finishedText(format);
      for (let round = 0; round < (isShort ? 1 : 4); round++) {
        for (const [index, { text, position }] of keystrokes(format).entries()) {
          const isCounted = round > 0 || index >= warmUp;
          await checkingAlone.measure(() => validate(bareValue(format, finished)), isCounted);
          await diagnostics.measure(async () => {
            const { lookedAt } = await documents.diagnose(uri, text, nothingOpen);
            followed.watch(lookedAt);
          }, isCounted);
          await readingAlone.measure(() => bareValue(format, finished), isCounted);
          await completion.measure(
            () =>
              authoring.complete(
                { uri, text },
                position,
                { snippets: true },
                { text: () => null, uris: () => [] },
              ),
            isCounted,
          );
        }
      }
      const library = format === "yaml" ? "yaml" : "toml-eslint-parser";
      rows.push(
        row(
          `${format}: keystroke to diagnostics`,
          diagnostics,
          50,
          `${library} and ajv alone`,
          checkingAlone,
        ),
        row(`${format}: keystroke to completion`, completion, 30, `${library} alone`, readingAlone),
      );
    }
    return rows;
  },
};

/** Returns the text after each character, and the position of the cursor. */
function keystrokes(format: Format): { text: string; position: { line: number; character: number } }[] {
  const { before, after } = longManifest(format, lines);
  return Array.from(typed[format], (_, index) => {
    const beforeCursor = before + typed[format].slice(0, index + 1);
    const line = beforeCursor.split("\n").length - 1;
    const character = beforeCursor.length - beforeCursor.lastIndexOf("\n") - 1;
    return { text: beforeCursor + after, position: { line, character } };
  });
}

function finishedText(format: Format): string {
  const { before, after } = longManifest(format, lines);
  return before + typed[format] + after;
}

/** The minimum work of any checker of such a document. */
function bareValue(format: Format, text: string): unknown {
  return format === "yaml" ? parseDocument(text).toJS() : getStaticTOMLValue(parseTOML(text));
}

function row(what: string, own: Samples, atMost: number, floorWhat: string, floor: Samples): Row {
  const p95 = (samples: readonly number[]): number => percentile(samples, 0.95);
  return {
    what: `${what}, p95`,
    value: p95(own.passed),
    unit: "ms",
    target: { atMost },
    floor: { what: floorWhat, value: p95(floor.passed) },
    samples: own.passed.length,
    note: `processor time, p95: ${p95(own.worked).toFixed(1)} ms, and ${p95(floor.worked).toFixed(1)} ms of the floor`,
  };
}
