import { afterAll, beforeAll, expect, it } from "vitest";
import type { Frame } from "playwright-core";
import { until } from "../../support/until.ts";
import { beside } from "../support/person.ts";
import type { Desk } from "./desk.ts";
import type { Screen } from "./screen.ts";
import { agent, beginTalk, mindFiles, openTalk, say, scriptedModel } from "./talk.ts";

const said = "The person likes short answers.";
const name = { type: "string", description: "Whom" };
const files = mindFiles(
  { blocks: [{ name: "project", description: "What this folder is about", scope: "mind" }] },
  {
    manifest: {
      main: "agent.ts",
      commands: [
        {
          name: "greet",
          title: "Greet somebody",
          description: "Says hello",
          handler: "greet",
          parameters: { type: "object", required: ["name"], properties: { name } },
        },
      ],
      actions: [
        {
          name: "new_note",
          title: "New note {name}",
          description: "Writes a note with a title",
          handler: "newNote",
          parameters: {
            type: "object",
            required: ["name"],
            properties: { name: { ...name, description: "Its name" } },
          },
        },
      ],
    },
    files: {
      ".lares/extensions/steward/agent.ts": `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  commands: {
    greet: ({ name }: { name: string }) => \`Hello \${name}\`,
  },
  actions: {
    newNote: ({ name }: { name: string }) => ({
      effects: [{ kind: "file.write", path: \`\${name}.md\`, content: \`# \${name}\\n\` }],
      reason: "You asked for it.",
    }),
  },
});
`,
    },
  },
);
const userFiles = scriptedModel(8000, [
  {
    process: "channel",
    when: "Please remember",
    call: [{ tool: "branch", arguments: { task: "save it" } }],
  },
  {
    process: "branch",
    when: "save it",
    call: [{ tool: "memory_save", arguments: { type: "Observation", text: said } }],
  },
  { process: "branch", when: '"memory"', say: "It is saved." },
  { process: "channel", when: "It is saved.", say: "I remember." },
  {
    process: "channel",
    when: "How do I like",
    call: [{ tool: "branch", arguments: { task: "recall it" } }],
    repeat: true,
  },
  {
    process: "branch",
    when: "recall it",
    call: [{ tool: "memory_recall", arguments: { query: "answers" } }],
    repeat: true,
  },
  { process: "branch", when: "short answers", say: "found: short", repeat: true },
  { process: "branch", when: "long answers", say: "found: long", repeat: true },
  { process: "branch", when: "[]", say: "found: nothing", repeat: true },
  { process: "channel", when: "found: short", say: "Short it is.", repeat: true },
  { process: "channel", when: "found: long", say: "Long it is.", repeat: true },
  { process: "channel", when: "found: nothing", say: "I cannot tell.", repeat: true },
  { process: "channel", when: "", say: "I look.", repeat: true },
]);

let desk: Desk;
beforeAll(async () => {
  desk = await openTalk(files, userFiles);
});
afterAll(() => desk[Symbol.asyncDispose]());

/** Sends a message, and waits for the answer. */
async function ask(page: Frame, text: string, answer: string): Promise<void> {
  await say(page, text);
  await page.locator(".log").getByText(answer, { exact: true }).waitFor();
}

const row = (screen: Screen, text: string) =>
  screen.page.locator(".quick-input-list-row", { hasText: text }).first();
const dialog = (screen: Screen) => screen.page.locator(".monaco-dialog-box");

it("an answer says which memory it rests on, and there the memory is corrected", () =>
  desk.window("why", async (screen) => {
    await ask(await beginTalk(screen), "Please remember that", "I remember.");
    const page = await beginTalk(screen);
    await ask(page, "How do I like my answers?", "Short it is.");
    const answer = page.locator(".answer", { hasText: "Short it is." });
    await answer.hover();
    await answer.getByRole("button", { name: /^Why\?/ }).click();
    await row(screen, said).waitFor();
    await row(screen, "recalled for this answer").waitFor();
    await screen.picture("why");
    await row(screen, said).click();
    await row(screen, "Correct…").waitFor();
    await screen.picture("why-memory");
    await row(screen, "Correct…").click();
    const input = screen.page.locator(".quick-input-widget input");
    await until("the old text", async () => (await input.inputValue()) === said);
    await input.fill("The person likes long answers.");
    await screen.page.keyboard.press("Enter");
    await screen.toast("Corrected").waitFor();
    await ask(await beginTalk(screen), "How do I like them now?", "Long it is.");
  }));

it("a memory is searched for, and forgotten everywhere: the next conversation does not know it", () =>
  desk.window("memories", async (screen) => {
    await screen.openLares();
    await screen.item(/^Agent Steward/).waitFor();
    await screen.command("Lares: Memories of a Mind…");
    await row(screen, "The person likes long answers.").waitFor();
    await screen.type("long");
    await row(screen, "The person likes long answers.").waitFor();
    await screen.picture("memories");
    await row(screen, "The person likes long answers.").click();
    await row(screen, "Forget…").click();
    await dialog(screen).getByText("No conversation recalls it").waitFor();
    await screen.picture("memories-forget");
    await dialog(screen).getByRole("button", { name: "Forget Everywhere" }).click();
    await screen.toast(/^Forgotten/).waitFor();
    await ask(await beginTalk(screen), "How do I like them at last?", "I cannot tell.");
    await screen.command("Lares: Memories of a Mind…");
    await screen.page.locator('input[placeholder="It remembers nothing yet."]').waitFor();
  }));

it("a block is written in an editor, named as a reason, and forgotten", () =>
  desk.window("blocks", async (screen) => {
    await screen.openLares();
    await screen.item(/^Agent Steward/).waitFor();
    await screen.command("Lares: Blocks of a Mind…");
    await row(screen, "project").click();
    await row(screen, "Edit").click();
    await screen.page.getByRole("tab", { name: /^project\.md/ }).waitFor();
    await screen.editor().click();
    await screen.replaceAll("A garden,\nand its walks");
    await screen.save();
    await using client = await beside(desk.vscode);
    await until("the block to be written", async () => {
      const { items } = await client.request<{ items: { text: string }[] }>("lares/conversations/blocks", {
        agent,
      });
      return items[0]?.text === "A garden,\nand its walks";
    });
    await client.shutdown();
    const page = await beginTalk(screen);
    await ask(page, "Hello", "I look.");
    const answer = page.locator(".answer", { hasText: "I look." });
    await answer.hover();
    await answer.getByRole("button", { name: /^Why\?/ }).click();
    await row(screen, "A garden").waitFor();
    await screen.picture("why-block");
    await row(screen, "project").click();
    await row(screen, "Forget…").click();
    await dialog(screen).getByRole("button", { name: "Forget", exact: true }).click();
    await screen.toast("is empty").waitFor();
  }));

it("a message is removed from the transcript after a question that says what that does", () =>
  desk.window("redact", async (screen) => {
    const page = await beginTalk(screen);
    await ask(page, "My password is swordfish", "I look.");
    const mine = page.locator(".you", { hasText: "swordfish" });
    await mine.hover();
    await mine.getByRole("button", { name: /^Remove from the transcript/ }).click();
    await dialog(screen).getByText("from what models read").waitFor();
    await screen.picture("redact-question");
    await dialog(screen).getByRole("button", { name: "Remove" }).click();
    await page.locator(".log").getByText("[redacted by the person]").first().waitFor();
    expect(await page.locator(".log").getByText("swordfish").count()).toBe(0);
    await screen.picture("redacted");
  }));

it("an extension's command and its named action are run from the command palette", () =>
  desk.window("offered", async (screen) => {
    await screen.openLares();
    await screen.item(/^Agent Steward/).waitFor();
    const input = screen.page.locator(".quick-input-widget input");
    const run = async (title: string, prompt: RegExp, value: string): Promise<void> => {
      await screen.command("Lares: Run a Command of an Extension…");
      await row(screen, title).waitFor();
      await screen.picture(`offered ${title}`);
      await row(screen, title).click();
      await screen.page.locator(".quick-input-widget").getByText(prompt).first().waitFor();
      await input.fill(value);
      await screen.page.keyboard.press("Enter");
    };
    await run("Greet somebody", /Whom/, "Ada");
    await screen.toast("Hello Ada").waitFor();
    await run("New note", /Its name/, "harbour");
    // What stays: a toast may be gone before it is looked for.
    await screen.item(/harbour\.md/).waitFor();
    await screen.picture("offered-waits");
  }));
