import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";

const note = "notes/walks.md";
const before = "along the river\nand back\n";
let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open({ settings: { "lares.approvals.remindAfterMinutes": 0.02 } });
  await acceptDocuments(desk.vscode);
});
afterAll(() => desk[Symbol.asyncDispose]());

const onDisk = (): Promise<string> => readFile(desk.vscode.workspace(note), "utf8");

it("what an agent did today is a timeline with links, and is undone from it by the keyboard alone", () =>
  desk.window("activity", async (screen) => {
    const { page } = screen;
    await screen.openLares();
    await screen.item(/^Agent Titles/).waitFor();
    for (const title of ["Agents", "Approvals", "Memory"]) await screen.fold(title);
    await screen.open(note);
    await screen.replaceAll(before);
    await screen.save();

    // A change that waits for longer than the setting allows is announced.
    await screen.statusBar(/Lares: 1 waits for you/).waitFor();
    await screen.toast(/1 change has waited for you/).waitFor();
    await screen.picture("reminder");
    const activity = await screen.webview(".activity");
    await activity.getByRole("button", { name: "1 change waits for you" }).waitFor();
    await screen.picture("activity-waiting");
    await screen.command("Notifications: Clear All Notifications");
    await screen.lens("Approve").click();
    await until("the change on disk", async () => (await onDisk()).startsWith("# walks\n"));

    const entry = activity.getByRole("listitem").filter({ hasText: "You approved" });
    await entry.waitFor();
    await activity.getByText("1 change by 1 agent: 1 approved by you.").waitFor();
    await screen.picture("activity-approved");
    expect(await activity.getByText(/since the kernel started|refusal/).count()).toBe(0);

    // A path is a link. The editor that it opens takes the focus, and the next key would go there.
    await screen.command("View: Close All Editors");
    await page.getByRole("tab", { name: /^walks\.md/ }).waitFor({ state: "detached" });
    await entry.getByRole("button", { name: note }).click();
    await page.getByRole("tab", { name: /^walks\.md/ }).waitFor();
    await page.locator(".editor-group-container .monaco-editor.focused").waitFor();

    await entry.focus();
    await page.keyboard.press("u");
    await until("the old text on disk", async () => (await onDisk()) === before);
    await activity.getByRole("listitem").filter({ hasText: "You undid" }).waitFor();
    await screen.picture("activity-undone");
    await activity.getByRole("button", { name: "The day before" }).click();
    await activity.getByRole("heading", { name: "Yesterday" }).waitFor();
    await activity.getByText("Nothing happened.").waitFor();
  }));

it.each([
  ["dark", "Default Dark Modern"],
  ["light", "Default Light Modern"],
  ["contrast", "Default High Contrast"],
  ["contrast-light", "Default High Contrast Light"],
])("it is whole in a narrow sidebar and at 200 %%, in the theme %s", async (name, theme) => {
  await desk.vscode.configure({ "workbench.colorTheme": theme });
  await desk.window(`activity ${name}`, async (screen) => {
    const { page } = screen;
    await screen.openLares();
    for (const title of ["Agents", "Approvals", "Memory"]) await screen.fold(title);
    const activity = await screen.webview(".activity");
    await activity.getByRole("listitem").filter({ hasText: "You undid" }).waitFor();
    await screen.picture(`activity-${name}`);
    // 1,400 by 900 at 200 %.
    await page.setViewportSize({ width: 700, height: 450 });
    const overflow = await activity
      .locator("body")
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await screen.picture(`activity-${name}-narrow`);
    await page.setViewportSize({ width: 1400, height: 900 });
  });
});

it("traces show what they are about, and lead to its file", () =>
  desk.window("traces", async (screen) => {
    await screen.openLares();
    await screen.item(/^Agent Titles/).waitFor();
    await screen.command("Focus on Lares Traces View");
    const traces = await screen.webview('input[aria-label="Text in the message"]');
    await writeFile(desk.vscode.workspace("notes/harbour.md"), "boats\n");
    const row = traces.getByRole("option", { name: /saw a note.*notes\/harbour\.md/ }).first();
    await row.waitFor();
    await screen.picture("traces-fields");
    await row.click();
    await traces
      .getByRole("region", { name: "The chosen trace" })
      .getByRole("button", { name: "notes/harbour.md" })
      .click();
    await screen.page.getByRole("tab", { name: /^harbour\.md/ }).waitFor();
    await screen.picture("traces-opened");
  }));
