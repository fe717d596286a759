import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { inWindow, openBrowser } from "./support/browser.ts";
import { bundleSuite } from "./support/suite-bundle.ts";
import { VSCode } from "./support/vscode.ts";
import type { TestResult } from "./suite/index.ts";

const extension = fileURLToPath(new URL("../../vscode-client", import.meta.url));

/** The whole suite, in milliseconds. */
const patienceMs = 240_000;

/** Runs `suite/` inside the extension host of a real VS Code, on the checkout's client and kernel. */
async function runSuite(): Promise<TestResult[]> {
  const suite = await bundleSuite();
  await using vscode = await VSCode.start({ smoke: true });
  await using browser = await openBrowser();
  return await inWindow(browser, vscode, "extension host", async (page) => {
    const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error(`The suite runs for ${patienceMs} ms.`)), patienceMs);
    await page.exposeFunction("codeAutomationLog", () => undefined);
    await page.exposeFunction("codeAutomationExit", () => resolve());
    const remote = `vscode-remote://127.0.0.1:${vscode.port}`;
    const payload = [
      ["extensionDevelopmentPath", remote + extension],
      ["extensionTestsPath", remote + suite],
    ];
    await page.goto(vscode.page({ payload: JSON.stringify(payload) }));
    await ended.finally(() => clearTimeout(timer));
    return JSON.parse(vscode.results()) as TestResult[];
  });
}

const results = await runSuite();
describe("in the extension host", () => {
  it("there are tests", () => expect(results).not.toEqual([]));
  for (const { title, error } of results)
    it(title, () => {
      if (error !== undefined) throw new Error(error);
    });
});
