import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { accessibilityFaults } from "../support/accessibility.ts";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";

const folder = ".lares/extensions/watcher";
const program = `import { defineAgent } from "@lares/sdk";

export default defineAgent({
  hooks: {
    async seen({ entry }, ctx) {
      ctx.trace.info("saw a note", { path: entry.path });
      if (entry.path.endsWith("bad.md"))
        throw new Error("this note cannot be read");
    },
  },
});
`;
const throwsInLine = program.split("\n").findIndex((line) => line.includes("throw new Error")) + 1;
const other = (id: string, name: string): string => `extension:
  id: ${id}
  name: ${name}
  version: 1.0.0
  main: agent.ts
  permissions: { read_entries: true }
  hooks: [{ on: EntryCreated, filter: entry.kind == "file", handler: seen }]
`;
let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open({
    files: {
      "lares.yaml": `version: 1
extensions:
  - { path: ./${folder}, grants: { locations: [notes/] } }
  - { path: ./.lares/extensions/other, grants: { locations: [notes/] } }
`,
      [`${folder}/extension.yaml`]: other("com.example.watcher", "Watcher"),
      [`${folder}/agent.ts`]: program,
      ".lares/extensions/other/extension.yaml": other("com.example.other", "Other"),
      ".lares/extensions/other/agent.ts": program
        .replace("saw a note", "the other saw it")
        .replace("bad.md", "never.md"),
      "notes/first.md": "# First\n",
    },
  });
  await acceptDocuments(desk.vscode);
});
afterAll(() => desk[Symbol.asyncDispose]());

it("the traces of an agent stand beside its program as its events come, and a failure leads to its line", () =>
  desk.window("traces beside", async (screen) => {
    const { page } = screen;
    const groups = page.locator(".editor-group-container");
    await screen.openLares();
    await screen.item(/^Agent Watcher/).waitFor();
    await screen.open("watcher/agent.ts");
    // The button is in the title of an agent's files only.
    const button = page.getByRole("button", { name: "Show Traces Beside the Code" });
    await button.first().click();
    await page.getByRole("tab", { name: "Traces: Watcher" }).waitFor();
    expect(await groups.count()).toBe(2);
    const traces = await screen.webview('input[aria-label="Text in the message"]');

    await writeFile(desk.vscode.workspace("notes/harbour.md"), "boats\n");
    await traces.getByRole("option", { name: /saw a note.*notes\/harbour\.md/ }).waitFor();
    expect(await traces.getByText("the other saw it").count()).toBe(0);
    // The name of the one agent is not repeated in each row, so the message has the room.
    expect(await traces.locator(".row .agent").first().isVisible()).toBe(false);
    await screen.picture("traces-beside");

    await writeFile(desk.vscode.workspace("notes/bad.md"), "x\n");
    const failure = traces.getByRole("option", { name: /this note cannot be read/ }).first();
    await failure.waitFor();
    await failure.click();
    await screen.picture("traces-beside-failure");
    expect(await accessibilityFaults(traces, "editor")).toEqual([]);
    const details = traces.getByRole("region", { name: "The chosen trace" });
    await details.getByRole("button", { name: new RegExp(`agent\\.ts:${throwsInLine}`) }).click();
    await screen.statusBar(new RegExp(`Ln ${throwsInLine},`)).waitFor();
    // The line is shown where the program is open already, not in place of the traces.
    expect(await groups.count()).toBe(2);
    await page.getByRole("tab", { name: "Traces: Watcher" }).waitFor();
    await screen.picture("traces-beside-line");

    // A file of no agent has no such button.
    await screen.open("first.md");
    await button.waitFor({ state: "detached" });
  }));
