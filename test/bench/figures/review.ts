import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { openBrowser } from "../../e2e/support/browser.ts";
import { findChromium } from "../../e2e/support/home.ts";
import type { Figure } from "../figure.ts";
import type { Row } from "../report.ts";
import { percentile } from "../statistics.ts";

/** Pending proposals while one of them changes. */
const waiting = 500;
/** Proposals through which a person moves. */
const many = 1_000;

/**
 * The review page itself, in a browser, with a host that answers at once, so that only the page is measured. A changed
 * card counts as painted in the second frame after its message.
 */
export const review: Figure = {
  name: "review",
  title: "a changed proposal on the review page → its card is painted; moving through a thousand",
  async run({ isShort, say }) {
    if (findChromium() === undefined) {
      say("left out: there is no Chromium to measure in");
      return [];
    }
    const page = await pageOf();
    await using browser = await openBrowser();
    const repaints = await measured(browser, page, waiting, `repaints(${isShort ? 30 : 200})`);
    const idle = await measured(browser, page, waiting, `measureFrames(${isShort ? 30 : 200}, () => {})`);
    const moving = await measured(browser, page, many, `measureFrames(${isShort ? 60 : 300}, press)`);
    const still = await measured(browser, page, many, `measureFrames(${isShort ? 60 : 300}, () => {})`);
    return [
      ...([0.5, 0.99] as const).map((share): Row => ({
        what: `message → painted card, ${waiting} waiting, ${share === 0.5 ? "median" : "p99"}`,
        value: percentile(repaints.times, share),
        unit: "ms",
        target: { atMost: 100 },
        floor: { what: "two frames of the same page, idle", value: 2 * percentile(idle.times, share) },
        samples: repaints.times.length,
      })),
      {
        what: `between two frames while moving through ${many}, p99`,
        value: percentile(moving.times, 0.99),
        unit: "ms",
        target: { atMost: 50 },
        floor: { what: "the same page, idle", value: percentile(still.times, 0.99) },
        samples: moving.times.length,
      },
      {
        what: `processor time of the page for a painted card, ${waiting} waiting`,
        value: repaints.cpuMs,
        unit: "ms",
        floor: { what: "for a frame of the same page, idle", value: idle.cpuMs },
        samples: repaints.times.length,
      },
      {
        what: `processor time of the page for each move through ${many}`,
        value: moving.cpuMs,
        unit: "ms",
        floor: { what: "for a frame of the same page, idle", value: still.cpuMs },
        samples: moving.times.length,
      },
    ];
  },
};

interface PageParts {
  readonly script: string;
  readonly style: string;
}

async function pageOf(): Promise<PageParts> {
  const entry = fileURLToPath(new URL("../../../vscode-client/src/webviews/review/main.ts", import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    outdir: "out",
    bundle: true,
    minify: true,
    write: false,
    platform: "browser",
    format: "iife",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  const textOf = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
  return { script: textOf(".js"), style: textOf(".css") };
}

/** Results from the page, with the processor time of its thread for each, which other programs do not affect. */
interface Measured {
  readonly times: number[];
  readonly cpuMs: number;
}

async function measured(
  browser: Awaited<ReturnType<typeof openBrowser>>,
  { script, style }: PageParts,
  amount: number,
  expression: string,
): Promise<Measured> {
  const page: Page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
  try {
    await page.setContent("<!doctype html><html><head></head><body></body></html>");
    await page.addStyleTag({ content: style });
    await page.evaluate(host(amount));
    await page.addScriptTag({ content: script });
    await page.locator(".card").nth(10).waitFor();
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const cpuMs = async (): Promise<number> => {
      const { metrics } = await session.send("Performance.getMetrics");
      return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
    };
    const before = await cpuMs();
    const times = await page.evaluate<number[]>(expression);
    return { times, cpuMs: ((await cpuMs()) - before) / times.length };
  } finally {
    await page.close();
  }
}

/** Returns a script that plays the extension in the page: it answers with similar cards and a diff for each. */
const host = (amount: number): string => `
  const digest = "sha256:" + "0".repeat(64);
  const card = (index, title = "Give it a title") => ({
    id: "a" + index, digest, agent: "test.agent", section: "waiting", name: "note " + index + ".md", folder: "notes",
    title, reason: "The note starts without a heading, so it shows up under its file's name.", created:
    new Date(1_700_000_000_000 + index * 1000).toISOString(), level: 1, impact: "Changes 1 file. Can be undone.",
    showsFirst: false, isAlone: false, moreFiles: 0, effects: 1, folders: ["notes"], kinds: ["edit"], scopes: [],
    canUndo: false, canRebase: false, canEdit: true,
    files: [{ effect: 0, sign: "edit", verb: "edit", path: "notes/note " + index + ".md", hasText: true,
      isPicture: false, isLeftOut: false }] });
  const line = (sign, number, text) => ({ sign, number, parts: [{ text, changed: sign !== " " }] });
  const diff = { digest, added: 2, removed: 1, more: 0, hunks: [{ title: "Lines 1–5", lines:
    [line("-", 1, "Along the river"), line("+", 1, "# River"), line("+", 2, "Along it"), line(" ", 3, "Park")] }] };
  const cards = Array.from({ length: ${amount} }, (_, index) => card(index));
  const tell = (message) => window.postMessage(message, "*");
  window.acquireVsCodeApi = () => ({ getState() {}, setState() {}, postMessage({ id, ask }) {
    const results = { situation: { kernel: { kind: "running" }, agents: [] }, cards: { cards: cards.slice(0, 100) }, diff };
    setTimeout(() => tell({ answer: id, result: results[ask] ?? {} }));
    if (ask === "cards") for (let start = 100; start < cards.length; start += 100)
      setTimeout(() => tell({ push: "changed", params: { cards: cards.slice(start, start + 100), gone: [] } }));
  } });
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
  window.repaints = async (times) => {
    const taken = [];
    for (let time = 0; time < times; time++) {
      const title = "Title " + time;
      await frame();
      const begun = performance.now();
      tell({ push: "changed", params: { cards: [card(time % 50, title)], gone: [] } });
      while (!document.querySelector('[data-id="a' + (time % 50) + '"]').textContent.includes(title)) await frame();
      taken.push(await frame() - begun);
    }
    return taken;
  };
  window.press = () => document.dispatchEvent(new KeyboardEvent("keydown", { key: "j" }));
  window.measureFrames = async (times, act) => {
    const gaps = [];
    let last = await frame();
    for (let time = 0; time < times; time++) {
      act();
      const now = await frame();
      gaps.push(now - last);
      last = now;
    }
    return gaps;
  };
`;
