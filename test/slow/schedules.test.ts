import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { AgentNotification } from "../../kernel/src/base/vocabulary/notification.ts";
import { event, events, probe, type SeenEvent } from "../support/agents.ts";
import { agent, Bench, inState, leave } from "../support/bench.ts";
import { lares } from "../support/command-line.ts";
import type { Client } from "../support/client.ts";
import type { Action, Agent, TraceEntry } from "../support/types.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const OTHER = "test.other";
const EVERY_SECOND = "* * * * * *";
/** Real time: a run that is not reported can only be noticed by the clock. */
const intervalMs = 1000;

const dueAt = (seen: SeenEvent): number => Date.parse(seen["scheduled_for"] as string);

/** Returns what the handler got, each event once: one that was in progress when a kernel died is delivered again. */
async function ticks(client: Client, id: string, via: string): Promise<SeenEvent[]> {
  const seen = (await events(client, id)).filter((each) => each.via === via);
  return [...new Map(seen.map((each) => [each.id, each])).values()];
}

describe("a schedule of every second", () => {
  let bench: Bench;
  let client: Client;
  beforeAll(async () => {
    bench = await Bench.create({
      extensions: [
        probe({
          id: PROBE,
          hooks: [
            { schedule: EVERY_SECOND, handler: "first" },
            { on: "ScheduleFired", handler: "second", filter: `schedule == "${EVERY_SECOND}"` },
            { on: "ScheduleFired", handler: "third", filter: 'schedule == "@daily"' },
          ],
        }),
        probe({ id: OTHER, hooks: [{ on: "ScheduleFired", handler: "first" }] }),
      ],
    });
    client = await bench.open();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  const control = (command: string): Promise<Agent> =>
    client.request<Agent>("lares/agents/control", { id: PROBE, command });

  test("fires: wakes the agent, reaches its handler and its ScheduleFired hooks, and no other agent", async () => {
    const seen = await event(client, PROBE, "its schedule", ({ via }) => via === "first");
    expect(seen).toEqual({
      name: "ScheduleFired",
      via: "first",
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      timestamp: expect.stringMatching(/Z$/),
      schedule: EVERY_SECOND,
      scheduled_for: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.000Z$/),
    });
    const same = await event(client, PROBE, "its hook", ({ via, id }) => via === "second" && id === seen.id);
    expect(same).toEqual({ ...seen, via: "second" });
    await until("more", async () => (await ticks(client, PROBE, "first")).length >= 3);
    const times = (await ticks(client, PROBE, "first")).map(dueAt);
    expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b));
    expect(await ticks(client, PROBE, "third")).toEqual([]);
    expect(await events(client, OTHER)).toEqual([]);
  });

  test("shows its next run, and its ticks count as events", async () => {
    const before = Date.now();
    const { hooks, metrics } = await agent(client, PROBE);
    const nextRun = Date.parse(hooks[0]?.nextRun ?? "");
    expect(nextRun).toBeGreaterThan(before - 1);
    expect(nextRun).toBeLessThanOrEqual(Date.now() + 1000);
    expect(metrics.events_received).toBeGreaterThanOrEqual(6);
    expect(metrics.events_processed).toBeGreaterThanOrEqual(5);
  });

  test("is reported while the agent's state stays the same: its next run and its event count advance", async () => {
    const told = () =>
      client
        .notifications<Agent>("lares/agents/changed")
        .filter(({ id, state }) => id === PROBE && state === "Active")
        .map(({ hooks, metrics }) => ({ nextRun: hooks[0]?.nextRun ?? "", events: metrics.events_received }));
    const first = await until("a telling", () => told().at(-1));
    // A run and its event are two changes, so a notification in between shows only one of them.
    const later = await until("a telling of more events", () =>
      told().find(({ events }) => events > first.events),
    );
    expect(Date.parse(later.nextRun)).toBeGreaterThan(Date.parse(first.nextRun));
  });

  test("waits, once, for an agent that is suspended", async () => {
    // If a run was in progress when the agent was suspended, that one waits and none is received; such an attempt
    // proves nothing.
    for (let received = 0; received === 0;) {
      const before = new Set((await ticks(client, PROBE, "first")).map(dueAt));
      await control("suspend");
      const suspended = await inState(client, PROBE, "Suspended");
      await setTimeout(4.5 * intervalMs);
      received = (await agent(client, PROBE)).metrics.events_received - suspended.metrics.events_received;
      const resumedAt = Date.now();
      await control("resume");
      await event(client, PROBE, "a run of now", (seen) => seen.via === "first" && dueAt(seen) > resumedAt);
      // One run, for its handler and its hook.
      expect(received).toBeLessThanOrEqual(2);
      const late = (await ticks(client, PROBE, "first"))
        .map(dueAt)
        .filter((time) => !before.has(time) && time <= resumedAt - intervalMs);
      // And perhaps one that came between the first look and the suspension.
      if (received > 0) expect([1, 2]).toContain(late.length);
    }
  });

  test("does not deliver runs that were missed while the agent was disabled", async () => {
    await control("disable");
    const disabledAt = Date.now();
    await setTimeout(2.5 * intervalMs);
    const enabledAt = Date.now();
    await control("enable");
    await event(client, PROBE, "the next run", (seen) => seen.via === "first" && dueAt(seen) > enabledAt);
    const missed = (await ticks(client, PROBE, "first"))
      .map(dueAt)
      // The one that was in progress when the agent was disabled.
      .filter((time) => time > disabledAt + intervalMs && time <= enabledAt);
    expect(missed).toEqual([]);
  });
});

test("a run that ends when everything is idle does not wait for a schedule", async () => {
  const bench = await Bench.create({
    extensions: [
      probe({
        id: PROBE,
        hooks: [EVERY_SECOND, "@yearly"].map((schedule) => ({ schedule, handler: "first" })),
      }),
    ],
  });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { code, stdout, stderr } = await lares(bench, ["run", bench.root, "--once", "--trust"]);
  expect(code, stdout + stderr).toBe(0);
});

test("while trust is revoked nothing fires; once it is restored, missed runs are caught up", async () => {
  const hooks = [{ schedule: EVERY_SECOND, handler: "first", catch_up: "all" }];
  const bench = await Bench.create({ extensions: [probe({ id: PROBE, hooks })] });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const client = await bench.open();
  const told = async (): Promise<number[]> => (await ticks(client, PROBE, "first")).map(dueAt);
  await until("a run", async () => (await told()).length > 0);
  await client.request("lares/trust", { trusted: false });
  const revokedAt = Date.now();
  await setTimeout(4 * intervalMs);
  const grantedAt = Date.now();
  await client.request("lares/trust", { trusted: true });
  await inState(client, PROBE, "Active");
  await until("a run of now", async () => (await told()).some((time) => time > grantedAt));
  const missed = (await told()).filter((time) => time > revokedAt && time <= grantedAt);
  expect(missed.length).toBeGreaterThanOrEqual(4);
  expect(missed.map((time) => (time - missed[0]!) / 1000)).toEqual(missed.map((_, index) => index));
  const late = (await ticks(client, PROBE, "first")).filter((each) => missed.includes(dueAt(each)));
  for (const { timestamp } of late) expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(grantedAt);
});

test("after kill -9 and days of absence, missed runs are caught up according to catch_up", async () => {
  const noon = `0 ${(new Date().getUTCHours() + 12) % 24} * * *`; // never due while this test runs
  const bench = await Bench.create({
    extensions: [
      probe({
        id: PROBE,
        hooks: [
          { schedule: noon, handler: "first" },
          { schedule: noon, handler: "second", catch_up: "once" },
          { schedule: noon, handler: "third", catch_up: "all" },
          { schedule: EVERY_SECOND, handler: "fourth", catch_up: "all" },
        ],
      }),
    ],
  });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const before = await bench.open();
  await until("some runs", async () => (await ticks(before, PROBE, "fourth")).length >= 2);
  const { pid, stateFolder } = await bench.status(before);
  await leave(before);
  await bench.kill(pid);
  const database = new DatabaseSync(join(stateFolder, "ledger.sqlite"));
  const changed = database
    .prepare("UPDATE schedules SET fired_through = fired_through - 5 * 86400000 WHERE expression = ?")
    .run(noon);
  database.close();
  expect(changed.changes).toBe(3);
  await setTimeout(3 * intervalMs);

  const startedAt = Date.now();
  const client = await bench.open();
  await until("a run of now", async () =>
    (await ticks(client, PROBE, "fourth")).some((each) => dueAt(each) > startedAt),
  );
  const told = async (via: string): Promise<number[]> => (await ticks(client, PROBE, via)).map(dueAt);
  const all = await until("all that was missed", async () => {
    const found = await told("third");
    return found.length >= 5 && found;
  });
  expect(await told("first")).toEqual([]);
  expect(await told("second")).toEqual([all.at(-1)]);
  expect(all.map((time) => (all.at(-1)! - time) / 86_400_000)).toEqual([4, 3, 2, 1, 0]);
  const seconds = await told("fourth");
  expect(seconds.map((time) => (time - seconds[0]!) / 1000)).toEqual(seconds.map((_, index) => index));
});

test("an agent's work because of a schedule names it, in traces and in proposals", async () => {
  const ID = "test.ticking";
  await using bench = await Bench.create({
    extensions: [
      {
        id: ID,
        program: `
          import { defineAgent } from "@lares/sdk";
          export default defineAgent({ hooks: { async tick(_event, ctx) {
            ctx.trace.info("ticked");
            const effects = [{ kind: "file.write", path: "a.md", content: "a" }];
            await ctx.actions.propose(effects, { title: "Write", reason: "It is time." }, { key: "once" });
          } } });`,
        manifest: {
          permissions: { propose_actions: ["file.write"] },
          hooks: [{ schedule: EVERY_SECOND, handler: "tick" }],
        },
      },
    ],
  });
  const client = await bench.open();
  const onBehalfOf = [{ kind: "schedule", agent: ID, schedule: `tick (${EVERY_SECOND}, UTC)` }];
  const [action] = await until("its proposal", async () => {
    const found = await client.request<Action[]>("lares/actions/list", { agent: ID });
    return found.length > 0 && found;
  });
  expect(action?.on_behalf_of).toEqual(onBehalfOf);
  const traces = await client.request<TraceEntry[]>("lares/traces/query", { agent: ID, text: "ticked" });
  expect(traces[0]?.on_behalf_of).toEqual(onBehalfOf);
});

test("a schedule whose runs fail is suspended with its reason, its agent keeps running, and it is resumed after a kernel's death", async () => {
  const ID = "test.failing";
  await using bench = await Bench.create({
    extensions: [
      {
        id: ID,
        program: `
          import { defineAgent } from "@lares/sdk";
          export default defineAgent({ memory: { plan: { well: 0 } }, hooks: {
            async well(_event, ctx) { await ctx.memory.plan.update((plan) => ({ ...plan, well: plan.well + 1 })); },
            async bad() {
              throw new Error("It is broken.");
            },
          } });`,
        manifest: {
          hooks: [
            { schedule: EVERY_SECOND, handler: "well" },
            { schedule: EVERY_SECOND, handler: "bad" },
          ],
        },
      },
    ],
  });
  const before = await bench.open();
  const suspended = (client: Client): Promise<Agent> =>
    until("its suspension", async () => {
      const found = await agent(client, ID);
      return found.hooks[1]?.suspended !== undefined && found;
    });
  const found = await suspended(before);
  expect(found.hooks[1]).toMatchObject({
    handler: "bad",
    suspended: { since: expect.stringMatching(/Z$/), error: "It is broken." },
  });
  expect(found.hooks[1]?.nextRun).toBeUndefined();
  expect(found.state).not.toBe("Suspended");
  await bench.kill((await bench.status(before)).pid);

  const client = await bench.open();
  const answered = (await suspended(client)).metrics.events_today;
  await until("its other schedule", async () => (await agent(client, ID)).metrics.events_today > answered);
  const control = (params: object) => client.raw("lares/agents/control", { id: ID, ...params });
  expect((await control({ command: "resume", hook: 0 })).error).toMatchObject({ code: -33_002 });
  expect((await control({ command: "resume", hook: 9 })).error).toMatchObject({ code: -32_602 });
  expect((await control({ command: "reload", hook: 1 })).error).toMatchObject({ code: -32_602 });
  const resumed = await client.request<Agent>("lares/agents/control", {
    id: ID,
    command: "resume",
    hook: 1,
  });
  expect(resumed.hooks[1]).toMatchObject({ nextRun: expect.any(String) });
  expect(resumed.hooks[1]?.suspended).toBeUndefined();
  // It fails again.
  await suspended(client);
});

test("a suspended schedule is a kept notification that resumes it, for a person who was not there", async () => {
  const ID = "test.failing";
  await using bench = await Bench.create({
    extensions: [
      {
        id: ID,
        program: `
          import { defineAgent } from "@lares/sdk";
          export default defineAgent({ hooks: {
            async bad(_event, ctx) {
              // The agent uses the kernel's words; that is a different notification, without a button.
              await ctx.notify("The schedule of bad is suspended", "Not by the kernel.", { severity: "warning" });
              throw new Error("It is broken.");
            },
          } });`,
        manifest: { hooks: [{ schedule: EVERY_SECOND, handler: "bad" }] },
      },
    ],
  });
  const before = await bench.open();
  const suspension = async (client: Client) => (await agent(client, ID)).hooks[0]?.suspended;
  await until("its suspension", async () => (await suspension(before)) !== undefined);
  await bench.kill((await bench.status(before)).pid);

  const client = await bench.open();
  const kept = async (): Promise<AgentNotification[]> => {
    const { items } = await client.request<{ items: AgentNotification[] }>("lares/notifications/list");
    return items.filter(({ schedule }) => schedule !== undefined);
  };
  const [notification, ...more] = await kept();
  expect(more).toEqual([]);
  expect(notification).toMatchObject({
    agent: ID,
    title: "The schedule of bad is suspended",
    message: expect.stringMatching(
      /^Three runs of bad .* failed, so it does not run until you resume it\. .*broken/,
    ),
    severity: "warning",
    state: "New",
    schedule: { handler: "bad", schedule: EVERY_SECOND },
  });
  const act = () => client.raw("lares/notifications/act", { id: notification?.id });
  expect(await suspension(client)).toBeDefined();
  expect((await act()).result).toMatchObject({ resumed: { id: ID, hooks: [{ handler: "bad" }] } });
  expect((await kept())[0]).toMatchObject({ id: notification?.id, state: "Dismissed" });
  // It fails again, which is a new notification; one that was resumed otherwise counts as seen.
  await until("its second suspension", async () => (await suspension(client)) !== undefined);
  const fresh = await until("its notification", async () =>
    (await kept()).find(({ state }) => state === "New"),
  );
  await client.request("lares/agents/control", { id: ID, command: "resume", hook: 0 });
  expect((await kept()).find(({ id }) => id === fresh.id)?.state).toBe("Dismissed");
});
