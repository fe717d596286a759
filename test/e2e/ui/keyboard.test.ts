import { readFile } from "node:fs/promises";
import type { Frame } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { Desk } from "./desk.ts";
import type { Screen } from "./screen.ts";

const note = "notes/first-note.md";
/** How often a person would press Tab on one page at most. */
const maxTabs = 40;

let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open({
    asksForTrust: true,
    files: { "readme.md": "# A folder of my own\n" },
    settings: { "workbench.startupEditor": "welcomePage" },
  });
});
afterAll(() => desk[Symbol.asyncDispose]());

const onDisk = (): Promise<string> => readFile(desk.vscode.workspace(note), "utf8");

/** Presses Tab until the link or button with this name has the focus. */
async function tabTo(screen: Screen, name: string, frame: Frame = screen.page.mainFrame()): Promise<void> {
  for (let tabs = 0; tabs < maxTabs; tabs++) {
    const focused = await frame.evaluate<string>(
      `/^(A|BUTTON|INPUT)$/.test(document.activeElement.tagName) ? document.activeElement.innerText : ""`,
    );
    if (focused.startsWith(name)) return;
    await screen.page.keyboard.press("Tab");
  }
  throw new Error(`${maxTabs} times Tab do not lead to “${name}”.`);
}

it("without a mouse a new user comes from an empty folder to an approved and undone change", () =>
  desk.window("keyboard", async (screen) => {
    const { keyboard } = screen.page;
    const step = (title: string) =>
      screen.page.locator(".getting-started-step.expanded", { hasText: title }).first();
    // The welcome page takes the focus when it comes.
    await screen.page.getByRole("button", { name: /Get Started with Lares/ }).waitFor();
    await screen.command("Lares: Get Started with Agents");
    await step("Trust the folder in the editor").waitFor();
    await tabTo(screen, "Manage Workspace Trust");
    await keyboard.press("Enter");
    await screen.page.getByRole("button", { name: "Trust", exact: true }).waitFor();
    await screen.page.locator('[aria-label^="Manage Workspace Trust"]:focus').waitFor();
    await keyboard.press("Control+Enter");

    await step("Create your lares.yaml").waitFor();
    await tabTo(screen, "Create a Starter lares.yaml");
    await keyboard.press("Enter");
    const consent = await screen.webview("main.consent article");
    await consent.locator("article input[type=checkbox]:focus").waitFor();
    await keyboard.press("Space");
    await tabTo(screen, "Allow Selected", consent);
    await keyboard.press("Enter");

    await screen.page.getByRole("tab", { name: /^first-note\.md/ }).waitFor();
    await screen.lens("Approve").waitFor();
    const before = await onDisk();
    // The only proposal is above the cursor: the key wraps around to it within the note.
    await screen.goToEndOf(3);
    await keyboard.press("Alt+F5");
    await screen.statusBar(/Ln 1,/).waitFor();
    // The palette shows whether there is a part under the cursor, and which keys approve it. It lists the state at the
    // time of opening.
    await until("the command that approves the part under the cursor", async () => {
      await screen.quickInput("F1", ">Approve the Part");
      const row = screen.page.locator(".quick-input-list-row", { hasText: /Under the Cursor.*Ctrl.*K.*Y/s });
      const isThere = await row.waitFor({ timeout: 2_000 }).then(
        () => true,
        () => false,
      );
      await keyboard.press("Escape");
      return isThere;
    });
    await keyboard.press("Control+K");
    await keyboard.press("y");
    await until("the change on disk", async () => (await onDisk()) !== before);
    expect(await onDisk()).toMatch(/^# /);

    await screen.command("Lares: Undo");
    await screen.page.locator(".quick-input-list-row", { hasText: note }).waitFor();
    await screen.picture("keyboard-undo");
    await keyboard.press("Enter");
    await until("the old text", async () => (await onDisk()) === before);
  }));
