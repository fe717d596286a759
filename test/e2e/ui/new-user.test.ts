import { readFile } from "node:fs/promises";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { Desk } from "./desk.ts";

/** From an empty folder, including the editor's trust, to a change that was approved and undone. */
const maxClicks = 8;

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

it("a new user comes from an empty folder to an approved and undone change in at most 8 clicks, following what the screen says", () =>
  desk.window("new user", async (screen) => {
    const { page } = screen;
    const begun = performance.now();
    const clicked: string[] = [];
    const click = async (what: string, target: Locator): Promise<void> => {
      await target.waitFor();
      await target.click();
      clicked.push(what);
    };
    const step = (title: RegExp): Locator => page.locator(".getting-started-step", { hasText: title });
    const isDone = (title: RegExp): Promise<boolean> =>
      step(title)
        .locator(".getting-started-step .complete, .codicon-getting-started-step-checked.complete")
        .first()
        .isVisible();

    await click("walkthrough", page.getByRole("button", { name: /Get Started with Lares/ }));
    await step(/Trust the folder in the editor/)
      .first()
      .waitFor();
    await screen.picture("walkthrough-restricted");
    await click("manage trust", page.getByRole("button", { name: "Manage Workspace Trust" }).first());
    await click("trust", page.getByRole("button", { name: "Trust", exact: true }));

    // The walkthrough is shown again, at its next step.
    const create = page
      .locator(".getting-started-step")
      .getByRole("button", { name: "Create a Starter lares.yaml" });
    await create.waitFor();
    await screen.picture("walkthrough-document");
    await click("create", create);
    const question = await screen.webview("main.consent article");
    await screen.picture("allow");
    await click("tick", question.getByRole("button", { name: "Tick everything" }));
    await click("allow", question.getByRole("button", { name: "Allow Selected" }));

    await page.getByRole("tab", { name: /^first-note\.md/ }).waitFor();
    await screen.lens("Approve").waitFor();
    await screen.picture("first-change");
    const before = await onDisk();
    await click("approve", screen.lens("Approve"));
    await until("the change on disk", async () => (await onDisk()) !== before);
    expect(await onDisk()).toMatch(/^# /);
    const undo = screen.lens("Undo what you approved");
    await undo.waitFor();
    await screen.picture("first-approved");
    await click("undo", undo);
    await until("the old text on disk", async () => (await onDisk()) === before);
    await screen.lens("Done. Activity shows what agents did").waitFor();
    await screen.picture("undone");
    const seconds = (performance.now() - begun) / 1000;
    console.log(`${clicked.length} clicks (${clicked.join(", ")}) in ${seconds.toFixed(1)} s`);
    expect(clicked.length).toBeLessThanOrEqual(maxClicks);

    // Every step is completed by the actual state.
    await page.getByRole("tab", { name: /^Walkthrough: Lares/ }).click();
    await until("all steps to be done", () => isDone(/Undo it/));
    await screen.picture("walkthrough-done");
  }));
