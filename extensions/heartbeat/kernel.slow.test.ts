import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { agent, Bench, inState, tool } from "../../test/support/bench.ts";
import type { Client } from "../../test/support/client.ts";
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

const HEARTBEAT = "test.heartbeat";
const textOf = (file: string): Promise<string> => readFile(new URL(file, import.meta.url), "utf8");

/** Heartbeat as it is, but looking every second instead of every five minutes. */
async function heartbeat(config: Record<string, unknown>) {
  const { extension: manifest } = parse(await textOf("extension.yaml")) as {
    extension: Record<string, unknown> & { hooks: object[] };
  };
  expect(manifest.hooks).toEqual([{ schedule: "*/5 * * * *", jitter: "30s", handler: "beat" }]);
  return {
    id: HEARTBEAT,
    program: await textOf("agent.ts"),
    files: { "health.ts": await textOf("health.ts") },
    manifest: { ...manifest, id: HEARTBEAT, hooks: [{ schedule: "* * * * * *", handler: "beat" }] },
    config,
  };
}

const broken = (isBroken: boolean) => ({
  id: "test.broken",
  program: `import { defineAgent } from "@lares/sdk";
export default defineAgent({ onStartup() { ${isBroken ? 'throw new Error("secret words");' : ""} } });`,
  manifest: { agent: { activation: "eager" } },
});

interface Said {
  readonly title: string;
  readonly message: string;
  readonly severity: string;
  readonly count: number;
}
const said = async (client: Client): Promise<Said[]> =>
  (await client.request<{ items: Said[] }>("lares/notifications/list", {})).items.toReversed();
const looks = async (client: Client): Promise<number> =>
  (await agent(client, HEARTBEAT)).metrics.events_processed;
const looksAgain = async (client: Client, times: number): Promise<void> => {
  const before = await looks(client);
  await until(`${times} looks`, async () => (await looks(client)) >= before + times);
};

it("tells once of an agent in Error, and says when it works again", async () => {
  await using bench = await Bench.create({
    extensions: [broken(true), await heartbeat({ remind_after_hours: 0 })],
  });
  const client = await bench.open();
  await inState(client, "test.broken", "Error");
  const first = await until("a notification", async () => {
    const items = await said(client);
    return items.length > 0 && items;
  });
  const problem = {
    title: "test.broken needs a look",
    message: "test.broken does not work: it is in Error.",
    severity: "warning",
  };
  expect(first).toMatchObject([{ ...problem, count: 1 }]);
  await looksAgain(client, 3);
  expect(await said(client)).toMatchObject([{ ...problem, count: 1 }]);

  const { trust } = await bench.status(client);
  await bench.writeExtension(broken(false));
  await bench.accept(client, trust.digest);
  await inState(client, "test.broken", "Active");
  await until("the good news", async () => (await said(client)).length === 2);
  await looksAgain(client, 3);
  expect(await said(client)).toMatchObject([
    { ...problem, count: 1 },
    { title: "test.broken works again", message: "test.broken", severity: "info", count: 1 },
  ]);
  expect(JSON.stringify(await said(client))).not.toContain("secret words");
});
