import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Frame, Locator, Page } from "playwright-core";
import { until } from "../../support/until.ts";
import { artefacts } from "../support/browser.ts";

/** A person's actions in VS Code's window, by keyboard and mouse. */
export class Screen {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Waits until the workbench shows the files of the folder. */
  async isReady(): Promise<void> {
    await this.page
      .getByRole("treeitem", { name: /^(lares\.yaml|readme\.md)/ })
      .first()
      .waitFor();
  }

  /** Opens the box at the top by its key and fills it; repeats this if something takes the focus. */
  async quickInput(key: string, text: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget input");
    await until(`the box that ${key} opens to hold ${text}`, async () => {
      await this.page.keyboard.press(key);
      return await input.fill(text, { timeout: 2_000 }).then(
        () => true,
        () => false,
      );
    });
  }

  async command(title: string): Promise<void> {
    await this.quickInput("F1", `>${title}`);
    await this.page.locator(".quick-input-list-row", { hasText: title }).first().waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Opens a file of the workspace and puts the cursor into it. */
  async open(path: string): Promise<void> {
    await this.quickInput("Control+P", path);
    const name = path.slice(path.lastIndexOf("/") + 1);
    await this.page.locator(".quick-input-list-row", { hasText: name }).first().waitFor();
    await this.page.keyboard.press("Enter");
    await this.page.getByRole("tab", { name: new RegExp(`^${name.replaceAll(".", "\\.")}`) }).waitFor();
    await this.editor().click();
  }

  editor(): Locator {
    return this.page.locator(".editor-group-container.active .monaco-editor .view-lines").first();
  }

  /** Puts the cursor at the end of a line, counted from 1. */
  async goToEndOf(line: number): Promise<void> {
    await this.quickInput("Control+G", `:${line}`);
    await this.page.keyboard.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    await this.statusBar(new RegExp(`Ln ${line},`)).waitFor();
    await this.page.keyboard.press("End");
  }

  /** Begins a new line below another, whatever is suggested meanwhile; it gets the indentation of the one above. */
  async beginLineBelow(line: number): Promise<void> {
    await this.goToEndOf(line);
    await this.page.keyboard.press("Control+Enter");
    await this.statusBar(new RegExp(`Ln ${line + 1},`)).waitFor();
  }

  /** Types like a person, without waiting for suggestions. */
  type(text: string): Promise<void> {
    return this.page.keyboard.type(text);
  }

  async replaceAll(text: string): Promise<void> {
    await this.page.keyboard.press("Control+A");
    await this.page.keyboard.press("Delete");
    await this.page.keyboard.insertText(text);
  }

  save(): Promise<void> {
    return this.page.keyboard.press("Control+S");
  }

  async openLares(): Promise<void> {
    const tab = this.page.getByRole("tab", { name: /^Lares/ }).first();
    if ((await tab.getAttribute("aria-expanded")) !== "true") await tab.click();
  }

  /** Collapses a part of the side bar to make room for another. */
  async fold(title: string): Promise<void> {
    const header = this.page.getByRole("button", { name: `${title} Section` });
    if ((await header.getAttribute("aria-expanded")) === "true") await header.click();
  }

  item(name: RegExp): Locator {
    return this.page.getByRole("treeitem", { name }).first();
  }

  lens(text: string): Locator {
    return this.page.locator(".codelens-decoration a", { hasText: text }).first();
  }

  toast(text: string | RegExp): Locator {
    return this.page.locator(".notification-toast", { hasText: text }).first();
  }

  statusBar(text: RegExp): Locator {
    return this.page.locator(".statusbar-item", { hasText: text }).first();
  }

  /** Returns the document of a webview that contains an element for `selector`: a frame within a frame. */
  async webview(selector: string): Promise<Frame> {
    return await until(`a webview with ${selector}`, async () => {
      for (const frame of this.page.frames())
        if (frame.parentFrame() !== null && (await countIn(frame, selector)) > 0) return frame;
      return undefined;
    });
  }

  /** Keeps a picture; `npm run screenshots` takes some of them for the READMEs. */
  async picture(name: string): Promise<void> {
    await mkdir(artefacts, { recursive: true });
    await this.page.screenshot({ path: join(artefacts, `${name}.png`) });
  }
}

/** Returns 0 for a frame that was removed meanwhile. */
async function countIn(frame: Frame, selector: string): Promise<number> {
  return await frame
    .locator(selector)
    .count()
    .catch((error: Error) => {
      if (/detached|destroyed|closed/.test(error.message)) return 0;
      throw error;
    });
}
