import { mkdtempSync, rmSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { chromiumHelp, findChromium } from "./home.ts";
import type { VSCode } from "./vscode.ts";

/** Pictures and, for failures, logs; not in the repository. */
export const artefacts = fileURLToPath(new URL("../artefacts/", import.meta.url));

const switches = [
  // For a container that runs everything as root; all pages are this project's own.
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--font-render-hinting=none",
];

/** Timeout for something to appear on the screen of a busy machine, in milliseconds. */
const screenPatienceMs = 25_000;

/** A headless Chromium with a home of its own. */
export async function openBrowser(): Promise<Browser & AsyncDisposable> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(chromiumHelp);
  const home = mkdtempSync(join(tmpdir(), "lares-chromium-"));
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    args: switches,
    env: { ...stringsOf(process.env), HOME: home, TMPDIR: home },
  });
  browser.on("disconnected", () => rmSync(home, { recursive: true, force: true, maxRetries: 20 }));
  return browser;
}

/** Opens a window without any state of an earlier one. */
async function openWindow(browser: Browser, size = { width: 1400, height: 900 }): Promise<Page> {
  const context = await browser.newContext({ viewport: size, reducedMotion: "reduce" });
  context.setDefaultTimeout(screenPatienceMs);
  return context.newPage();
}

/** Runs something in a window; if it fails, keeps the picture and the logs among the artefacts. */
export async function inWindow<Result>(
  browser: Browser,
  vscode: VSCode,
  name: string,
  act: (page: Page) => Promise<Result>,
): Promise<Result> {
  const page = await openWindow(browser);
  try {
    return await act(page);
  } catch (error) {
    const folder = join(artefacts, `failed ${name}`);
    await mkdir(folder, { recursive: true });
    await page.screenshot({ path: join(folder, "screen.png") });
    for (const path of vscode.logs()) await cp(path, join(folder, basename(path)));
    await cp(join(vscode.base, "server.log"), join(folder, "server.log"));
    throw error;
  } finally {
    await page.context().close();
  }
}

function stringsOf(environment: NodeJS.ProcessEnv): Record<string, string> {
  const strings: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) if (value !== undefined) strings[name] = value;
  return strings;
}
