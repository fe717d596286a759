import { afterAll, beforeAll, it } from "vitest";
import { until } from "../../support/until.ts";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open();
  await acceptDocuments(desk.vscode);
});
afterAll(() => desk[Symbol.asyncDispose]());

it("an agent's tool is run by a form made from its schema, and its result is shown", () =>
  desk.window("tool", async (screen) => {
    await screen.openLares();
    await screen.item(/^Agent Titles/).waitFor();
    await screen.command("Lares: Run Tool");
    await screen.page.locator(".quick-input-list-row", { hasText: "shout" }).first().click();
    const form = await screen.webview("form");
    await form.getByText("a tool of Titles").waitFor();
    // By keyboard alone: the first field has the focus.
    await form.locator("input:focus").first().waitFor();
    await screen.type("hello");
    await screen.page.keyboard.press("Tab");
    await screen.type("3");
    await screen.page.keyboard.press("Control+Enter");
    await form.getByText("HELLO! HELLO! HELLO!").first().waitFor();
    await screen.picture("tool");

    // The form is restored with its window, with what was typed and not run.
    await form.getByLabel(/word/i).first().fill("again");
    await screen.command("Developer: Reload Window");
    await until("the window to go", () => form.isDetached());
    const restored = await screen.webview("form");
    await until(
      "what was typed",
      async () => (await restored.getByLabel(/word/i).first().inputValue()) === "again",
    );
    await restored.getByRole("button", { name: /^Run/ }).click();
    await restored.getByText("AGAIN! AGAIN! AGAIN!").first().waitFor();
  }));

it("traces are shown as they are written, and filtered", () =>
  desk.window("traces", async (screen) => {
    await screen.openLares();
    await screen.item(/^Agent Titles/).waitFor();
    await screen.command("Focus on Lares Traces View");
    const traces = await screen.webview('input[aria-label="Text in the message"]');
    await screen.open("notes/walks.md");
    await screen.goToEndOf(3);
    await screen.type(" and over the bridge");
    await screen.save();
    await traces.getByText("saw a note").first().waitFor();
    await screen.picture("traces");

    // A range of time: an invalid one is reported, a past one contains nothing of what was just shown.
    await traces.getByLabel("Time", { exact: true }).selectOption("range");
    await traces.getByText("saw a note").first().waitFor();
    await traces.getByLabel("To").fill("2020-01-01T00:00");
    await traces.getByRole("alert").getByText("The end is before the beginning.").waitFor();
    await traces.getByText("saw a note").first().waitFor();
    await screen.picture("traces-range");
    await traces.getByLabel("From").fill("2019-12-31T00:00");
    await traces.getByText("No traces match.").waitFor();
    await traces.getByLabel("To").fill("");
    await traces.getByText("saw a note").first().waitFor();
  }));
