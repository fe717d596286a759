import { expect, it } from "vitest";
import { agent, Bench, tool } from "../../test/support/bench.ts";
import { until } from "../../test/support/until.ts";

const fails = `import { defineAgent } from "@lares/sdk";
export default defineAgent({ hooks: { seen() { throw new Error("secret words of another agent"); } } });`;

it("sees in a real kernel which agents do not work, and none of their texts", async () => {
  await using bench = await Bench.create({
    lares: {
      extensions: [
        { id: "dev.lares.heartbeat" },
        { path: "../extensions/test.fails", grants: { locations: ["."] } },
      ],
    },
    extensions: [
      {
        id: "test.fails",
        program: fails,
        manifest: {
          permissions: { read_entries: true },
          hooks: [{ on: "EntryCreated", filter: 'entry.name == "a.md"', handler: "seen" }],
        },
      },
    ],
  });
  const client = await bench.open();
  expect(await tool(client, "dev.lares.heartbeat", "health", {})).toEqual([]);
  await bench.write("a.md", "x");
  const found = await until("the failure to be seen", async () => {
    const problems = await tool<{ problem: string }[]>(client, "dev.lares.heartbeat", "health", {});
    return problems.length > 0 && problems;
  });
  expect(found).toEqual([{ agent: "test.fails", problem: "test.fails fails again and again" }]);

  await client.request("lares/agents/control", { id: "test.fails", command: "suspend" });
  await until("the suspension", async () => (await agent(client, "test.fails")).state === "Suspended");
  const after = await tool<{ problem: string }[]>(client, "dev.lares.heartbeat", "health", {});
  expect(after[0]?.problem).toBe("test.fails is suspended; its events wait");
  expect(JSON.stringify([found, after])).not.toContain("secret words");
});
