import { describe, expect, onTestFinished, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { ownAccord } from "../base/vocabulary/principal.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { until } from "../../../test/support/until.ts";
import { notificationBounds } from "./bounds.ts";
import { notificationMigrations } from "./migrations.ts";
import { NotificationRows } from "./notification-rows.ts";
import { Notifications, type NewNotification } from "./notifications.ts";

const { agentBurst, agentEveryMs, togetherEveryMs, summaryAfterMs, perAgent, together, keptMs } =
  notificationBounds;
const day = 24 * 60 * 60 * 1000;

function notice(more: Partial<NewNotification> = {}): NewNotification {
  return { agent: "dev.a", title: "Backup", message: "It failed.", severity: "info", ...more };
}

const proposed = (id: string, content = "x"): NonNullable<NewNotification["action"]> => ({
  id,
  proposal: { title: "Backup", reason: "r", effects: [{ kind: "file.write", path: "a.md", content }] },
  lineage: { onBehalfOf: [{ kind: "agent", id: "dev.caller" }], depth: 1, sources: ["web"] },
});

async function open() {
  const database = await openNearDatabase({
    path: ":memory:",
    migrations: notificationMigrations,
    log: silentLog,
  });
  onTestFinished(() => database[Symbol.asyncDispose]());
  const clock = new ManualClock();
  const heldBack: [string, number][] = [];
  const room = (): Notifications => {
    const notifications = new Notifications({
      clock,
      log: silentLog,
      rows: new NotificationRows(database),
      heldBack: (...held) => heldBack.push(held),
    });
    onTestFinished(() => notifications[Symbol.dispose]());
    return notifications;
  };
  const notifications = room();
  const told: string[] = [];
  notifications.told.on(({ title, count }) => told.push(`${title} ${count}`));
  /** Adds one when the agent and all together have rested. */
  const addSlowly = async (given: NewNotification): Promise<void> => {
    clock.advance(Math.max(agentEveryMs, togetherEveryMs));
    await notifications.add(given);
  };
  const list = async () => (await notifications.list({ limit: together })).items;
  return { notifications, clock, told, heldBack, addSlowly, list, room };
}

describe("what agents say", () => {
  test("is listed with the latest first, page by page, and is there for the next kernel", async () => {
    const { notifications, room, told } = await open();
    for (const title of ["one", "two", "three"]) await notifications.add(notice({ title }));
    const titles = async (query: object, of = notifications) => {
      const { items, ...rest } = await of.list(query);
      return { titles: items.map(({ title }) => title), ...rest };
    };
    expect(await titles({})).toEqual({ titles: ["three", "two", "one"], total: 3 });
    const { cursor, ...first } = await titles({ limit: 2 });
    expect(first).toEqual({ titles: ["three", "two"], total: 3 });
    expect(await titles({ limit: 2, cursor })).toEqual({ titles: ["one"], total: 3 });
    expect(await titles({ cursor: "not ours" })).toEqual({ titles: [], total: 3 });
    expect(await titles({}, room())).toEqual({ titles: ["three", "two", "one"], total: 3 });
    expect(told).toEqual(["one 1", "two 1", "three 1"]);
  });

  test("is one with a count if title and severity are the same and nobody has seen it", async () => {
    const { notifications, clock, list, told } = await open();
    await notifications.add(notice({ action: proposed("a1") }));
    await notifications.add(notice({ title: "Other" }));
    clock.advance(1000);
    await notifications.add(notice({ message: "It failed again." }));
    await notifications.add(notice({ severity: "error" }));
    await notifications.add(notice({ agent: "dev.b" }));
    expect(await list()).toMatchObject([
      { agent: "dev.b", count: 1 },
      { agent: "dev.a", severity: "error", count: 1 },
      {
        title: "Backup",
        message: "It failed again.",
        count: 2,
        action: "a1",
        created: "2026-11-20T12:00:00.000Z",
        updated: "2026-11-20T12:00:01.000Z",
      },
      { title: "Other", count: 1 },
    ]);
    expect(told).toEqual(["Backup 1", "Other 1", "Backup 2", "Backup 1", "Backup 1"]);
    const [, , { id } = { id: "" }] = await list();
    expect(await notifications.dismiss([id, "unknown"])).toBe(1);
    expect(await notifications.dismiss([id])).toBe(0);
    await notifications.add(notice());
    expect((await notifications.list({ state: "New" })).items).toMatchObject([
      { title: "Backup", count: 1 },
      { agent: "dev.b" },
      { severity: "error" },
      { title: "Other" },
    ]);
    expect((await notifications.list({ state: "Dismissed" })).items).toMatchObject([{ id, count: 2 }]);
  });

  test("of the kernel about a suspended schedule is never one with an agent's, is not held back, and ends with it", async () => {
    const { notifications, list } = await open();
    const schedule = { handler: "tidy", schedule: "@daily" };
    for (let n = 0; n < 40; n++) await notifications.add(notice({ title: `${n}` }));
    await notifications.add(notice({ schedule, message: "The kernel says it." }));
    await notifications.add(notice({ schedule: { ...schedule, schedule: "@hourly" } }));
    await notifications.add(notice({ schedule, message: "Once more." }));
    const own = (await list()).filter((one) => one.schedule !== undefined);
    expect(own).toMatchObject([
      { schedule, message: "Once more.", count: 2, title: "Backup" },
      { schedule: { schedule: "@hourly" }, count: 1 },
    ]);
    await notifications.resumed("dev.a", schedule);
    const { items } = await notifications.list({ state: "New", limit: 200 });
    expect(items.filter((one) => one.schedule !== undefined)).toMatchObject([
      { schedule: { schedule: "@hourly" } },
    ]);
  });

  test("that comes at the same time is counted as one, too", async () => {
    const { notifications, list } = await open();
    await Promise.all(Array.from({ length: 5 }, () => notifications.add(notice())));
    expect(await list()).toMatchObject([{ count: 5 }]);
  });

  test("keeps its latest proposal with on whose behalf it was made, unless it is too large", async () => {
    const { notifications, list } = await open();
    await notifications.add(notice({ action: proposed("a1") }));
    const [{ id } = { id: "" }] = await list();
    expect(await notifications.actionOf(id)).toEqual({
      agent: "dev.a",
      schedule: null,
      state: "New",
      action: "a1",
      proposal: proposed("a1").proposal,
      lineage: proposed("a1").lineage,
    });
    await notifications.add(notice({ action: proposed("a2", "x".repeat(70_000)) }));
    expect(await notifications.actionOf(id)).toMatchObject({ action: "a2", proposal: null });
    await notifications.acted(id, "a3");
    expect(await notifications.actionOf(id)).toMatchObject({ state: "Dismissed", action: "a3" });
    await expect(notifications.actionOf("unknown")).rejects.toMatchObject({ code: "NotFound" });
    await notifications.add(notice({ title: "Plain" }));
    const [{ id: plain } = { id: "" }] = await list();
    expect(await notifications.actionOf(plain)).toMatchObject({ action: null, lineage: ownAccord });
  });

  test("is cut to its bounds without half of a character", async () => {
    const { notifications, list } = await open();
    await notifications.add(notice({ title: "x".repeat(199) + "😀", message: "y".repeat(1_000_000) }));
    const [{ title, message } = { title: "", message: "" }] = await list();
    expect([title, message.length]).toEqual(["x".repeat(199) + "\ufffd", 4_000]);
  });
});

describe("what is too much", () => {
  test("of one agent is held back and counted in one notification, until the agent has rested", async () => {
    const { notifications, clock, heldBack, told, list } = await open();
    for (let n = 0; n < 1000; n++) await notifications.add(notice({ title: `${n}` }));
    await notifications.add(notice({ agent: "dev.b" }));
    const rows = await list();
    expect(rows).toHaveLength(agentBurst + 2);
    expect(rows[1]).toMatchObject({
      agent: "dev.a",
      severity: "warning",
      title: `${1000 - agentBurst} more notifications of dev.a were held back`,
      held_back: 1000 - agentBurst,
      count: 1,
    });
    expect(told).toHaveLength(agentBurst + 1);
    expect(heldBack).toEqual([["dev.a", 1]]);
    await clock.advanceAsync(summaryAfterMs);
    await until("the number", () => told.length > agentBurst + 1);
    expect(told.at(-1)).toBe(`${1000 - agentBurst} more notifications of dev.a were held back 1`);
    expect(heldBack).toEqual([
      ["dev.a", 1],
      ["dev.a", 1000 - agentBurst],
    ]);
    await notifications.add(notice({ title: "after a rest" }));
    expect((await list())[0]).toMatchObject({ title: "after a rest" });
    expect(clock.pendingTimers).toBe(0);
  });

  test("of many agents together is held back, too", async () => {
    const { notifications, list } = await open();
    for (let n = 0; n < 100; n++) await notifications.add(notice({ agent: `dev.a${n}` }));
    const rows = await list();
    expect(rows.filter(({ held_back }) => held_back === undefined)).toHaveLength(
      notificationBounds.togetherBurst,
    );
    expect(rows.filter(({ held_back }) => held_back === 1)).toHaveLength(60);
  });

  test("is counted again from one after a person has seen the number", async () => {
    const { notifications, clock, told, list } = await open();
    for (let n = 0; n < agentBurst + 2; n++) await notifications.add(notice({ title: `${n}` }));
    const [{ id } = { id: "" }] = await list();
    await notifications.dismiss([id]);
    await clock.advanceAsync(summaryAfterMs);
    // It was seen meanwhile.
    expect(told).toHaveLength(agentBurst);
    for (let n = 0; n < agentBurst; n++) await notifications.add(notice({ title: `again ${n}` }));
    expect((await list())[0]).toMatchObject({ held_back: 5, state: "New" });
  });
});

describe("bounds", () => {
  test("an agent's oldest go first, those that were seen before the others", async () => {
    const { notifications, addSlowly, list } = await open();
    await addSlowly(notice({ agent: "dev.b", title: "of another" }));
    for (let n = 0; n < perAgent; n++) await addSlowly(notice({ title: `${n}` }));
    const seen = (await list()).find(({ title }) => title === "30");
    await notifications.dismiss([seen?.id ?? ""]);
    await addSlowly(notice({ title: "new" }));
    await addSlowly(notice({ title: "newer" }));
    const titles = (await list()).map(({ title }) => title);
    expect(titles).toHaveLength(perAgent + 1);
    expect(titles.slice(0, 3)).toEqual(["newer", "new", "49"]);
    expect(titles).not.toContain("30");
    expect(titles).not.toContain("0");
    expect(titles.slice(-2)).toEqual(["1", "of another"]);
  });

  test("a workspace keeps the latest of all agents", async () => {
    const { addSlowly, list } = await open();
    for (let n = 0; n < together + 10; n++)
      await addSlowly(notice({ agent: `dev.a${n % 7}`, title: `${n}` }));
    const titles = (await list()).map(({ title }) => title);
    expect(titles).toHaveLength(together);
    expect([titles[0], titles.at(-1)]).toEqual([`${together + 9}`, "10"]);
  });

  test("what is older than 30 days is not listed, and goes with the next one", async () => {
    const { notifications, clock, list } = await open();
    await notifications.add(notice({ title: "old" }));
    clock.advance(keptMs - day);
    await notifications.add(notice({ title: "young" }));
    clock.advance(day);
    expect((await list()).map(({ title }) => title)).toEqual(["young"]);
    await notifications.add(notice({ title: "now" }));
    expect((await notifications.list()).total).toBe(2);
  });
});
