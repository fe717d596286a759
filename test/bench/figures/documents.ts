import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { silentLog } from "../../../kernel/src/base/log.ts";
import { openKernel } from "../../../kernel/src/composition/kernel.ts";
import { nothingOpen } from "../../../kernel/src/configuration/observed-files.ts";
import { Lines } from "../../../kernel/src/documents/text/diagnostics.ts";
import { systemClock } from "../../../kernel/src/platform/clock.ts";
import { Bench } from "../../support/bench.ts";
import type { Figure } from "../figure.ts";
import { hostileDocuments, type HostileDocument } from "../hostile-documents.ts";
import { longManifest, program } from "../long-manifest.ts";
import type { Row } from "../report.ts";
import { median } from "../statistics.ts";

/** No document may block the kernel's loop for longer. */
const mostMs = 50;
/** Lines of the manifest that is the floor. */
const ordinaryLines = 500;
const files = ["lares", "extension"] as const;

/** Milliseconds of CPU time of this thread, unaffected by other processes. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Returns the milliseconds that the thread worked in the longest turn of the loop while `run` was under way. */
async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  await new Promise(setImmediate);
  let [longest, before, isRunning] = [0, workedMs(), true];
  const turn = (): void => {
    const now = workedMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (isRunning) setImmediate(turn);
  };
  setImmediate(turn);
  await run();
  turn();
  isRunning = false;
  return longest;
}

/**
 * Makes every editor request for documents that are made to be expensive. The kernel runs in this very process, so that
 * the turns of its loop can be seen.
 */
export const documents: Figure = {
  name: "documents",
  title: "the longest turn of the kernel's loop for a document from a stranger, in processor time",
  async run({ isShort, say }) {
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
    const { documents, authoring, navigation } = kernel.services;

    /** Returns the longest turn of each request, by the name of the request. */
    const turnsOf = async ({ format, text }: HostileDocument): Promise<Map<string, number>> => {
      const longest = new Map<string, number>();
      const places = new Lines(text);
      const whole = places.range(0, text.length);
      for (const name of files) {
        const uri = bench.uri(`extension/${name}.${format}`);
        const open = { uri, text };
        const asked: Record<string, () => Promise<unknown>> = {
          diagnostics: () => documents.diagnose(uri, text, nothingOpen),
          outline: () => navigation.outline(open),
          lenses: () => navigation.agentPlaces(open, 100),
          fixes: () => navigation.fixes(open, whole, nothingOpen),
          hints: () => authoring.inlayHints(open, whole),
        };
        for (const at of [0, 0.5, 1]) {
          const position = places.position(Math.floor(text.length * at));
          asked[`hover at ${at}`] = () => authoring.hover(open, position);
          asked[`completion at ${at}`] = () =>
            authoring.complete(open, position, { snippets: true }, nothingOpen);
        }
        for (const [what, ask] of Object.entries(asked))
          longest.set(`${what} of ${name}`, await longestTurn(ask));
      }
      return longest;
    };

    const ordinary = (["yaml", "toml"] as const).map((format): HostileDocument => {
      const { before, after } = longManifest(format, ordinaryLines);
      return { what: "ordinary", format, text: before + after };
    });
    // Warms up everything that is compiled once, as in a kernel that has already read its own documents.
    for (const document of [...ordinary, ...ordinary]) await turnsOf(document);
    const rounds = isShort ? 3 : 7;
    const floors = new Map<string, number>();
    for (const document of ordinary)
      floors.set(document.format, worstOf(await repeated(rounds, document)).ms);

    const rows: Row[] = [];
    for (const document of hostileDocuments) {
      const turns = await repeated(rounds, document);
      const { what, ms } = worstOf(turns);
      const longest = Math.max(...[...turns.values()].flat());
      const name = `${document.format}: ${document.what}`;
      say(`${name}: ${ms.toFixed(1)} ms, ${what}`);
      rows.push({
        what: name,
        value: ms,
        unit: "ms",
        target: { atMost: mostMs },
        floor: {
          what: `a manifest of ${ordinaryLines} lines`,
          value: floors.get(document.format) ?? Number.NaN,
        },
        samples: rounds,
        note: `the longest by ${what}; ${longest.toFixed(1)} ms in its worst round`,
      });
    }
    return rows;

    /** Returns the longest turn of each round, by the name of the request. */
    async function repeated(times: number, document: HostileDocument): Promise<Map<string, number[]>> {
      const all = new Map<string, number[]>();
      for (let round = 0; round < times; round++)
        for (const [what, ms] of await turnsOf(document)) all.set(what, [...(all.get(what) ?? []), ms]);
      return all;
    }
  },
};

/** Returns the request with the longest median turn. */
function worstOf(turns: ReadonlyMap<string, readonly number[]>): { what: string; ms: number } {
  let worst = { what: "nothing", ms: 0 };
  for (const [what, samples] of turns) if (median(samples) > worst.ms) worst = { what, ms: median(samples) };
  return worst;
}
