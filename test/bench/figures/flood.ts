import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { FloodResult, Phase } from "../../e2e/flood/index.ts";
import { floodFiles } from "../../e2e/flood/workspace.ts";
import { inExtensionHost } from "../../e2e/support/extension-host.ts";
import type { VSCode } from "../../e2e/support/vscode.ts";
import type { Figure } from "../figure.ts";
import type { Row } from "../report.ts";
import { percentile } from "../statistics.ts";
import { until } from "../../support/until.ts";
import { isVSCodeThere, sayHow } from "../editor.ts";

/** Longer than the kernel may take to write its traces. */
const writingMs = 5_000;

/** The times at which the window drew, in milliseconds since the epoch; limited to some minutes. */
const watchFrames = `
  globalThis.frames = [];
  const note = () => {
    if (globalThis.frames.length < 100_000) globalThis.frames.push(Date.now());
    requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
`;

export const flood: Figure = {
  name: "flood",
  title: "5,000 traces a second for ten seconds: how VS Code stays, and what is in the file",
  async run({ say }) {
    if (!isVSCodeThere()) {
      say(sayHow);
      return [];
    }
    return await inExtensionHost<Row[]>(
      "flood",
      { files: floodFiles() },
      {
        prepare: (page) => page.addInitScript(watchFrames),
        read: async (found, vscode, page) => {
          const result = found as FloodResult;
          return rowsOf(result, await linesOnceWritten(vscode, result.sent), await framesOf(page));
        },
      },
    );
  },
};

function rowsOf(
  { idle, flood, sent, sentInFlood }: FloodResult,
  found: number,
  frames: readonly number[],
): Row[] {
  const secondsTaken = (flood.to - flood.from) / 1000;
  return [
    { what: "traces a second, as they were written", value: sentInFlood / secondsTaken, unit: "events/s" },
    {
      what: "traces that are missing in the files on disk",
      value: sent - found,
      unit: "",
      target: { atMost: 0 },
      samples: sent,
    },
    ...(
      [
        ["delayP50", "extension host, event loop late, median"],
        ["delayP99", "extension host, event loop late, p99"],
        ["delayMax", "extension host, event loop late, worst"],
      ] as const
    ).map(([key, what]): Row => ({
      what,
      value: flood[key],
      unit: "ms",
      floor: { what: "idle", value: idle[key] },
    })),
    ...(
      [
        [0.5, "window, between two frames, median"],
        [0.99, "window, between two frames, p99"],
        [1, "window, between two frames, worst"],
      ] as const
    ).map(([share, what]): Row => {
      const [during, before] = [gaps(frames, flood), gaps(frames, idle)];
      return {
        what,
        value: percentile(during, share),
        unit: "ms",
        floor: { what: "idle", value: percentile(before, share) },
        samples: during.length,
      };
    }),
  ];
}

function gaps(frames: readonly number[], { from, to }: Phase): number[] {
  const inside = frames.filter((frame) => frame >= from && frame <= to);
  return inside.slice(1).map((frame, index) => frame - (inside[index] ?? frame));
}

async function framesOf(page: Page): Promise<number[]> {
  return await page.evaluate(() => (globalThis as unknown as { frames: number[] }).frames);
}

/** The kernel writes later: a line that is not there after a while is missing. */
async function linesOnceWritten(vscode: VSCode, expected: number): Promise<number> {
  let found = 0;
  await until("every trace in the files", () => (found = countLines(vscode)) >= expected, writingMs).catch(
    () => undefined,
  );
  return found;
}

/** Returns the number of the agents' lines, each number of each agent once. */
function countLines({ home }: VSCode): number {
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.parentPath.endsWith("traces") && entry.name.endsWith(".log"),
  );
  const seen = new Set<string>();
  for (const { parentPath, name } of files)
    for (const line of readFileSync(join(parentPath, name), "utf8").split("\n")) {
      if (line === "") continue;
      const { agent, fields } = JSON.parse(line) as { agent: string; fields?: { number?: number } };
      if (fields?.number !== undefined) seen.add(`${agent} ${fields.number}`);
    }
  return seen.size;
}
