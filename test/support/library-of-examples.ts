/** The workspace whose exchanges `test/protocol/reference-protocol.test.ts` records, but for those of `examples-of-*.ts`. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { validate } from "../../kernel/src/protocol/validate.ts";
import { kernelRequests } from "../../kernel/src/protocol/v1/kernel-requests.ts";
import { Bench, type ExtensionSpec } from "./bench.ts";
import type { Client } from "./client.ts";
import { Exchanges } from "./exchanges.ts";
import type { Message } from "./frames.ts";
import { Recorder } from "./recorded.ts";

export const AGENT = "dev.example.librarian";
export const READER = "dev.example.reader";
const BROKEN = "dev.example.broken";
export const MIND = "dev.example.steward";

const turns = `turns:
  - { process: channel, when: Remember when, call: [{ tool: branch, arguments: { task: Save it } }] }
  - { process: branch, when: Save it, call: [{ tool: memory_save, arguments: { type: Fact, text: The library closes at five. } }] }
  - { say: ready, repeat: true }
`;

const PROGRAM = `
import { defineAgent } from "@lares/sdk";

export default defineAgent({
  memory: { plan: { read: [] } },
  hooks: {
    async noted({ entry }, ctx) { ctx.trace.info("A note was written.", { path: entry.path }); },
  },
  jobs: {
    async scan(_, ctx) {
      await ctx.progress(0.5, "half of the shelves");
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    },
    async print() { throw new Error("The printer has no paper."); },
  },
  tools: {
    async countNotes({ folder }, ctx) {
      ctx.trace.info("Notes are counted.", { folder });
      return { count: await ctx.vdfs.count({ path: folder + "/**" }) };
    },
    async correct({ path, find, replace, key }, ctx) {
      const action = await ctx.actions.propose(
        [{ kind: "file.edit", path, edits: [{ find, replace }] }],
        { title: "Correct a word", reason: "It is misspelt." },
        { key },
      );
      return ctx.needsApproval(action, "A word is misspelt.");
    },
    async tidy(_, ctx) {
      const path = "notes/grace.md";
      const action = await ctx.actions.propose(
        [
          { kind: "tag.add", path, tag: "#person" },
          { kind: "field.set", path, namespace: "library", key: "born", value: 1906 },
          { kind: "sidecar.write", path, sidecar: "card", data: { shelf: "A" } },
          { kind: "file.move", from: path, to: "notes/hopper.md" },
        ],
        { title: "Put a note in order", reason: "It is about a person." },
      );
      return action.id;
    },
    async remember({ person }, ctx) {
      const item = await ctx.memory.knowledge.add("person", { name: person }, { text: person + " wrote the first program." });
      const king = { name: person + " King" };
      await ctx.memory.knowledge.add("person", king, { embedding: [0, 0.6, 0.8], relations: [{ to: item, relation: "is the same as" }] });
      const event = await ctx.memory.history.append("met", { person, at: [51.5, -0.14] });
      await ctx.memory.in("people").history.append("met", { person });
      await ctx.memory.plan.set({ read: [person] });
      await ctx.memory.sync();
      await ctx.types("Person").create({ id: "ada", name: person });
      await ctx.types("Person").create({ id: "grace", name: "Grace" });
      return { item, event };
    },
    async print(_, ctx) { await ctx.jobs.dispatch("print", { notes: "ada.md" }); },
    async scan(_, ctx) { return { job: await ctx.jobs.dispatch("scan", { shelf: "A" }, { key: "shelf A" }) }; },
    async summarise({ path }, ctx) {
      return { text: (await ctx.ai.generate({ category: "summary", prompt: "Summarise " + path })).text };
    },
    async announce(_, ctx) {
      await ctx.notify("A note is misspelt", "Shall I correct it?", {
        severity: "info",
        action: [{ kind: "file.edit", path: "notes/ada.md", edits: [{ find: "Lovelace", replace: "King" }] }],
      });
    },
  },
});
`;

const parameters = (...names: string[]) => ({
  type: "object",
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
});

const librarian: ExtensionSpec = {
  id: AGENT,
  program: PROGRAM,
  grants: { locations: ["notes"] },
  manifest: {
    name: "Librarian",
    permissions: {
      read_entries: true,
      dispatch_jobs: true,
      propose_actions: ["file.edit", "file.move"],
      write_tags: true,
      write_custom_fields: { namespace: "library" },
      write_sidecars: { kinds: ["card"] },
      use_models: [{ category: "summary" }],
    },
    hooks: [
      { on: "EntryCreated", filter: 'entry.extension == "md"', handler: "noted" },
      { schedule: "0 3 * * *", handler: "noted" },
    ],
    tools: [
      {
        name: "count_notes",
        description: "Counts notes.",
        handler: "countNotes",
        parameters: parameters("folder"),
      },
      {
        name: "correct",
        description: "Corrects a word in a note.",
        handler: "correct",
        parameters: parameters("path", "find", "replace"),
      },
      { name: "tidy", description: "Puts a note in order.", handler: "tidy", parameters: parameters() },
      {
        name: "remember",
        description: "Remembers a person.",
        handler: "remember",
        parameters: parameters("person"),
      },
      { name: "scan", description: "Scans the shelves.", handler: "scan", parameters: parameters() },
      { name: "print", description: "Prints the notes.", handler: "print", parameters: parameters() },
      {
        name: "summarise",
        description: "Summarises a note.",
        handler: "summarise",
        parameters: parameters("path"),
      },
      { name: "announce", description: "Tells the person.", handler: "announce", parameters: parameters() },
    ],
    types: [{ name: "Person", version: 1, key: "id", schema: parameters("id", "name") }],
  },
};

const reader: ExtensionSpec = {
  id: READER,
  program: `
import { defineAgent } from "@lares/sdk";

export default defineAgent({
  tools: {
    async collect({ count }, ctx) {
      for (let number = 1; number <= count; number++)
        await ctx.memory.knowledge.add("book", { number }, { text: "Book " + number });
      await ctx.memory.sync();
    },
    async remind({ count }, ctx) {
      for (let number = 1; number <= count; number++) {
        await ctx.notify("A book is due", "Book " + number + " has to be returned.");
        // A guest may make five calls of \`notify\` in a second.
        if (number % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1_100));
      }
    },
  },
});
`,
  manifest: {
    name: "Reader",
    tools: ["collect", "remind"].map((name) => ({
      name,
      description: `Has it ${name}.`,
      handler: name,
      parameters: { type: "object", properties: { count: { type: "integer" } } },
    })),
  },
};

export const usualModels = {
  routes: { default: "rehearsal/script", summary: "lab/small" },
  budgets: { per_day_usd: 5 },
};
const writeModels = (bench: Bench, more: object, memory: object): Promise<void> =>
  writeFile(
    join(bench.base, "config", "lares", "lares.yaml"),
    JSON.stringify({
      version: 1,
      models: {
        providers: {
          rehearsal: { api: "scripted", script: "./rehearsal.yaml" },
          anthropic: { api: "anthropic", key: { secret: "anthropic" } },
          lab: { api: "openai-compatible", base_url: "https://models.example.com/v1" },
          editor: { api: "editor" },
        },
        ...more,
      },
      memory,
    }),
  );

/** A kernel with a librarian, a mind and an editor that has language models. */
export class Library extends Exchanges implements AsyncDisposable {
  readonly bench: Bench;
  readonly #shown = new Set<string>();

  private constructor(bench: Bench, client: Client, recorder: Recorder) {
    super(client, recorder);
    this.bench = bench;
  }

  static async create(): Promise<Library> {
    const bench = await Bench.create({
      files: {
        "notes/ada.md": "Ada Lovelace wrote the frist program.\n",
        "notes/grace.md": "Grace Hopper\n",
      },
      extensions: [
        librarian,
        reader,
        { id: BROKEN, program: "export default {};", manifest: { name: "Broken", tools: "none" } },
        {
          id: MIND,
          manifest: {
            name: "Steward",
            permissions: { use_models: [{ category: "chat" }], read_entries: true },
            mind: {
              identity: ["SOUL.md"],
              blocks: [
                { name: "shelves", description: "What stands where" },
                { name: "visit", description: "What this visitor wants", scope: "conversation" },
              ],
            },
            commands: [
              {
                name: "greet",
                title: "Greet",
                description: "Says hello.",
                prompt: "prompts/greet.md",
                parameters: parameters("to"),
              },
            ],
          },
          files: { "SOUL.md": "I am calm.", "prompts/greet.md": "Say hello to the person named here." },
        },
      ],
      lares: { shared_namespaces: [{ name: "people", extensions: [AGENT], read_write: true }] },
    });
    const config = join(bench.base, "config", "lares");
    await mkdir(config, { recursive: true });
    await writeModels(bench, usualModels, {});
    await writeFile(join(config, "rehearsal.yaml"), turns);
    const client = await bench.connect({
      environment: { XDG_CONFIG_HOME: join(bench.base, "config") },
      capabilities: { experimental: { lares: { languageModels: true } } },
    });
    const { stateFolder } = await bench.status(client);
    const recorder = new Recorder([
      [stateFolder, "/home/ada/.local/state/lares/workspaces/library-4f1d"],
      [bench.root, "/home/ada/library"],
      [bench.base, "/home/ada"],
      [fileURLToPath(new URL("../../manifests", import.meta.url)), "/opt/lares/manifests"],
    ]);
    const library = new Library(bench, client, recorder);
    client.answer = (request) => library.#answerAsEditor(request);
    return library;
  }

  /** Writes the person's own document. */
  writeModels(more: object, memory: object = {}): Promise<void> {
    return writeModels(this.bench, more, memory);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.bench[Symbol.asyncDispose]();
  }

  /** Answers what the kernel asks of an editor with language models, and records it. */
  #answerAsEditor({ method, params }: Message): unknown {
    if (method !== "lares/models/offered" && method !== "lares/models/generate") return null;
    const { partialResultToken: token } = params as { partialResultToken?: string };
    if (token !== undefined) this.client.notify("$/progress", { token, value: { text: "ready" } });
    const result =
      method === "lares/models/offered"
        ? { models: [{ id: "copilot/gpt-5-mini", context_tokens: 128_000 }] }
        : { finish: "stop", usage: { input_tokens: 14, output_tokens: 1 } };
    expect(validate(kernelRequests[method].params, params)).toBeNull();
    expect(validate(kernelRequests[method].result, result, "result")).toBeNull();
    // How often the kernel asks for the offered models depends on timing.
    if (!this.#shown.has(method)) this.recorder.exchange(method, { params, result });
    this.#shown.add(method);
    return result;
  }
}
