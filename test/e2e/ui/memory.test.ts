import { appendFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { acceptDocuments, beside } from "../support/person.ts";
import { until } from "../../support/until.ts";
import { Desk } from "./desk.ts";

const seen = [
  ["# Beach\n\na quiet beach by the sea, good for swimming\n", "beach"],
  ["# Mountains\n\na hut above the glacier, start before sunrise\n", "mountains"],
  ["# Groceries\n\nmilk, bread and butter\n", "shopping"],
] as const;
let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open();
  await appendFile(desk.vscode.workspace("lares.yaml"), "shared_namespaces: [{ name: team }]\n");
  await acceptDocuments(desk.vscode);
  await using client = await beside(desk.vscode);
  for (const [text, name] of seen) await writeFile(desk.vscode.workspace(`notes/${name}.md`), text);
  await until("the agent to remember them", async () => {
    const { items } = await client.request<{ items: unknown[] }>("lares/memory/query", {
      agent: "com.example.titles",
      kind: "associative",
    });
    return items.length >= seen.length;
  });
  await client.shutdown();
});
afterAll(() => desk[Symbol.asyncDispose]());

it("what an agent remembers is searched, by words in what happened and by meaning in what it knows", () =>
  desk.window("memory", async (screen) => {
    await screen.openLares();
    await screen.item(/^Agent Titles/).waitFor();
    await screen.command("Lares: Show Memory");
    for (const title of ["Agents", "Approvals", "Activity"]) await screen.fold(title);
    const timeline = await screen.webview('input[aria-label="Text in an event"]');
    const events = timeline.getByRole("region", { name: "Events" });
    await events
      .getByText(/beach\.md/)
      .first()
      .waitFor();
    // An event that is written while the page is open appears by itself.
    await writeFile(desk.vscode.workspace("notes/harbour.md"), "# Harbour\n\nboats, and a lighthouse\n");
    await events
      .getByText(/harbour\.md/)
      .first()
      .waitFor();
    await timeline.getByLabel("Text in an event").fill("glacier");
    await events
      .getByText(/mountains\.md/)
      .first()
      .waitFor();
    await events
      .getByText(/beach\.md/)
      .first()
      .waitFor({ state: "detached" });
    await screen.picture("memory-timeline");

    await timeline.getByRole("tab", { name: "Knowledge" }).click();
    await timeline.getByLabel("How to search").selectOption("meaning");
    await timeline.getByLabel("Text that an item is similar to").fill("swimming in the sea");
    const first = timeline.getByRole("table").getByRole("row").nth(1);
    await until("the nearest item", async () => /beach/.test(await first.innerText()));
    await screen.picture("memory-knowledge");

    await timeline.getByRole("tab", { name: "Witness" }).click();
    await timeline.getByRole("button", { name: /Verify/ }).click();
    expect(await timeline.getByRole("status").first().innerText()).not.toBe("");
    await screen.picture("memory-witness");

    // Shared memories are offered by name.
    await timeline.getByLabel("Which memory").selectOption({ label: "team (shared, read only)" });
    await timeline.getByRole("button", { name: "Import…" }).waitFor({ state: "detached" });
    await timeline.getByRole("button", { name: /Verify/ }).click();
    await timeline.getByText("0 records were proven").waitFor();
    await screen.picture("memory-shared");
  }));
