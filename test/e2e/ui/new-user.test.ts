import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { Desk } from "./desk.ts";

const note = "notes/first-note.md";
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

it("a new user comes from an empty folder to an approved change and back, following only what the screen says", () =>
  desk.window("new user", async (screen) => {
    const { page } = screen;
    const begun = performance.now();
    await page.getByRole("button", { name: /Get Started with Lares/ }).click();
    await page.getByRole("button", { name: "Open the Lares View" }).click();
    await page.getByRole("button", { name: "Manage Workspace Trust" }).first().waitFor();
    await screen.picture("restricted");
    await page.getByRole("button", { name: "Manage Workspace Trust" }).first().click();
    await page.getByRole("button", { name: "Trust", exact: true }).click();
    await page.getByText("You trust this folder").waitFor();
    await page
      .locator(".monaco-modal-editor-block")
      .getByRole("button", { name: /^Close/ })
      .click();

    await page.getByRole("button", { name: /Create your lares\.yaml/ }).click();
    await screen.picture("walkthrough");
    await page
      .locator(".getting-started-step")
      .getByRole("button", { name: "Create a Starter lares.yaml" })
      .click();
    await page.getByRole("tab", { name: /^lares\.yaml/ }).waitFor();
    await page.getByRole("tab", { name: /^Walkthrough: Lares/ }).click();

    await page.getByRole("button", { name: /Allow what it asks for/ }).click();
    await page.getByRole("button", { name: "Review and Allow" }).click();
    const question = await screen.webview("main.consent article");
    await screen.picture("allow");
    await question.getByRole("button", { name: "Tick everything" }).click();
    await question.getByRole("button", { name: "Allow Selected" }).click();

    await page.getByRole("button", { name: /Approve your first change/ }).click();
    await page.getByRole("button", { name: "Open the First Note" }).click();
    await screen.lens("Approve").waitFor();
    await screen.picture("first-change");
    const before = await onDisk();
    await screen.lens("Approve").click();
    await until("the change on disk", async () => (await onDisk()) !== before);
    const seconds = (performance.now() - begun) / 1000;
    console.log(`From an empty profile to an approved change: ${seconds.toFixed(1)} s`);
    expect(await onDisk()).toMatch(/^# /);

    await screen.item(/Applied by you/).hover();
    await screen
      .item(/Applied by you/)
      .getByRole("button", { name: "Undo" })
      .click();
    await until("the old text on disk", async () => (await onDisk()) === before);
    await screen.item(/Undone/).waitFor();
    await screen.picture("undone");
  }));
