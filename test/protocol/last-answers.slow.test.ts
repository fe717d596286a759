import { expect, test } from "vitest";
import { inState, Bench, tool, type ExtensionSpec } from "../support/bench.ts";
import type { Action } from "../support/types.ts";
import { isAlive, until } from "../support/until.ts";

const ID = "test.writer";

/** Proposes something new for each file, without a key, and is not done at once afterwards. */
const writer: ExtensionSpec = {
  id: ID,
  program: `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  memory: { plan: { seen: [] } },
  hooks: {
    async seen({ entry }, ctx) {
      await ctx.memory.plan.update((plan) => { plan.seen.push(entry.path); return plan; });
      await ctx.actions.propose([{ kind: "file.write", path: "out/" + Date.now() + ".txt", content: "x" }], { title: entry.path, reason: "It is new." });
      await new Promise((resolve) => setTimeout(resolve, 500));
    },
  },
  tools: { seen: async (_, ctx) => (await ctx.memory.plan.read()).seen },
});
`,
  manifest: {
    permissions: { read_entries: true, propose_actions: ["file.write"] },
    hooks: [{ on: "EntryCreated", filter: 'entry.path.startsWith("in/")', handler: "seen" }],
    tools: [{ name: "seen", description: "seen", handler: "seen", parameters: { type: "object" } }],
  },
};

const titles = async (client: Awaited<ReturnType<Bench["connect"]>>): Promise<string[]> => {
  const actions = await client.request<Action[]>("lares/actions/list");
  return actions.map(({ title }) => title);
};

test("an agent that is suspended in the middle of a handler answers its event first: it is not handled twice", async () => {
  await using bench = await Bench.create({ files: { "in/a.txt": "a" }, extensions: [writer] });
  await using client = await bench.open();
  await until("the proposal", async () => (await titles(client)).length === 1);
  await client.request("lares/agents/control", { id: ID, command: "suspend" });
  await client.request("lares/agents/control", { id: ID, command: "resume" });
  await bench.write("in/b.txt", "b");
  await until("the next one", async () => (await titles(client)).includes("in/b.txt"));
  expect(await tool(client, ID, "seen")).toEqual(["in/a.txt", "in/b.txt"]);
  expect((await titles(client)).toSorted()).toEqual(["in/a.txt", "in/b.txt"]);
});

test("a kernel that ends in the middle of a handler waits for its answer: the next one does not repeat it", async () => {
  await using bench = await Bench.create({
    files: { "in/a.txt": "a" },
    extensions: [writer],
    lares: { kernel: { linger: "0s" } },
  });
  const first = await bench.open();
  await until("the proposal", async () => (await titles(first)).length === 1);
  const { pid } = await bench.status(first);
  await first.shutdown();
  await until("the kernel's end", () => !isAlive(pid));
  await using client = await bench.open();
  await bench.write("in/b.txt", "b");
  await until("the next one", async () => (await titles(client)).includes("in/b.txt"));
  await inState(client, ID, "Active", "Unloaded");
  expect(await tool(client, ID, "seen")).toEqual(["in/a.txt", "in/b.txt"]);
});
