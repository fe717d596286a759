import { describe, expect, onTestFinished, test, vi } from "vitest";
import { readSchedules } from "../agent-state/schedules.ts";
import { maxRunsWaiting } from "../agents/delivery/catch-up.ts";
import { maxAheadMs } from "../agents/delivery/schedules.ts";
import type { AgentDefinition } from "../agents/ports.ts";
import { definitionOf } from "../agents/testing/fake-guest.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { hookOf } from "../configuration/definitions.ts";
import type { ResolvedHook } from "../documents/resolved-manifest.ts";
import { scheduled } from "./testing/schedule-bed.ts";
import { agent, bed, day, hour, minute } from "./testing/schedule-test.ts";

describe("while the kernel runs", () => {
  test("a schedule fires at each of its times, first after it was first seen", async () => {
    const opened = await bed("2026-11-20T11:59:30.000Z");
    await opened.run(scheduled("0,2 * * * *", "skip", opened.clock));
    expect(await opened.take()).toEqual([]);
    await opened.pass(29_000);
    expect(await opened.take()).toEqual([]);
    await opened.pass(1_000);
    expect(await opened.take()).toEqual(["tidy 12:00:00"]);
    await opened.pass(4 * minute);
    expect(await opened.take()).toEqual(["tidy 12:02:00"]);
    expect(opened.traces).toEqual([]);
  });

  test("a tick is one event, for its own handler and the same agent's hooks on ScheduleFired that accept it", async () => {
    const opened = await bed();
    const on = (handler: string, filter?: string): ResolvedHook => ({
      kind: "event",
      on: "ScheduleFired",
      handler,
      ...(filter === undefined ? {} : { filter }),
    });
    const hooks = [
      on("every"),
      { kind: "schedule", schedule: "* * * * *", handler: "tidy", catchUp: "skip" },
      on("none", 'schedule == "0 0 * * *"'),
      on("minutes", 'schedule == "* * * * *"'),
    ] satisfies ResolvedHook[];
    opened.add(definitionOf({ hooks: hooks.map((hook) => hookOf(hook, opened.clock)) }));
    opened.add(definitionOf({ id: "dev.test.other", hooks: [hookOf(on("elsewhere"), opened.clock)] }));
    await opened.schedules.follow();
    await opened.pass(minute);
    const deliveries = await opened.deliveries();
    expect(deliveries.map(({ agent: id, lane, payload }) => [id, lane, payload.handler])).toEqual(
      ["tidy", "every", "minutes"].map((handler) => [agent, "live", handler]),
    );
    expect(new Set(deliveries.map(({ payload }) => payload.schedule))).toEqual(
      new Set(["tidy (* * * * *, UTC)"]),
    );
    expect(new Set(deliveries.map(({ payload }) => payload.event.id)).size).toBe(1);
    expect(deliveries[0]?.payload.event).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "ScheduleFired",
      timestamp: "2026-11-20T12:01:00.000Z",
      schedule: "* * * * *",
      scheduled_for: "2026-11-20T12:01:00.000Z",
    });
  });

  test("several schedules fire in the order of their times; one that is named twice counts once", async () => {
    const opened = await bed();
    const hooks = ["*/2 * * * *", "* * * * *", "* * * * *"].map((schedule, index): ResolvedHook => ({
      kind: "schedule",
      schedule,
      handler: index === 0 ? "even" : "each",
      catchUp: index === 2 ? "once" : "all",
    }));
    await opened.run(definitionOf({ hooks: hooks.map((hook) => hookOf(hook, opened.clock)) }));
    await opened.pass(2 * minute);
    expect(await opened.take()).toEqual(["each 12:01:00", "even 12:02:00", "each 12:02:00"]);
  });

  test("a schedule for a device with a capability fires only where the person lists that", async () => {
    const hook: ResolvedHook = {
      kind: "schedule",
      schedule: "* * * * *",
      handler: "train",
      catchUp: "skip",
      onDeviceWithCapability: "gpu",
    };
    for (const capabilities of [[], ["always_on"], ["always_on", "gpu"]]) {
      const opened = await bed();
      const known = hookOf(hook, opened.clock, new Map(), capabilities);
      const isHere = capabilities.includes("gpu");
      expect(known.missingCapability).toBe(isHere ? undefined : "gpu");
      opened.add(definitionOf({ hooks: [known] }));
      await opened.schedules.follow();
      if (isHere) await opened.pass(minute);
      else expect(opened.clock.pendingTimers).toBe(0);
      expect(await opened.take()).toEqual(isHere ? ["train 12:01:00"] : []);
    }
  });

  test("one timer for all, set for the next run within its maximum; none without a schedule", async () => {
    const opened = await bed();
    opened.add(definitionOf());
    await opened.schedules.follow();
    expect(opened.clock.pendingTimers).toBe(0);
    const looks: number[] = [];
    opened.onWake = () => looks.push(opened.clock.now());
    await opened.run(scheduled("1 12 * * *", "skip", opened.clock));
    await opened.run(scheduled("0 3 * * *", "skip", opened.clock, { id: "dev.test.other" }));
    expect(opened.clock.pendingTimers).toBe(1);
    const start = opened.clock.now();
    await opened.pass(2 * minute);
    expect(looks.map((at) => at - start)).toEqual([1, 2, 3, 4].map((turn) => turn * maxAheadMs));
    opened.remove(agent);
    opened.remove("dev.test.other");
    await opened.schedules.follow();
    expect(opened.clock.pendingTimers).toBe(0);
  });

  test("outside of its active hours it does not run, and its next run is within them", async () => {
    const opened = await bed("2026-11-20T07:10:00.000Z");
    const definition = scheduled("*/30 * * * *", "once", opened.clock, {}, "UTC", {
      activeHours: "08:00-09:00",
    });
    expect(definition.hooks[0]?.nextRun?.()).toBe("2026-11-20T08:00:00.000Z");
    await opened.run(definition);
    await opened.pass(3 * hour, minute);
    expect(await opened.take()).toEqual(["tidy 08:00:00"]);
    await opened.pass(day, minute);
    // One that waits keeps the next from running.
    expect(await opened.take()).toEqual(["tidy 08:00:00"]);
  });

  test("a run that was held up until its hours have ended is skipped, without a word", async () => {
    const opened = await bed("2026-11-20T07:59:00.000Z");
    await opened.run(scheduled("0 8 * * *", "once", opened.clock, {}, "UTC", { activeHours: "08:00-09:00" }));
    await opened.schedules[Symbol.asyncDispose]();
    opened.clock.advance(2 * hour);
    await opened.restart();
    await opened.schedules.follow();
    expect(await opened.take()).toEqual([]);
    expect(opened.traces).toEqual([]);
    await opened.pass(day, minute);
    expect(await opened.take()).toEqual(["tidy 08:00:00"]);
  });

  test("runs that are due while one waits are left out, or queue", async () => {
    for (const [overlap, told] of [
      [undefined, ["tidy 12:01:00"]],
      ["queue", ["tidy 12:01:00", "tidy 12:02:00", "tidy 12:03:00"]],
    ] as const) {
      const opened = await bed("2026-11-20T12:00:30.000Z");
      const more = overlap === undefined ? {} : { overlap };
      await opened.run(scheduled("* * * * *", "skip", opened.clock, {}, "UTC", more));
      await opened.pass(3 * minute);
      expect(await opened.take()).toEqual(told);
    }
  });

  test("a jitter delays each run by the same time, and no run is lost or made twice", async () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
    onTestFinished(() => random.mockRestore());
    const opened = await bed("2026-11-20T12:00:30.000Z");
    await opened.run(scheduled("* * * * *", "skip", opened.clock, {}, "UTC", { jitterMs: 40_000 }));
    await opened.pass(49_000);
    expect(await opened.take()).toEqual([]);
    await opened.pass(1_000);
    expect(await opened.take()).toEqual(["tidy 12:01:00"]);
    await opened.pass(59_000);
    expect(await opened.take()).toEqual([]);
    await opened.restart();
    await opened.schedules.follow();
    await opened.pass(1_000);
    expect(await opened.take()).toEqual(["tidy 12:02:00"]);
    expect(opened.traces).toEqual([]);
  });

  test("closed, it has no timer and fires no more, whatever is asked of it", async () => {
    const opened = await bed();
    await opened.run(scheduled("* * * * *", "all", opened.clock));
    await opened.schedules[Symbol.asyncDispose]();
    expect(opened.clock.pendingTimers).toBe(0);
    opened.clock.advance(hour);
    await opened.schedules.follow();
    expect(await opened.take()).toEqual([]);
    expect(opened.clock.pendingTimers).toBe(0);
  });

  test.each([
    ["UTC", ["01:30:00", "02:30:00"]],
    ["Europe/Berlin", ["01:00:00", "00:30:00"]],
  ] as const)(
    "in the night in which clocks skip 2:30 it goes by the clock of %s",
    async (timezone, times) => {
      const opened = await bed("2026-03-28T12:00:00.000Z");
      const expression = timezone === "UTC" ? "30 1,2 * * *" : "30 2 * * *";
      await opened.run(scheduled(expression, "all", opened.clock, {}, timezone));
      await opened.pass(timezone === "UTC" ? 18 * hour : 42 * hour, maxAheadMs);
      expect(await opened.take()).toEqual(times.map((time) => `tidy ${time}`));
    },
  );
});

describe("a tick waits", () => {
  test.each(["skip", "once"] as const)(
    "%s: none joins it, for a whole night, until it is dealt with",
    async (rule) => {
      const opened = await bed();
      await opened.run(scheduled("* * * * * *", rule, opened.clock));
      await opened.pass(100_000);
      expect(await opened.take()).toEqual(["tidy 12:00:01"]);
      expect(opened.traces).toEqual([]);
      await opened.pass(1_000);
      expect(await opened.take()).toEqual(["tidy 12:01:41"]);
      expect(opened.traces).toEqual(["info tidy (* * * * * *): 99 runs were left out"]);
    },
  );

  test("all: no more than the limit are queued; the number of dropped runs is logged once there is room", async () => {
    const opened = await bed();
    await opened.run(scheduled("* * * * * *", "all", opened.clock));
    await opened.pass(150_000);
    expect(await opened.take()).toHaveLength(maxRunsWaiting);
    expect(opened.traces).toEqual([]);
    await opened.pass(1_000);
    expect(await opened.take()).toEqual(["tidy 12:02:31"]);
    expect(opened.traces).toEqual(["warn tidy (* * * * * *): 50 runs were left out"]);
  });

  test("it delays no other schedule of the same agent", async () => {
    const opened = await bed();
    const hooks = ["* * * * *", "*/2 * * * *"].map((schedule) =>
      hookOf({ kind: "schedule", schedule, handler: "tidy", catchUp: "skip" }, opened.clock),
    );
    await opened.run(definitionOf({ hooks }));
    await opened.pass(4 * minute);
    expect(await opened.take()).toEqual(["tidy 12:01:00", "tidy 12:02:00"]);
  });
});

describe("a changed manifest", () => {
  test.each<[what: string, change: (clock: ManualClock) => AgentDefinition]>([
    ["expression", (clock) => scheduled("*/2 * * * *", "all", clock)],
    ["time zone", (clock) => scheduled("* * * * *", "all", clock, {}, "Asia/Tokyo")],
  ])(
    "another %s is another schedule: counts from now, and the old one is forgotten",
    async (_what, change) => {
      const opened = await bed();
      await opened.run(scheduled("* * * * *", "all", opened.clock));
      const [before] = await readSchedules(opened.database);
      opened.clock.setNow(opened.clock.now() + hour);
      await opened.run(change(opened.clock));
      expect(await opened.take()).toEqual([]);
      const after = await readSchedules(opened.database);
      expect(after).toHaveLength(1);
      expect(after[0]).not.toMatchObject({ expression: before?.expression, timezone: before?.timezone });
      expect(after[0]?.firedThrough).toBe(opened.clock.now());
    },
  );

  test("another catch_up is the same schedule, and applies to what was missed", async () => {
    const opened = await bed();
    await opened.run(scheduled("* * * * *", "skip", opened.clock));
    opened.clock.setNow(opened.clock.now() + 3 * minute);
    await opened.run(scheduled("* * * * *", "all", opened.clock));
    expect(await opened.take()).toEqual(["tidy 12:01:00", "tidy 12:02:00", "tidy 12:03:00"]);
  });

  test("nothing is stored of a removed schedule", async () => {
    const opened = await bed();
    await opened.run(scheduled("* * * * *", "all", opened.clock));
    await opened.run(definitionOf());
    expect(await readSchedules(opened.database)).toEqual([]);
    expect(opened.clock.pendingTimers).toBe(0);
    opened.clock.advance(hour);
    await opened.run(scheduled("* * * * *", "all", opened.clock));
    expect(await opened.take()).toEqual([]);
  });

  test("that waits for acceptance changes nothing yet", async () => {
    const opened = await bed();
    const before = scheduled("* * * * *", "all", opened.clock);
    await opened.run(before);
    const noted = await readSchedules(opened.database);
    await opened.run({ ...scheduled("0 * * * *", "all", opened.clock), awaiting: "acceptance" });
    expect(await readSchedules(opened.database)).toEqual(noted);
    opened.clock.advance(minute);
    await opened.run(before);
    expect(await opened.take()).toEqual(["tidy 12:01:00"]);
  });
});
