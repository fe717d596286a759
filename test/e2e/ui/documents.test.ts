import { afterAll, beforeAll, it } from "vitest";
import { Desk } from "./desk.ts";

const manifest = ".lares/extensions/titles/extension.yaml";
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
    await screen.page.locator(".view-line", { hasText: "filter: entry.extension" }).first().waitFor();
  }));
