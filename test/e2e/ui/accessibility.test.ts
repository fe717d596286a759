import { writeFile } from "node:fs/promises";
import type { Frame } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { accessibilityFaults, type Backdrop } from "../support/accessibility.ts";
import { acceptDocuments, beside } from "../support/person.ts";
import { Desk } from "./desk.ts";
import type { Screen } from "./screen.ts";

/** A model of a file, so that there is usage. */
const userFiles = {
  "lares.yaml": `version: 1
models:
  providers:
    rehearsal: { api: scripted, script: ./rehearsal.yaml }
    anthropic: { api: anthropic, key: { secret: anthropic } }
  routes: { default: rehearsal/script }
`,
  "rehearsal.yaml": "turns:\n  - { say: Yes., repeat: true }\n",
};

let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open({ userFiles });
  await acceptDocuments(desk.vscode);
  await using client = await beside(desk.vscode);
  await client.request("lares/models/test", { model: "rehearsal/script" });
  const agent = "com.example.titles";
  await writeFile(desk.vscode.workspace("notes/beach.md"), "# Beach\n\na quiet beach by the sea\n");
  await writeFile(desk.vscode.workspace("notes/walks.md"), "along the river\n");
  await until("the agent to remember them", async () => {
    const { items } = await client.request<{ items: unknown[] }>("lares/memory/query", {
      agent,
      kind: "associative",
    });
    return items.length >= 2;
  });
  await client.shutdown();
});
afterAll(() => desk[Symbol.asyncDispose]());

type Look = (name: string, page: Frame, backdrop: Backdrop) => Promise<void>;

/** Opens each page with content, and each of its parts. */
async function pages(screen: Screen, look: Look): Promise<void> {
  await screen.openLares();
  await screen.item(/^Agent Titles/).waitFor();
  const activity = await screen.webview(".activity");
  await activity.getByRole("heading", { name: "Today" }).waitFor();
  await look("activity", activity, "sideBar");

  await screen.command("Lares: Show Memory");
  const memory = await screen.webview('input[aria-label="Text in an event"]');
  await memory
    .getByText(/beach\.md/)
    .first()
    .waitFor();
  await look("memory, timeline", memory, "sideBar");
  await memory.getByRole("tab", { name: "Knowledge" }).click();
  await memory.getByRole("table").getByRole("row").nth(1).waitFor();
  await look("memory, knowledge", memory, "sideBar");
  await memory.getByRole("tab", { name: "Working" }).click();
  await memory.getByRole("tabpanel").waitFor();
  await look("memory, working", memory, "sideBar");
  await memory.getByRole("tab", { name: "Witness" }).click();
  await memory.getByRole("button", { name: /Verify/ }).click();
  await memory.getByRole("status").first().waitFor();
  await look("memory, witness", memory, "sideBar");
  await memory.getByRole("tab", { name: "Timeline" }).click();

  await screen.command("Focus on Lares Traces View");
  const traces = await screen.webview('input[aria-label="Text in the message"]');
  await traces.getByText("saw a note").first().waitFor();
  await look("traces", traces, "panel");

  await screen.command("Lares: Show Usage of Language Models");
  const usage = await screen.webview("main.usage");
  await usage.getByText("Table of days").click();
  await usage.getByRole("button", { name: "Test rehearsal/script" }).first().waitFor();
  await look("usage", usage, "editor");

  const tool = screen.page.locator(".quick-input-list-row", { hasText: "shout" }).first();
  // A page that takes the focus while it loads closes the list.
  await until("the tool to be chosen", async () => {
    await screen.command("Lares: Run Tool");
    return await tool.click({ timeout: 5_000 }).then(
      () => true,
      () => false,
    );
  });
  const form = await screen.webview("form");
  await form.getByLabel(/times/i).first().fill("99");
  await form.getByRole("button", { name: /^Run/ }).click();
  await look("tool, with what is wrong in it", form, "editor");
  await form.getByLabel(/word/i).first().fill("hello");
  await form.getByLabel(/times/i).first().fill("3");
  await form.getByRole("button", { name: /^Run/ }).click();
  await form.getByText("HELLO! HELLO! HELLO!").first().waitFor();
  await look("tool, with its result", form, "editor");
}

describe.each([
  ["light", "Default Light Modern", "vscode-light"],
  ["dark", "Default Dark Modern", "vscode-dark"],
  ["high contrast", "Default High Contrast", "vscode-high-contrast"],
  ["high contrast on white", "Default High Contrast Light", "vscode-high-contrast-light"],
])("%s", (name, theme, className) => {
  it("every page can be read and used by everyone, as far as a machine can tell", async () => {
    await desk.vscode.configure({ "workbench.colorTheme": theme });
    await desk.window(`accessibility ${name}`, async (screen) => {
      const found: string[] = [];
      await pages(screen, async (page, frame, backdrop) => {
        await frame.locator(`body.${className}`).waitFor();
        for (const fault of await accessibilityFaults(frame, backdrop)) found.push(`${page}: ${fault}`);
      });
      expect(found).toEqual([]);
    });
  });
});
