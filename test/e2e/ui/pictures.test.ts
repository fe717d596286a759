import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { afterAll, beforeAll, it } from "vitest";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";

/** The pictures of the READMEs (`npm run screenshots`): the agents that come with the kernel, in a typical folder. */
const files = {
  "lares.yaml": `version: 1
extensions:
  - id: dev.lares.notes
    grants: { locations: [notes/] }
  - id: dev.lares.filetypes
    grants: { locations: ["."] }
  - id: dev.lares.storage
    grants: { locations: ["."] }
    config: { archive: archive/duplicates }
approvals:
  auto_approve_below: 0
`,
  "notes/walks.md": "# Walks\n\nAlong the river and back.\n",
};
/** Files that are added while the agents run. */
const added = {
  "notes/garden.md":
    "Water the lavender twice a week.\nThe fig tree wants pruning in February.\n\nAsk Livia for the seeds of the white rocket.\n",
  "documents/electricity.txt": "Electricity, March: 41.20\n",
  "inbox/electricity (1).txt": "Electricity, March: 41.20\n",
  "maps/northern-coast.txt": "From the lighthouse to the old harbour, nine kilometres.\n",
  "inbox/northern-coast.txt": "From the lighthouse to the old harbour, nine kilometres.\n",
};

let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open({
    files,
    settings: { "workbench.colorTheme": "Default Light Modern", "breadcrumbs.filePath": "last" },
  });
  await acceptDocuments(desk.vscode);
});
afterAll(() => desk[Symbol.asyncDispose]());

it("a proposal above its line, the agents and what waits beside it; and its changes", () =>
  desk.window("pictures", async (screen) => {
    const { page } = screen;
    await page.setViewportSize({ width: 1200, height: 720 });
    await screen.openLares();
    await screen.fold("Memory");
    await screen.item(/^Agent Storage, (Active|Asleep)/).waitFor();
    for (const [path, text] of Object.entries(added)) {
      await mkdir(dirname(desk.vscode.workspace(path)), { recursive: true });
      await writeFile(desk.vscode.workspace(path), text);
    }
    for (const name of [/Give garden\.md/, /Archive .*electricity/, /Archive .*northern-coast/])
      await screen.item(name).waitFor();
    await (await screen.webview(".activity")).getByRole("heading", { name: "Today" }).waitFor();
    await screen.open("notes/garden.md");
    await screen.lens("Approve").waitFor();
    // Where the light bulb covers no word.
    await screen.goToEndOf(5);
    await page.mouse.move(600, 500);
    await screen.picture("readme-approval");
    await screen.lens("Show changes").click();
    await page.locator(".monaco-diff-editor .line-insert").first().waitFor();
    await page.getByRole("button", { name: /^Approve This Change/ }).waitFor();
    await page.mouse.move(600, 500);
    await screen.picture("readme-changes");
  }));
