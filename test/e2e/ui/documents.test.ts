import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { Desk } from "./desk.ts";

const manifest = ".lares/extensions/titles/extension.yaml";
const program = ".lares/extensions/titles/agent.ts";
let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open();
});
afterAll(() => desk[Symbol.asyncDispose]());

it("underlines what is wrong in a manifest as it is typed, and no longer once it is right", () =>
  desk.window("fault", async (screen) => {
    await screen.open("lares.yaml");
    await screen.beginLineBelow(7);
    await screen.type("autoapprove: 1");
    const squiggle = screen.page.locator(".squiggly-error, .squiggly-warning").first();
    await squiggle.waitFor();
    await screen.picture("fault");
    await screen.page.keyboard.press("Escape");
    await screen.page.keyboard.press("Control+Shift+K");
    await squiggle.waitFor({ state: "detached" });
    await screen.save();
  }));

it("F2 on a handler in its program renames it there and in the manifest, both saved", () =>
  desk.window("rename", async (screen) => {
    const onDisk = (path: string): Promise<string> => readFile(desk.vscode.workspace(path), "utf8");
    const [text, source] = await Promise.all([onDisk(manifest), onDisk(program)]);
    const line = source.split("\n").findIndex((each) => each.includes("async noteSaved("));
    await screen.open(program);
    await screen.goToEndOf(line + 1);
    for (const key of ["Home", "Control+ArrowRight", "Control+ArrowRight", "F2"])
      await screen.page.keyboard.press(key);
    const name = screen.page.locator(".rename-box input");
    await name.waitFor();
    expect(await name.inputValue()).toBe("noteSaved");
    await name.fill("noteWritten");
    await name.press("Enter");
    const expected = [
      [program, source.replace("noteSaved", "noteWritten")],
      [manifest, text.replaceAll("noteSaved", "noteWritten")],
    ] as const;
    for (const [path, whole] of expected)
      await until(`${path} to be saved`, async () => (await onDisk(path)) === whole);
  }));

// The last test: an editor may restore unsaved text in the next window in spite of a revert.
it("completes what a filter may ask of an entry", () =>
  desk.window("completion", async (screen) => {
    await screen.open(manifest);
    await screen.beginLineBelow(14);
    await screen.type("- { on: EntryCreated, handler: noteSaved, filter: entry.");
    await screen.page.keyboard.press("Control+Space");
    const suggestions = screen.page.locator(".suggest-widget.visible");
    await suggestions.locator(".monaco-list-row", { hasText: "extension" }).first().waitFor();
    await screen.picture("completion");
    await screen.page.keyboard.type("exten");
    await suggestions.locator(".monaco-list-row.focused", { hasText: "extension" }).waitFor();
    await screen.page.keyboard.press("Enter");
    const typed = screen.page.locator(".view-line", {
      hasText: "handler: noteSaved, filter: entry.extension",
    });
    await typed.waitFor();
    await screen.command("File: Revert File");
    await typed.waitFor({ state: "detached" });
  }));
