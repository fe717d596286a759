import { readFile } from "node:fs/promises";
import type { Frame, Locator } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../support/until.ts";
import { accessibilityFaults } from "../support/accessibility.ts";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";
import type { Screen } from "./screen.ts";
import { noModels } from "../../support/no-models.ts";

const agent = "com.example.gardener";
const files = {
  "lares.yaml": `version: 1\nextensions:\n  - id: ${agent}\n`,
  "readme.md": "A garden\n",
  ".lares/extensions/gardener/agent.ts": `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    advise: async ({ question }: { question: string }, ctx) => (await ctx.ai.generate(question)).text,
    write: async ({ question }: { question: string }, ctx) =>
      (await ctx.ai.generate({ category: "letters", prompt: question })).text,
  },
});
`,
  ".lares/extensions/gardener/extension.yaml": `
extension:
  id: ${agent}
  name: Gardener
  version: 1.0.0
  permissions: { use_models: [{ category: chat }, { category: letters }] }
  tools:
    - name: advise
      description: Answers with the model for chats
      handler: advise
      parameters: { type: object, required: [question], properties: { question: { type: string } } }
    - name: write
      description: Answers with the model for letters
      handler: write
      parameters: { type: object, required: [question], properties: { question: { type: string } } }
`,
};
/** A model of a file, and one of the editor, whose price nobody knows. */
const userFiles = {
  "lares.yaml": `version: 1
models:
  providers:
    rehearsal: { api: scripted, script: ./rehearsal.yaml }
    editor: { api: editor }
    anthropic: { api: anthropic, key: { secret: anthropic } }
  routes: { default: rehearsal/script, letters: editor/parrot }
  budgets: { per_day_usd: 1 }
`,
  "rehearsal.yaml": `turns:
  - { say: Water it twice a week., usage: { input_tokens: 1234, output_tokens: 56 }, repeat: true }
`,
};
/** An extension that brings VS Code a language model. */
const parrot = {
  "lares-tests.parrot-1.0.0/package.json": JSON.stringify({
    name: "parrot",
    publisher: "lares-tests",
    version: "1.0.0",
    engines: { vscode: "^1.104.0" },
    main: "./main.js",
    activationEvents: ["onStartupFinished"],
    contributes: { languageModelChatProviders: [{ vendor: "parrot", displayName: "Parrot" }] },
  }),
  "lares-tests.parrot-1.0.0/main.js": `
const { lm, LanguageModelTextPart } = require("vscode");
exports.activate = ({ subscriptions }) => {
  subscriptions.push(lm.registerLanguageModelChatProvider("parrot", {
    provideLanguageModelChatInformation: async () => [
      { id: "parrot", name: "Parrot", family: "parrot", version: "1", maxInputTokens: 8000, maxOutputTokens: 1000, capabilities: {} },
    ],
    provideLanguageModelChatResponse: async (_model, messages, _options, progress) => {
      progress.report(new LanguageModelTextPart("The parrot says: "));
      progress.report(new LanguageModelTextPart(messages.at(-1).content.map(({ value }) => value).join("")));
    },
    provideTokenCount: async () => 5,
  }));
};
`,
};

let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open({
    files,
    userFiles,
    extensions: parrot,
    settings: { "lares.trace.server": "verbose" },
    environment: noModels,
  });
  await acceptDocuments(desk.vscode);
});
afterAll(() => desk[Symbol.asyncDispose]());

async function open(screen: Screen): Promise<void> {
  await screen.openLares();
  await screen.item(/^Agent Gardener/).waitFor();
}

/** Answers one of the boxes at the top, by its title. */
async function fill(screen: Screen, title: string, text: string): Promise<Locator> {
  const box = screen.page.locator(".quick-input-widget", { hasText: title });
  const input = box.locator("input");
  await box.waitFor();
  await input.fill(text);
  return input;
}

/** Runs a tool of the agent from its form, up to the result. */
async function run(screen: Screen, tool: string, question: string): Promise<Frame> {
  await screen.command("Lares: Run Tool");
  await screen.page.locator(".quick-input-list-row", { hasText: tool }).first().click();
  const form = await screen.webview("form");
  await form
    .getByLabel(/question/i)
    .first()
    .fill(question);
  await form.getByRole("button", { name: /^Run/ }).click();
  return form;
}

it("a secret is stored from a password box, is listed without its value, and the value is in no file", async () => {
  const value = "sesame-9f1c64e0d2";
  // With everything in the log that a person can have in it.
  const payload = JSON.stringify([["logLevel", "lares.lares-vscode=trace"]]);
  await desk.window(
    "secret",
    async (screen) => {
      await open(screen);
      const { keyboard } = screen.page;
      await screen.command("Lares: Store a Secret");
      await fill(screen, "Store a Secret (1 of 3)", "weather");
      await keyboard.press("Enter");
      await fill(screen, "Store a Secret (2 of 3)", "api.example.com");
      await keyboard.press("Enter");
      const input = await fill(screen, "Store a Secret (3 of 3)", value);
      expect(await input.getAttribute("type")).toBe("password");
      await screen.picture("secret");
      await keyboard.press("Enter");
      await screen.statusBar(/weather is stored/).waitFor();
      await screen.command("Lares: Secrets");
      await screen.page.locator(".quick-input-list-row", { hasText: "weather" }).waitFor();
      const list = await screen.page.locator(".quick-input-widget").innerText();
      expect(list).toContain("api.example.com");
      expect(list).not.toContain(value);
    },
    { payload },
  );
  const all = await until("the log of what was said", async () => {
    const read = await Promise.all(
      desk.vscode
        .files()
        .map(async (path) => ({ path, text: await readFile(path, "latin1").catch(() => "") })),
    );
    return read.some(({ text }) => text.includes("Sending request 'lares/secrets/list")) && read;
  });
  const forms = [value, Buffer.from(value).toString("base64"), Buffer.from(value).toString("hex")];
  expect(all.filter(({ text }) => forms.some((form) => text.includes(form))).map(({ path }) => path)).toEqual(
    [],
  );
  expect(all.some(({ text }) => text.includes("Stores a secret;"))).toBe(true);
});

it("what an agent's question used is on the page of usage, beside the models, which are tested there", () =>
  desk.window("usage", async (screen) => {
    await open(screen);
    const form = await run(screen, "advise", "How much water?");
    await form.getByText("Water it twice a week.").first().waitFor();
    await screen.command("Lares: Language Models");
    await screen.page.locator(".quick-input-list-row", { hasText: "rehearsal/script" }).waitFor();
    await screen.page.locator(".quick-input-list-row", { hasText: "Show Usage and Prices" }).click();
    const page = await screen.webview("main.usage");
    await page.getByRole("img", { name: /^Tokens by day: used on 1 of 30 days.*1,290 tokens/ }).waitFor();
    await page.getByRole("row", { name: /^Gardener 1 1,234 56/ }).waitFor();
    await page.getByText(/^no key · anthropic · over the network/).waitFor();
    await page.getByRole("button", { name: "Test rehearsal/script" }).first().click();
    await page.getByText(/answers after [\d,]+ ms/).waitFor();
    // The test is usage, too.
    await page.getByRole("row", { name: /^No agent, such as a test 1 / }).waitFor();
    expect(await accessibilityFaults(page, "editor")).toEqual([]);
    await screen.picture("usage");
  }));

it("a question that an agent waits for is answered in the editor, and then the editor's own model answers", () =>
  desk.window("question", async (screen) => {
    await open(screen);
    const form = await run(screen, "write", "Dear fig tree");
    await screen
      .toast(/May com\.example\.gardener use "editor\/parrot", whose price is not known\?/)
      .waitFor();
    await screen.statusBar(/Lares: 1 waits for you/).waitFor();
    await screen.picture("question");
    await screen.item(/^Question\. May com\.example\.gardener use/).click();
    const dialog = screen.page.locator(".monaco-dialog-box");
    await dialog.getByText(/budget in dollars/).waitFor();
    await screen.picture("question-opened");
    await dialog.getByRole("button", { name: "Allow", exact: true }).click();
    await form.getByText("The parrot says: Dear fig tree").first().waitFor();
    await screen.statusBar(/waits for you/).waitFor({ state: "hidden" });
  }));
