import type { Browser } from "playwright-core";
import { inject } from "vitest";
import { inWindow, openBrowser } from "../support/browser.ts";
import { VSCode, type VSCodeOptions } from "../support/vscode.ts";
import { Screen } from "./screen.ts";

/** The packaged .vsix in an empty profile, with a browser to look at it. */
export class Desk implements AsyncDisposable {
  readonly vscode: VSCode;
  readonly #browser: Browser & AsyncDisposable;

  private constructor(vscode: VSCode, browser: Browser & AsyncDisposable) {
    this.vscode = vscode;
    this.#browser = browser;
  }

  static async open(options: VSCodeOptions = {}): Promise<Desk> {
    const vscode = await VSCode.start({ vsix: inject("vsix"), ...options });
    try {
      return new Desk(vscode, await openBrowser());
    } catch (error) {
      await vscode[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * A fresh window on the workspace. Where it fails, `name` names what is kept of it. `parameters` of the page are VS
   * Code's own.
   */
  window<Result>(
    name: string,
    act: (screen: Screen) => Promise<Result>,
    parameters: Readonly<Record<string, string>> = {},
  ): Promise<Result> {
    return inWindow(this.#browser, this.vscode, name, async (page) => {
      await page.goto(this.vscode.page(parameters));
      const screen = new Screen(page);
      await screen.isReady();
      return await act(screen);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.vscode[Symbol.asyncDispose]();
  }
}
