import { expect, test } from "vitest";
import type { TraceEntry } from "../../kernel/src/base/vocabulary/trace.ts";
import { watchesFiles } from "../support/agents.ts";
import { Bench, inState } from "../support/bench.ts";
import { until } from "../support/until.ts";

const AGENT = "test.inspected";
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  hooks: {
    async seen({ entry }, ctx) {
      const text = await ctx.vdfs.readText(entry.path);
      await ctx.vdfs.readText("notes/missing.txt").catch(() => undefined);
      ctx.trace.info("forged", { step: "begin" });
      if (text === "light") ctx.trace.info("said light");
      if (text.startsWith("dark")) throw new Error("no light");
    },
  },
});
`;
const LINE = PROGRAM.split("\n").findIndex((line) => line.includes("no light")) + 1;
const SECRET = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;

test("while a client inspects an agent, each of its steps is traced with values, without secrets, and with the line of a failure", async () => {
  await using bench = await Bench.create({
    files: { "notes/a.txt": "a" },
    extensions: [watchesFiles(AGENT, PROGRAM)],
  });
  await using client = await bench.open();
  await inState(client, AGENT, "Active", "Unloaded");
  const steps = (): TraceEntry[] =>
    client
      .notifications<{ entry: TraceEntry }>("lares/traces/entry")
      .map(({ entry }) => entry)
      .filter(({ step }) => step !== undefined);

  const { subscription } = await client.request<{ subscription: string }>("lares/traces/follow", {
    agent: AGENT,
    inspect: true,
  });
  await bench.write("notes/dark.txt", `dark ${SECRET} ${"x".repeat(20_000)}`);
  const ended = await until("the handler has ended", () =>
    steps().find(({ message }) => message === "seen failed"),
  );
  const one = steps().filter(({ trace_id: id }) => id === ended.trace_id);
  expect(one.map(({ message, step }) => [step, message])).toEqual([
    ["begin", "seen begins: EntryCreated"],
    ["call", expect.stringMatching(/^vdfs\/\w+$/)],
    ["call", expect.stringMatching(/^vdfs\/\w+ failed$/)],
    ["end", "seen failed"],
  ]);
  // What an agent writes into its own traces makes no step of them.
  const forged = client
    .notifications<{ entry: TraceEntry }>("lares/traces/entry")
    .find(({ entry }) => entry.message === "forged");
  expect(forged?.entry).toMatchObject({ level: "info", fields: { step: "begin" } });
  expect(forged?.entry).not.toHaveProperty("step");
  expect(one[0]?.fields).toMatchObject({
    event: { name: "EntryCreated", entry: { path: "notes/dark.txt" } },
  });
  expect(one[1]?.fields).toMatchObject({
    number: 1,
    params: { path: "notes/dark.txt" },
    took_ms: expect.any(Number),
  });
  expect(one[2]?.fields).toMatchObject({ number: 2, error: expect.any(String) });
  expect(one[3]?.fields).toMatchObject({ error: expect.stringContaining("no light"), place: { line: LINE } });
  const written = JSON.stringify(one);
  expect(written).not.toContain(SECRET);
  expect(written.length).toBeLessThan(10_000);

  await client.request("lares/traces/unfollow", { subscription });
  await bench.write("notes/light.txt", "light");
  const query = (text?: string): Promise<TraceEntry[]> =>
    client.request("lares/traces/query", { agent: AGENT, level: "debug", ...(text && { text }) });
  await until("the event was handled", async () => (await query("said light")).length > 0);
  expect(JSON.stringify((await query()).filter(({ step }) => step))).not.toContain("light.txt");
});
