import { afterAll, beforeAll, describe, it } from "vitest";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";

/** Pictures for a reviewer: the same in both themes. */
describe.each([
  ["light", "Default Light Modern"],
  ["dark", "Default Dark Modern"],
])("in a %s theme", (name, theme) => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await Desk.open({ settings: { "workbench.colorTheme": theme } });
    await acceptDocuments(desk.vscode);
  });
  afterAll(() => desk[Symbol.asyncDispose]());

  it("what waits for a person, in the file and in the side bar", () =>
    desk.window(`approval ${name}`, async (screen) => {
      await screen.openLares();
      await screen.item(/^Agent Titles/).waitFor();
      await screen.fold("Memory");
      await screen.open("notes/walks.md");
      await screen.replaceAll("Along the river and back, two hours.\n\nBring water in summer.\n");
      await screen.save();
      await screen.lens("Approve").waitFor();
      await screen.item(/^walks\.md\. Give walks\.md a title/).waitFor();
      await (await screen.webview(".activity")).getByRole("heading", { name: "Today" }).waitFor();
      await screen.picture(`approval-${name}`);
      await screen.lens("Show changes").click();
      await screen.page.locator(".monaco-diff-editor").waitFor();
      await screen.page.locator(".line-insert").first().waitFor();
      await screen.picture(`changes-${name}`);
    }));

  it("a manifest, with its agents' state, its schedule in words and what is wrong with it", () =>
    desk.window(`manifest ${name}`, async (screen) => {
      await screen.openLares();
      await screen.item(/^Agent Titles/).waitFor();
      await screen.open(".lares/extensions/titles/extension.yaml");
      await screen.page
        .locator(".view-line", { hasText: /every\sday\sat\s03:00/ })
        .first()
        .waitFor();
      await screen.beginLineBelow(15);
      await screen.type("- { on: EntryMovd, handler: noteSaved }");
      await screen.page.locator(".squiggly-error").first().waitFor();
      await screen.picture(`manifest-${name}`);
    }));
});
