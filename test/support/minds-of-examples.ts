/** The minds, their helpers and the model's answers of `examples-of-minds.ts`. */
import type { ExtensionSpec } from "./bench.ts";

export const CURATOR = "dev.example.curator";
export const READER = "dev.example.apprentice";
export const OUTSIDER = "dev.example.visitor";
export const HELPER = "dev.example.scribe";
const GUARD = "dev.example.guard";

const read = { tool: "files/read", arguments: { path: "notes/circle.md" } };
const write = (path: string, content: string) => ({
  tool: "files/write",
  arguments: { path, content, reason: "Asked." },
});
const branch = (task: string) => ({ tool: "branch", arguments: { task } });
const save = (text: string) => ({ tool: "memory_save", arguments: { type: "Fact", text } });
const channel = (when: string, ...call: object[]) => ({ process: "channel", when, call });
const inBranch = (when: string, ...call: object[]) => ({ process: "branch", when, call });

/** JSON is YAML. */
export const script = JSON.stringify({
  turns: [
    channel("Which circles", read),
    channel("A circle is round", read),
    channel("A circle is round", read),
    channel("Count the circles", read),
    channel("A circle is round", read),
    channel("A circle is round", read),
    channel("Summarise the circles", { tool: `${HELPER}/summarise`, arguments: {} }),
    channel("Read the page", { tool: "files/read", arguments: { path: "downloads/page.md" } }),
    {
      ...channel("Welcome to the page", write("notes/page.md", "The page is about circles.\n")),
      think: "I note what it is about.",
      usage: {
        input_tokens: 40,
        output_tokens: 20,
        reasoning_tokens: 8,
        cache_read_tokens: 600,
        cache_write_tokens: 120,
      },
    },
    channel("the fence painted", {
      tool: "spawn_worker",
      arguments: { task: "Find the colour of the fence", kind: "asker" },
    }),
    channel("the gate painted", {
      tool: "spawn_worker",
      arguments: { task: "Paint the gate", kind: "painter" },
    }),
    {
      process: "worker",
      when: "colour of the fence",
      call: [{ tool: "set_status", arguments: { text: "Looking at the colours" } }],
    },
    {
      process: "worker",
      when: "Paint the gate",
      error: { class: "InvalidRequest", message: "The model paints no gates." },
    },
    { process: "worker", say: "Which colour?", repeat: true },
    {
      process: "channel",
      when: "Hello to all readers",
      say: "Once upon a time",
      cut: "length",
    },
    channel("Note the harbour", {
      tool: "block_edit",
      arguments: { name: "harbour", replace: "The harbour is open." },
    }),
    channel("Remember: The code", branch("Save the code")),
    inBranch("Save the code", save("The code of the cellar is pomegranate nineteen.")),
    channel("know of the cellar", branch("Recall the cellar")),
    inBranch("Recall the cellar", { tool: "memory_recall", arguments: { query: "cellar", limit: 5 } }),
    channel("Write it down: The gate", write("notes/gate.md", "The gate opens at seven sharp.\n")),
    channel("Remember: The key", branch("Save the key")),
    inBranch("Save the key", save("The key of the attic hangs behind the clock.")),
    channel(
      "Write it down: The key",
      write("notes/attic.md", "The key of the attic hangs behind the clock.\n"),
    ),
    { say: "Good.", repeat: true },
  ],
});

const harbour = { name: "harbour", description: "What we know of the harbour", namespace: "team" };
const useModels = { use_models: [{ category: "chat" }] };
const mindWith = (id: string, name: string, blocks: readonly object[]): ExtensionSpec => ({
  id,
  manifest: { name, permissions: useModels, mind: { blocks, tools: [] } },
});

export const curators: readonly ExtensionSpec[] = [
  {
    id: CURATOR,
    manifest: {
      name: "Curator",
      permissions: {
        use_models: [{ category: "chat" }, { category: "summary" }],
        read_entries: true,
        propose_actions: ["file.write"],
        call_tools: [`${HELPER}/*`],
      },
      mind: {
        identity: ["SOUL.md"],
        tools: ["files/*"],
        direct_tools: ["files/read", "files/write", `${HELPER}/summarise`],
        blocks: [
          harbour,
          { name: "shelves", description: "What stands where" },
          { name: "visit", description: "What this visitor wants", scope: "conversation" },
        ],
        workers: {
          asker: { description: "Asks", tools: [], interactive: true },
          painter: { description: "Paints", tools: [] },
        },
      },
    },
    files: { "SOUL.md": "I am calm." },
  },
  mindWith(READER, "Apprentice", [harbour]),
  mindWith(OUTSIDER, "Visitor", [harbour]),
  {
    id: HELPER,
    program: `
import { defineAgent } from "@lares/sdk";

export default defineAgent({
  tools: {
    summarise: async (_, ctx) => (await ctx.ai.generate({ category: "summary", prompt: "Summarise it" })).text,
    translate: async ({ text }, ctx) =>
      (await ctx.ai.generate({ category: "translation", prompt: "Translate " + text, temperature: 0.2 })).text,
  },
});
`,
    manifest: {
      name: "Scribe",
      permissions: { use_models: [{ category: "summary" }, { category: "translation" }] },
      tools: ["summarise", "translate"].map((name) => ({
        name,
        description: `Has it ${name}.`,
        handler: name,
        parameters: { type: "object", properties: { text: { type: "string" } } },
      })),
    },
  },
  {
    id: GUARD,
    program: `
import { defineAgent } from "@lares/sdk";

export default defineAgent({
  hooks: { input: ({ text }) => (text.includes("macro") ? { text: "Hello to all readers." } : {}) },
});
`,
    manifest: {
      name: "Guard",
      permissions: { intercept: [CURATOR] },
      hooks: [{ on: "UserInput", handler: "input", intercept: true }],
    },
  },
];
