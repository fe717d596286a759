import { rename, unlink } from "node:fs/promises";
import { expect, test } from "vitest";
import { call, event, events, host, probe, type SeenEvent } from "../support/agents.ts";
import { agent, Bench, inState, leave, tool } from "../support/bench.ts";
import type { Entry } from "../support/types.ts";
import { isAlive, until } from "../support/until.ts";

const PROBE = "test.probe";
const pathOf = (seen: SeenEvent): string =>
  (seen["path"] as string | undefined) ?? (seen["entry"] as Entry | undefined)?.path ?? "";

test("changes while the kernel was down are delivered at the next start, once", async () => {
  const hooks = ["EntryCreated", "EntryModified", "EntryMoved", "EntryDeleted", "IndexComplete"];
  await using bench = await Bench.create({
    files: { "kept.txt": "k", "changed.txt": "c", "moved.txt": "moved away\n", "deleted.txt": "d" },
    extensions: [probe({ id: PROBE, hooks: hooks.map((on) => ({ on, handler: "record" })) })],
  });
  const indexes = (all: SeenEvent[]): number => all.filter(({ name }) => name === "IndexComplete").length;

  /** Runs a kernel once and returns the events that its agent has handled since the beginning. */
  const live = async (run: number): Promise<SeenEvent[]> => {
    await using client = await bench.open();
    const all = await until(`IndexComplete of run ${run}`, async () => {
      const now = await events(client, PROBE);
      return indexes(now) >= run && now;
    });
    const { pid } = await bench.status(client);
    await leave(client);
    await until("the kernel to end", () => !isAlive(pid));
    return all;
  };

  const first = await live(1);
  await bench.write("created.txt", "new\n");
  await bench.write("changed.txt", "changed while nobody looked\n");
  await rename(bench.path("moved.txt"), bench.path("elsewhere.txt"));
  await unlink(bench.path("deleted.txt"));

  const second = await live(2);
  const since = second.slice(first.length).map((seen) => `${seen.name} ${pathOf(seen)}`.trim());
  expect(since.toSorted()).toEqual(
    [
      "EntryCreated created.txt",
      "EntryModified changed.txt",
      "EntryMoved elsewhere.txt",
      "EntryDeleted deleted.txt",
      "IndexComplete",
    ].toSorted(),
  );
  expect(second.find(({ name }) => name === "EntryMoved")).toMatchObject({ from: "moved.txt" });
  expect(since.indexOf("EntryCreated created.txt")).toBeLessThan(since.indexOf("IndexComplete"));

  const third = await live(3);
  expect(third.slice(second.length).map(({ name }) => name)).toEqual(["IndexComplete"]);
});

const SLOW = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  memory: { plan: { begun: 0, done: [] } },
  hooks: {
    async slow({ entry }, ctx) {
      const { begun } = await ctx.memory.plan.update((plan) => ({ ...plan, begun: plan.begun + 1 }));
      if (begun === 1) await new Promise((resolve) => setTimeout(resolve, 60_000));
      await ctx.memory.plan.update((plan) => ({ ...plan, done: [...plan.done, entry.path] }));
    },
  },
  tools: { async plan(_, ctx) { return ctx.memory.plan.read(); } },
});
`;

test("an event whose handler was cut short by kill -9 of the kernel is delivered again, in order with the later ones", async () => {
  await using bench = await Bench.create({
    extensions: [
      {
        id: "test.slow",
        program: SLOW,
        manifest: {
          permissions: { read_entries: true },
          resources: { max_wall_ms_per_event: 120_000 },
          hooks: [{ on: "EntryCreated", handler: "slow", filter: 'entry.extension == "txt"' }],
          tools: [{ name: "plan", description: "the plan", handler: "plan", parameters: { type: "object" } }],
        },
      },
    ],
  });
  await using client = await bench.open();
  const plan = () => tool<{ begun: number; done: string[] }>(client, "test.slow", "plan");
  await bench.write("1.txt", "1");
  await until("the handler to have begun", async () => (await plan()).begun === 1);
  await bench.write("2.txt", "2");
  await until(
    "the second event in the inbox",
    async () => (await agent(client, "test.slow")).metrics.events_received >= 2,
  );
  await bench.kill((await bench.status(client)).pid);
  await bench.ready(client);
  await until("both handled", async () => (await plan()).done.length >= 2);
  expect((await plan()).done).toEqual(["1.txt", "2.txt"]);
});

test("custom events go from one agent to another, under the publisher's name, in order; undeclared ones are refused", async () => {
  await using bench = await Bench.create({
    extensions: [
      probe({ id: "test.sender", permissions: { read_entries: true, emit_events: ["Ping"] } }),
      probe({ id: "test.mute", permissions: { read_entries: true } }),
      probe({
        id: "test.receiver",
        permissions: { read_entries: true, hear_events: ["test.sender/Ping"] },
        hooks: [{ on: "test.sender/Ping", handler: "record" }],
      }),
    ],
  });
  await using client = await bench.open();
  for (let n = 0; n < 5; n++)
    await call(client, "test.sender", "events.emit", "Ping", { n, deep: { list: [n] } });
  await until("five events", async () => (await events(client, "test.receiver")).length >= 5);
  const seen = await events(client, "test.receiver");
  expect(seen.map(({ name }) => name)).toEqual(Array.from({ length: 5 }, () => "test.sender/Ping"));
  expect(seen.map((each) => each["n"] ?? (each["data"] as { n: number } | undefined)?.n)).toEqual([
    0, 1, 2, 3, 4,
  ]);
  for (const data of ["text", 1, [{ n: 5 }]]) {
    expect(await host(client, "test.sender", "events.emit", "Ping", data)).toMatchObject({
      error: { code: "InvalidParams", message: expect.stringMatching(/has to be an object/) as string },
    });
  }
  expect(await host(client, "test.sender", "events.emit", "Pong", {})).toMatchObject({
    error: { code: "PermissionDenied" },
  });
  expect(await host(client, "test.mute", "events.emit", "Ping", {})).toMatchObject({
    error: { code: "PermissionDenied" },
  });
});

test("a changed grant is a PermissionChanged event and runs onPermissionChange, in the running agent", async () => {
  await using bench = await Bench.create({
    extensions: [
      probe({
        id: PROBE,
        agent: { activation: "eager" },
        hooks: [{ on: "PermissionChanged", handler: "record" }],
      }),
    ],
  });
  await using client = await bench.open();
  await inState(client, PROBE, "Active");
  expect(await call(client, PROBE, "vdfs.count", {})).toBeGreaterThan(0);
  await bench.writeLares({ grants: { [PROBE]: { deny: ["write_tags"] } } });
  await event(client, PROBE, "PermissionChanged", ({ name }) => name === "PermissionChanged");
  await until("onPermissionChange", async () => {
    return (await tool<{ permissionChanges: number }>(client, PROBE, "seen")).permissionChanges >= 1;
  });
});
