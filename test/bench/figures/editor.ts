import { readFileSync, statSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { inWindow, openBrowser } from "../../e2e/support/browser.ts";
import { acceptDocuments } from "../../e2e/support/person.ts";
import { VSCode } from "../../e2e/support/vscode.ts";
import { until } from "../../support/until.ts";
import { makeVsix } from "../../support/vsix.ts";
import { isVSCodeThere, sayHow } from "../editor.ts";
import type { Figure } from "../figure.ts";
import type { Row } from "../report.ts";
import { median, percentile } from "../statistics.ts";

/** Records when the tree first shows an agent, in milliseconds since the epoch. */
const watchTree = `
  new MutationObserver((_, observer) => {
    if (document.querySelector('[role="treeitem"][aria-label^="Agent "]') === null) return;
    globalThis.treeShownAt = Date.now();
    observer.disconnect();
  }).observe(document, { subtree: true, childList: true, attributes: true });
`;

interface Sample {
  readonly treeMs: number;
  readonly activationMs: number;
}

export const editor: Figure = {
  name: "editor",
  title:
    "VS Code activates the packaged extension → the first agent is in the tree, its kernel's start included",
  async run({ isShort, say }) {
    if (!isVSCodeThere()) {
      say(sayHow);
      return [];
    }
    const vsix = makeVsix();
    await using vscode = await VSCode.start({ vsix });
    await using browser = await openBrowser();
    await acceptDocuments(vscode);
    const samples: Sample[] = [];
    for (let round = 0; round < (isShort ? 3 : 12); round++) samples.push(await start(vscode, browser));
    const [tree, activation] = [samples.map((one) => one.treeMs), samples.map((one) => one.activationMs)];
    const row = (what: string, value: number, atMost?: number): Row => ({
      what,
      value,
      unit: "ms",
      ...(atMost === undefined ? {} : { target: { atMost } }),
      samples: samples.length,
    });
    return [
      row("activation to the first agent in the tree, median", median(tree), 1500),
      row("the slowest", percentile(tree, 1)),
      row("the client's own activation, loading it included, median", median(activation), 100),
      row("the slowest", percentile(activation, 1)),
      { what: "the .vsix of this platform", value: statSync(vsix).size / 1e6, unit: "MB" },
    ];
  },
};

/** Opens a window in which the person opens the view at once, with no kernel running. */
async function start(vscode: VSCode, browser: Browser): Promise<Sample> {
  await until("the last kernel to end", () => vscode.kernels().length === 0);
  return await inWindow(browser, vscode, "figure editor", async (page) => {
    const known = activations(vscode).length;
    await page.addInitScript(watchTree);
    await page.goto(vscode.page());
    // As soon as VS Code knows the view, which is before it activates the extension.
    await page
      .getByRole("tab", { name: /^Lares/ })
      .first()
      .click();
    await page.getByRole("treeitem", { name: /^Agent / }).waitFor();
    const shownAt = await page.evaluate(() => (globalThis as unknown as { treeShownAt: number }).treeShownAt);
    const activatedAt = await until("the log of its activation", () => activations(vscode)[known]);
    return { treeMs: shownAt - activatedAt, activationMs: await activationTime(page) };
  });
}

/** Returns when the extension host began to activate it, in milliseconds since the epoch, oldest first. */
function activations(vscode: VSCode): number[] {
  const begun = /^(\S+ \S+) \[info\] ExtensionService#_doActivateExtension lares\.lares-vscode/gm;
  return vscode
    .logs()
    .filter((path) => path.endsWith("remoteexthost.log"))
    .flatMap((path) => [...readFileSync(path, "utf8").matchAll(begun)])
    .map(([, moment = ""]) => new Date(moment).getTime())
    .toSorted((one, other) => one - other);
}

/** As VS Code shows it to a person who checks the cost of extensions. */
async function activationTime(page: Page): Promise<number> {
  await page.keyboard.press("F1");
  await page.locator(".quick-input-widget input").fill(">Developer: Show Running Extensions");
  await page.locator(".quick-input-list-row", { hasText: "Show Running Extensions" }).first().waitFor();
  await page.keyboard.press("Enter");
  const extension = page.locator(".runtime-extensions-editor .monaco-list-row", { hasText: /^\s*Lares/ });
  const text = await extension.locator(".activation-time").innerText();
  const [, time] = /(\d+)\s*ms/.exec(text) ?? [];
  if (time === undefined) throw new Error(`VS Code says of its activation: ${text}`);
  return Number(time);
}
