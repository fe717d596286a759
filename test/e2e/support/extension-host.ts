import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { inWindow, openBrowser } from "./browser.ts";
import { bundleSuite, type SuiteName } from "./suite-bundle.ts";
import { VSCode, type VSCodeOptions } from "./vscode.ts";

const extension = fileURLToPath(new URL("../../../vscode-client", import.meta.url));

/** Maximum lines kept of the extension host's console. */
const maxSaid = 1000;

/** Timeout of the longest run, in milliseconds. */
const patienceMs = 300_000;

/**
 * Runs a folder of `test/e2e` inside the extension host of a real VS Code, on the checkout's client and kernel. `read`
 * gets the parsed results while everything still exists.
 */
export async function inExtensionHost<Read>(
  name: SuiteName,
  options: VSCodeOptions,
  look: {
    /** Called before VS Code is loaded. */
    prepare?(page: Page): Promise<unknown>;
    read(result: unknown, vscode: VSCode, page: Page): Promise<Read>;
  },
): Promise<Read> {
  const suite = await bundleSuite(name);
  await using vscode = await VSCode.start({ ...options, smoke: true });
  await using browser = await openBrowser();
  return await inWindow(browser, vscode, `extension host ${name}`, async (page) => {
    const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error(`${name} runs for ${patienceMs} ms.`)), patienceMs);
    // VS Code's own messages: 0 if `run` resolved; failures are in the results.
    const said: string[] = [];
    await page.exposeFunction("codeAutomationLog", (_type: string, words: unknown[]) => {
      if (said.length < maxSaid) said.push(words.map(String).join(" "));
    });
    await page.exposeFunction("codeAutomationExit", () => resolve());
    await look.prepare?.(page);
    const remote = `vscode-remote://127.0.0.1:${vscode.port}`;
    const payload = [
      ["extensionDevelopmentPath", remote + extension],
      ["extensionTestsPath", remote + suite],
    ];
    await page.goto(vscode.page({ payload: JSON.stringify(payload) }));
    await ended.finally(() => clearTimeout(timer));
    if (!vscode.hasResults()) throw new Error(`No results. It said:\n${said.join("\n")}`);
    return await look.read(JSON.parse(vscode.results()), vscode, page);
  });
}
