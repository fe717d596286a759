/** What a tool spends on models for a conversation counts for that conversation, with a real kernel. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { HostileMind, MIND } from "../support/hostile-mind.ts";

const HELPER = "test.helper";
let mind: HostileMind;

beforeAll(async () => {
  const tools = ["files/*", `${HELPER}/*`];
  mind = await HostileMind.open({
    mind: { tools, direct_tools: tools },
    manifest: {
      permissions: { use_models: [{ category: "chat" }], read_entries: true, call_tools: [`${HELPER}/*`] },
    },
    extensions: [
      {
        id: HELPER,
        program: `
          import { defineAgent } from "@lares/sdk";
          export default defineAgent({
            tools: { think: async (_args, ctx) => (await ctx.ai.generate({ prompt: "hard" })).text },
          });`,
        manifest: {
          tools: [{ name: "think", description: "Thinks", handler: "think", parameters: { type: "object" } }],
          permissions: { use_models: [{ category: "chat" }] },
        },
      },
    ],
  });
});
afterAll(() => mind[Symbol.asyncDispose]());

test("a conversation pays for what its tools ask models, so that no tool is a way around its budget", async () => {
  const { id, results } = await mind.results([{ calls: [{ name: "test_helper_think", given: {} }] }]);
  expect(results).toMatchObject([{ status: "success" }]);
  const { groups } = await mind.client.request<{ groups: { key: string; requests: number }[] }>(
    "lares/usage",
    {
      group_by: "conversation",
    },
  );
  // Its own two requests, and the tool's.
  expect(groups.find(({ key }) => key === id)?.requests).toBe(3);
  const { groups: agents } = await mind.client.request<{ groups: { key: string; requests: number }[] }>(
    "lares/usage",
    { group_by: "agent" },
  );
  expect(agents.find(({ key }) => key === HELPER)?.requests).toBe(1);
  expect(agents.find(({ key }) => key === MIND)?.requests).toBe(2);
});
