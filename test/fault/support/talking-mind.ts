/** A mind whose workers call a guest's tool and propose files, and the models that answer it. */
import type { ExtensionSpec } from "../../support/bench.ts";
import type { Sent } from "./sent-requests.ts";
import type { Said } from "./slow-provider.ts";

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

/** A file that nobody vouches for, and a word that stands in every text that was made from it. */
const FOREIGN_FILE = "foreign/found.md";
const FOREIGN = "FOREIGN";
/** Files beneath it are written without a person; those with this prefix were made from the foreign file. */
export const AUTOMATIC = "auto";
export const foreignPath = `${AUTOMATIC}/foreign`;

export const files: Readonly<Record<string, string>> = {
  "a.md": "the text of a\n",
  [FOREIGN_FILE]: `a text that says ${FOREIGN}\n`,
};

export const scripted = "script/script";
/** The script of the model. Nobody approves the changes that it proposes. */
export const script = `
context_tokens: 1000000
turns:
  - { process: channel, when: "please write", say: "I ask.", call: [{ tool: files/write, arguments: { path: never/scripted.md, content: new } }, { tool: spawn_worker, arguments: { task: "work" } }], delay_ms: 40, repeat: true }
  - { process: channel, when: "please look", say: "I look.", call: [{ tool: files/list, arguments: {} }, { tool: spawn_worker, arguments: { task: "work" } }, { tool: spawn_worker, arguments: { task: "work", kind: reader } }], delay_ms: 40, repeat: true }
  - { process: channel, when: "please think", say: "I think.", call: [{ tool: branch, arguments: { task: "think" } }], delay_ms: 40, repeat: true }
  - { process: branch, when: think, say: "I look it up.", call: [{ tool: channel_recall, arguments: { query: "please" } }, { tool: spawn_worker, arguments: { task: "work", kind: reader, wait: true } }], delay_ms: 40, repeat: true }
  - { process: branch, say: "the branch found it", delay_ms: 40, repeat: true }
  - { process: worker, when: work, say: "reading", call: [{ tool: files/read, arguments: { path: a.md } }], delay_ms: 60, repeat: true }
  - { process: worker, say: "the worker found the text", delay_ms: 60, repeat: true }
  - { process: channel, say: "so it is", delay_ms: 30, repeat: true }
`;

/** Small enough that a conversation of a few turns is summarised. */
const windowTokens = 6_000;

/** The person's document: two providers, one route for workers of a kind, and a folder that needs no approval. */
export const documentFor = (providerHost: string): object => ({
  version: 1,
  models: {
    providers: {
      script: { api: "scripted", script: "script.yaml" },
      lab: { api: "openai-compatible", base_url: `http://${providerHost}/v1`, context_tokens: windowTokens },
    },
    routes: { default: "lab/m", "worker.reader": scripted },
    // A request that was lost with its host counts with its maximum.
    budgets: { per_day_tokens: 1_000_000_000 },
  },
  approvals: { rules: [{ decide: "allow", agent: MIND, kind: "file.write", path: `${AUTOMATIC}/**` }] },
  conversations: { untrusted: ["foreign/**"] },
});

/** Fills the window. */
const filler = "and so on ".repeat(120);

/** Answers as the model of the provider. Each call has a number of its own, by which a second run of it is seen. */
export function answers(): (sent: Sent) => Said {
  let number = 0;
  return ({ messages, tools = [] }) => {
    const offers = (tool: string): boolean =>
      tools.some(({ function: { name } }) => name === tool || name.endsWith(`_${tool}`));
    const all = JSON.stringify(messages);
    const isForeign = all.includes(FOREIGN);
    /** Texts made from the foreign file contain its word. */
    const say = (text: string): string => `${text} ${isForeign ? `${FOREIGN} ` : ""}${filler}`;
    number++;
    const write = (folder: string) => {
      const path = folder === AUTOMATIC && isForeign ? `${foreignPath}-${number}` : `${folder}/${number}`;
      const content = path.slice(path.indexOf("/") + 1);
      return { tool: "files_write", arguments: { path: `${path}.md`, content: `${content}\n` } };
    };
    const stage = (of: string): number => {
      const found = [...all.matchAll(new RegExp(`${of} step (\\d)`, "g"))].map(([, each]) => Number(each));
      return Math.max(0, ...found);
    };
    if (offers("schedule")) {
      const last = messages.findLast(({ role }) => role !== "system");
      const said = last?.role === "user" ? JSON.stringify(last.content) : "";
      const wish = /please (\w+)/.exec(said)?.[1];
      const worker = (task: string) => ({ tool: "spawn_worker", arguments: { task } });
      const calls = {
        write: [write("direct"), worker("work")],
        look: [worker("work")],
        fetch: [worker("work on the foreign file")],
        note: [write(AUTOMATIC)],
        think: [{ tool: "branch", arguments: { task: "think" } }],
      }[wish ?? ""];
      return calls === undefined ? { text: say("so it is") } : { text: say("I see to it"), calls };
    }
    if (offers("channel_recall"))
      switch (stage("branch")) {
        case 0:
          return {
            text: "branch step 1",
            calls: [
              { tool: "channel_recall", arguments: { query: "please" } },
              { tool: "memory_save", arguments: { type: "Observation", text: `remembered ${number}` } },
            ],
          };
        case 1:
          return {
            text: "branch step 2",
            calls: [{ tool: "spawn_worker", arguments: { task: "work", wait: true } }],
          };
        default:
          return { text: say("the branch found it") };
      }
    if (!offers("set_status")) {
      const steps = ["worker", "branch"].map((each) => [each, stage(each)] as const);
      const kept = steps.flatMap(([of, step]) => (step > 0 ? [`${of} step ${step}`] : []));
      return { text: `A summary. ${kept.join(", ")}${isForeign ? ` ${FOREIGN}` : ""}` };
    }
    switch (stage("worker")) {
      case 0:
        return {
          text: "worker step 1",
          calls: [
            { tool: "mark", arguments: { n: number } },
            {
              tool: "files_read",
              arguments: { path: all.includes("the foreign file") ? FOREIGN_FILE : "a.md" },
            },
          ],
        };
      case 1:
        return { text: "worker step 2", calls: [write(isForeign || number % 2 === 1 ? AUTOMATIC : "out")] };
      default:
        return { text: say("the worker wrote the file") };
    }
  };
}
