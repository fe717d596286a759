import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";

const note = "notes/walks.md";
let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open();
  await acceptDocuments(desk.vscode);
});
afterAll(() => desk[Symbol.asyncDispose]());

const onDisk = (): Promise<string> => readFile(desk.vscode.workspace(note), "utf8");

it("an agent wakes as a file is saved, and what it proposes is approved above the line and undone", () =>
  desk.window("approval", async (screen) => {
    await screen.openLares();
    await screen.item(/^Agent Titles/).waitFor();
    await screen.open(note);
    await screen.replaceAll("along the river\nand back\n");
    await screen.save();
    await screen.item(/^Agent Titles, Active/).waitFor();
    await screen.lens("Approve").waitFor();
    await screen.picture("approval");
    expect(await onDisk()).toBe("along the river\nand back\n");

    await screen.lens("Approve").click();
    await until("the change on disk", async () => (await onDisk()).startsWith("# walks\n"));
    await screen.page.locator(".view-line", { hasText: "# walks" }).first().waitFor();
    await screen.lens("Approve").waitFor({ state: "detached" });
    const applied = screen.item(/^walks\.md\. Give walks\.md a title\. Applied by you/);
    await applied.waitFor();
    await screen.picture("approved");

    await applied.hover();
    await applied.getByRole("button", { name: "Undo" }).click();
    await until("the old text on disk", async () => (await onDisk()) === "along the river\nand back\n");
    await screen.item(/^walks\.md\. Give walks\.md a title\. Undone/).waitFor();
  }));

it("what is proposed for a text that is saved only now is another, and is shown before it is approved", () =>
  desk.window("approval-unsaved", async (screen) => {
    await screen.openLares();
    await screen.open(note);
    await screen.replaceAll("over the hill\n");
    await screen.save();
    await screen.lens("Approve").waitFor();
    await screen.goToEndOf(1);
    await screen.type(" and far away");
    // In the tree: above the text, "Approve" gives way to "waits until this file is saved".
    const waiting = screen.item(/^walks\.md/).first();
    await waiting.hover();
    await waiting.getByRole("button", { name: "Approve" }).first().click();
    await screen
      .toast(/Save or revert walks\.md first/)
      .getByRole("button", { name: "Save and Continue" })
      .click();
    const question = screen.toast(/for the new text instead: 1 file, /);
    await question.waitFor();
    expect(await onDisk()).toBe("over the hill and far away\n");
    await screen.page.getByRole("tab", { name: /walks\.md \(Lares: Give walks\.md a title/ }).waitFor();
    await screen.picture("approval-unsaved");
    await question.getByRole("button", { name: "Approve" }).click();
    await until(
      "the change on disk",
      async () => (await onDisk()) === "# walks\n\nover the hill and far away\n",
    );
  }));
