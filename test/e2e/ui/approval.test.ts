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
    const applied = screen.item(/^Give walks\.md a title\. Applied by you/);
    await applied.waitFor();
    await screen.picture("approved");

    await applied.hover();
    await applied.getByRole("button", { name: "Undo" }).click();
    await until("the old text on disk", async () => (await onDisk()) === "along the river\nand back\n");
    await screen.item(/^Give walks\.md a title\. Undone/).waitFor();
  }));
