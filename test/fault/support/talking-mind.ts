/** A mind whose workers call a guest's tool and propose files, and the models that answer it. */
import type { ExtensionSpec } from "../../support/bench.ts";
import type { Said, Sent } from "./slow-provider.ts";

export const MIND = "test.mind";
export const MARKS = "test.marks";

/** Counts in working memory how often its tool was called with each number, so that every later guest knows it. */
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  memory: { plan: { marks: {} } },
  tools: {
    async mark({ n }, ctx) {
      await ctx.memory.plan.update((plan) => { plan.marks[n] = (plan.marks[n] ?? 0) + 1; return plan; });
      // Slow enough that a kill may come after the effect and before the answer.
      await ctx.memory.sync();
      return n;
    },
    marks: async (_, ctx) => (await ctx.memory.plan.read()).marks,
  },
});
`;

export const extensions: readonly ExtensionSpec[] = [
  {
    id: MIND,
    manifest: {
      name: "A mind",
      permissions: {
        use_models: [{ category: "chat" }],
        read_entries: true,
        propose_actions: ["file.write"],
        call_tools: [`${MARKS}/mark`],
      },
      mind: {
        tools: ["files/*", `${MARKS}/mark`],
        direct_tools: ["files/list", "files/write"],
        workers: { reader: { description: "Reads", tools: ["files/*"] } },
      },
    },
  },
  {
    id: MARKS,
    program: PROGRAM,
    manifest: {
      tools: ["mark", "marks"].map((name) => ({
        name,
        description: name,
        handler: name,
        parameters: { type: "object", properties: { n: { type: "integer" } } },
      })),
    },
  },
];

/** The script of the model. Nobody approves the changes that it proposes. */
export const script = `
context_tokens: 1000000
turns:
  - { process: channel, when: "please write", say: "I ask.", call: [{ tool: files/write, arguments: { path: never/scripted.md, content: new } }, { tool: spawn_worker, arguments: { task: "work" } }], delay_ms: 40, repeat: true }
  - { process: channel, when: "please look", say: "I look.", call: [{ tool: files/list, arguments: {} }, { tool: spawn_worker, arguments: { task: "work" } }, { tool: spawn_worker, arguments: { task: "work", kind: reader } }], delay_ms: 40, repeat: true }
  - { process: worker, when: work, say: "reading", call: [{ tool: files/read, arguments: { path: a.md } }], delay_ms: 60, repeat: true }
  - { process: worker, say: "the worker found the text", delay_ms: 60, repeat: true }
  - { process: channel, say: "so it is", delay_ms: 30, repeat: true }
`;

/** The person's document: two models, and one route for workers of a kind. */
export const documentFor = (providerHost: string): object => ({
  version: 1,
  models: {
    providers: {
      script: { api: "scripted", script: "script.yaml" },
      lab: { api: "openai-compatible", base_url: `http://${providerHost}/v1`, context_tokens: 1_000_000 },
    },
    routes: { default: "lab/m", "worker.reader": "script/script" },
    // A request that was lost with its host counts with its maximum.
    budgets: { per_day_tokens: 1_000_000_000 },
  },
});

/** Answers as the model of the provider. Each call has a number of its own, by which a second run of it is seen. */
export function answers(): (sent: Sent) => Said {
  let number = 0;
  return ({ messages, tools = [] }) => {
    const isChannel = tools.some(({ function: { name } }) => name === "spawn_worker");
    const results = messages.filter(({ role }) => role === "tool").length;
    const last = messages.findLast(({ role }) => role !== "system");
    number++;
    const write = (folder: string) => ({
      tool: "files_write",
      arguments: { path: `${folder}/${number}.md`, content: `${number}\n` },
    });
    if (isChannel) {
      const said = last?.role === "user" ? JSON.stringify(last.content) : "";
      if (!said.includes("please ")) return { text: "so it is" };
      return {
        text: "I give this to a worker",
        calls: [
          ...(said.includes("please write") ? [write("direct")] : []),
          { tool: "spawn_worker", arguments: { task: "work" } },
        ],
      };
    }
    if (results === 0)
      return {
        text: "I mark it",
        calls: [
          { tool: "mark", arguments: { n: number } },
          { tool: "files_read", arguments: { path: "a.md" } },
        ],
      };
    if (results <= 2) return { text: "I write it", calls: [write("out")] };
    return { text: "the worker wrote the file" };
  };
}
