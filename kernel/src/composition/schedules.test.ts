import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { readSchedules, scheduleStatements } from "../agent-state/schedules.ts";
import { maxRunsWaiting } from "../agents/delivery/catch-up.ts";
import type { AgentDefinition } from "../agents/ports.ts";
import { maxAheadMs, maxSetBackMs, scheduleRetryMs } from "../agents/delivery/schedules.ts";
import { definitionOf } from "../agents/testing/fake-guest.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import type { ResolvedHook } from "../documents/resolved-manifest.ts";
import { hookOf } from "../configuration/definitions.ts";
import { ScheduleBed, scheduled } from "./testing/schedule-bed.ts";

const agent = "dev.test.agent";
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

async function bed(start = "2026-11-20T12:00:00.000Z"): Promise<ScheduleBed> {
  const path = join(await temporaryFolder(), "ledger.sqlite");
  const opened = await ScheduleBed.open(path, new ManualClock(start));
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

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

describe("what was missed", () => {
  const away = {
    "no kernel ran": async (opened: ScheduleBed) => {
      await opened.schedules[Symbol.asyncDispose]();
      opened.clock.advance(5 * day);
      await opened.restart();
      await opened.schedules.follow();
    },
    "the agent was not there": async (opened: ScheduleBed) => {
      const [before] = opened.agents.values();
      opened.remove(agent);
      await opened.schedules.follow();
      opened.clock.advance(5 * day);
      await opened.run(before!.definition);
    },
    "it waited to be accepted": async (opened: ScheduleBed) => {
      const [before] = opened.agents.values();
      await opened.run({ ...before!.definition, awaiting: "acceptance" });
      opened.clock.advance(5 * day);
      await opened.schedules.follow();
      expect(await opened.take()).toEqual([]);
      await opened.run(before!.definition);
    },
    "the machine slept": async (opened: ScheduleBed) => {
      opened.clock.setNow(opened.clock.now() + 5 * day);
      await opened.pass(maxAheadMs);
    },
  };
  const rules = [
    ["skip", []],
    ["once", ["25T03"]],
    ["all", ["21T03", "22T03", "23T03", "24T03", "25T03"]],
  ] as const;

  for (const [why, go] of Object.entries(away)) {
    test.each(rules)(
      `while ${why}: %s delivers its missed runs once, and then continues`,
      async (rule, told) => {
        const opened = await bed();
        await opened.run(scheduled("0 3 * * *", rule, opened.clock));
        await go(opened);
        const times = async (): Promise<string[]> =>
          (await opened.deliveries()).map(({ payload }) =>
            String(payload.event["scheduled_for"]).slice(8, 13),
          );
        expect(await times()).toEqual(told);
        const left = 5 - told.length;
        expect(opened.traces).toEqual(
          left === 0 ? [] : [`info tidy (0 3 * * *): ${left} runs were left out`],
        );
        await opened.schedules.follow();
        expect(await times()).toEqual([]);
        await opened.pass(day, maxAheadMs);
        expect(await times()).toEqual(["26T03"]);
      },
    );
  }

  test("of more than the limit, all delivers the newest, and logs the number of dropped ones", async () => {
    const opened = await bed();
    await opened.run(scheduled("* * * * *", "all", opened.clock));
    await opened.schedules[Symbol.asyncDispose]();
    opened.clock.advance(3 * hour);
    await opened.restart();
    await opened.schedules.follow();
    const told = await opened.take();
    expect(told).toHaveLength(maxRunsWaiting);
    expect([told.at(0), told.at(-1)]).toEqual(["tidy 13:21:00", "tidy 15:00:00"]);
    expect(opened.traces).toEqual(["warn tidy (* * * * *): 80 runs were left out"]);
    opened.clock.setNow(opened.clock.now() + 365 * day);
    await opened.pass(maxAheadMs);
    expect(await opened.take()).toHaveLength(maxRunsWaiting);
    expect(opened.traces.at(-1)).toBe("warn tidy (* * * * *): more than 100 runs were left out");
  });

  test("late by less than a minute is on time, also when a kernel died meanwhile", async () => {
    const opened = await bed("2026-11-20T12:59:50.000Z");
    await opened.run(scheduled("0 * * * *", "skip", opened.clock));
    await opened.schedules[Symbol.asyncDispose]();
    opened.clock.advance(40_000);
    await opened.restart();
    await opened.schedules.follow();
    expect(await opened.take()).toEqual(["tidy 13:00:00"]);
    expect(opened.traces).toEqual([]);
  });

  test("while an agent is disabled is never delivered, also after a restart; once enabled, it counts from now", async () => {
    const opened = await bed();
    await opened.run(scheduled("* * * * *", "all", opened.clock));
    const one = opened.agents.get(agent)!;
    one.isListening = false;
    await opened.schedules.follow();
    expect(await readSchedules(opened.database)).toEqual([]);
    await opened.schedules[Symbol.asyncDispose]();
    opened.clock.advance(hour);
    await opened.restart();
    await opened.schedules.follow();
    expect(opened.clock.pendingTimers).toBe(0);
    one.isListening = true;
    await opened.schedules.follow();
    await opened.pass(minute);
    expect(await opened.take()).toEqual(["tidy 13:01:00"]);
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

describe("a clock that is set back", () => {
  test("by hours repeats no run, and later runs continue", async () => {
    const opened = await bed();
    await opened.run(scheduled("0 * * * *", "all", opened.clock));
    await opened.pass(2 * hour, maxAheadMs);
    expect(await opened.take()).toEqual(["tidy 13:00:00", "tidy 14:00:00"]);
    opened.clock.setNow(opened.clock.now() - 90 * minute);
    await opened.pass(hour, maxAheadMs);
    expect(await opened.take()).toEqual([]);
    await opened.pass(90 * minute, maxAheadMs);
    expect(await opened.take()).toEqual(["tidy 15:00:00"]);
    expect(opened.traces).toEqual([]);
  });

  test.each(["while it runs", "between two kernels"])(
    "by more than a day, %s, it was wrong before: the schedule counts from now",
    async (when) => {
      const opened = await bed();
      await opened.run(scheduled("0 * * * *", "all", opened.clock));
      await opened.pass(hour, maxAheadMs);
      expect(await opened.take()).toEqual(["tidy 13:00:00"]);
      if (when !== "while it runs") {
        await opened.schedules[Symbol.asyncDispose]();
        await opened.restart();
      }
      opened.clock.setNow(opened.clock.now() - maxSetBackMs - hour);
      await opened.schedules.follow();
      expect(opened.traces).toEqual(["warn The clock was set back: tidy (0 * * * *) counts from now."]);
      expect((await readSchedules(opened.database))[0]?.firedThrough).toBe(opened.clock.now());
      await opened.pass(hour, maxAheadMs);
      expect(await opened.take()).toEqual(["tidy 13:00:00"]);
    },
  );
});

describe("when it cannot be stored", () => {
  test("nothing is lost or delivered twice: it is retried after a pause, and logged", async () => {
    const opened = await bed();
    await opened.run(scheduled("* * * * *", "once", opened.clock));
    let tries = 0;
    opened.storing = () => {
      tries += 1;
      throw new Error("No space left on device.");
    };
    await opened.pass(minute + scheduleRetryMs - 1_000);
    expect(await opened.take()).toEqual([]);
    expect(tries).toBe(1);
    expect(opened.traces).toEqual([
      `error its schedules are tried again in ${scheduleRetryMs} ms: No space left on device.`,
    ]);
    opened.storing = () => undefined;
    await opened.pass(1_000);
    expect(await opened.take()).toEqual(["tidy 12:01:00"]);
    await opened.pass(minute - scheduleRetryMs);
    expect(await opened.take()).toEqual(["tidy 12:02:00"]);
  });

  test("another agent's schedules fire all the same", async () => {
    const opened = await bed();
    await opened.run(scheduled("* * * * *", "once", opened.clock));
    await opened.run(scheduled("* * * * *", "once", opened.clock, { id: "dev.test.other" }));
    opened.storing = (deliveries) => {
      if (deliveries[0]?.agent === agent) throw new Error("No.");
    };
    await opened.pass(minute);
    expect((await opened.deliveries("dev.test.other")).length).toBe(1);
    expect(await opened.take()).toEqual([]);
  });
});

test.each<[what: string, change: (opened: ScheduleBed) => void]>([
  ["is removed", (opened) => opened.remove(agent)],
  ["is disabled", (opened) => void (opened.agents.get(agent)!.isListening = false)],
  ["has another schedule", (opened) => opened.add(scheduled("0 0 * * *", "all", opened.clock))],
])("an agent that %s while its tick is under way receives nothing", async (_what, change) => {
  const opened = await bed();
  await opened.run(scheduled("* * * * *", "all", opened.clock));
  opened.onWaiting = () => change(opened);
  opened.clock.advance(minute);
  await opened.schedules.follow();
  expect(await opened.take()).toEqual([]);
});

// The largest integer of SQLite is a number only as a bigint.
test.each([-1, -9000000000000000, 9000000000000000, 9223372036854775807n])(
  "a ledger with the impossible time %s for a schedule: it counts from now",
  async (through) => {
    const opened = await bed();
    await opened.run(scheduled("* * * * *", "all", opened.clock));
    await opened.schedules[Symbol.asyncDispose]();
    const [kept] = await readSchedules(opened.database);
    await opened.database.batch([scheduleStatements.kept({ ...kept!, firedThrough: through as number })]);
    expect(await readSchedules(opened.database)).toEqual([]);
    await opened.restart();
    await opened.schedules.follow();
    expect(await opened.take()).toEqual([]);
    await opened.pass(minute);
    expect(await opened.take()).toEqual(["tidy 12:01:00"]);
  },
);

test("a schedule whose next run cannot be computed holds up no other agent's, and is tried again", async () => {
  const opened = await bed();
  const definition = scheduled("* * * * *", "all", opened.clock);
  let isBroken = true;
  const hooks = definition.hooks.map(({ timing, ...hook }) => {
    if (timing === undefined) return hook;
    const next = (afterMs: number): number | null => {
      if (isBroken) throw new Error("No such time.");
      return timing.next(afterMs);
    };
    return { ...hook, timing: { ...timing, next } };
  });
  opened.add({ ...definition, hooks });
  opened.add(scheduled("* * * * *", "all", opened.clock, { id: "dev.test.other" }));
  await opened.schedules.follow();
  await opened.pass(minute);
  expect((await opened.deliveries("dev.test.other")).length).toBe(1);
  expect(await opened.take()).toEqual([]);
  isBroken = false;
  await opened.pass(scheduleRetryMs);
  expect(await opened.take()).toEqual(["tidy 12:01:00"]);
});

describe("three failed runs in a row", () => {
  const key = `schedule ${JSON.stringify(["tidy", "* * * * *", "UTC"])}`;
  const fail = async (opened: ScheduleBed, times: number): Promise<void> => {
    for (let time = 0; time < times; time++) opened.schedules.ended(agent, key, `fault ${time + 1}`);
    await opened.schedules.follow();
  };
  const [hook] = scheduled("* * * * *", "once", new ManualClock("2026-11-20T12:00:00.000Z")).hooks;

  test("suspend the schedule, which is reported once, and no other one of the agent", async () => {
    const opened = await bed();
    const both = ["tidy", "sweep"].map((handler) =>
      hookOf({ kind: "schedule", schedule: "* * * * *", handler, catchUp: "once" }, opened.clock),
    );
    await opened.run(definitionOf({ hooks: both }));
    await fail(opened, 2);
    expect(opened.schedules.suspension(agent, hook!)).toBeNull();
    await fail(opened, 2);
    expect(opened.schedules.suspension(agent, hook!)).toEqual({
      since: "2026-11-20T12:00:00.000Z",
      error: "fault 1",
    });
    expect(opened.traces).toEqual([
      "warn the schedule of tidy (* * * * *) is suspended, because 3 runs in a row failed: fault 1",
    ]);
    expect(opened.announced).toEqual([agent]);
    expect(opened.told).toEqual([[agent, { handler: "tidy", schedule: "* * * * *" }, "fault 1"]]);
    await opened.pass(minute);
    expect(await opened.take()).toEqual(["sweep 12:01:00"]);
  });

  test("with one between that did well are none", async () => {
    const opened = await bed();
    await opened.run(scheduled("* * * * *", "once", opened.clock));
    await fail(opened, 2);
    opened.schedules.ended(agent, key, null);
    await fail(opened, 2);
    expect(opened.schedules.suspension(agent, hook!)).toBeNull();
    await opened.pass(minute);
    expect(await opened.take()).toEqual(["tidy 12:01:00"]);
  });

  test("hold over a restart, until a person resumes it: then it counts from now", async () => {
    const opened = await bed();
    const definition = scheduled("* * * * *", "all", opened.clock);
    await opened.run(definition);
    await fail(opened, 3);
    await opened.schedules[Symbol.asyncDispose]();
    opened.clock.advance(day);
    await opened.restart();
    await opened.schedules.follow();
    expect(await opened.take()).toEqual([]);
    expect(opened.schedules.suspension(agent, hook!)).not.toBeNull();
    expect(await opened.schedules.resume(agent, hook!)).toBe(true);
    expect(await opened.schedules.resume(agent, hook!)).toBe(false);
    // The earlier kernel reported the suspension; now the resumption is reported once.
    expect(opened.told.map(([, , error]) => error)).toEqual(["fault 3", null]);
    expect(opened.schedules.suspension(agent, hook!)).toBeNull();
    await opened.pass(minute);
    expect(await opened.take()).toEqual(["tidy 12:01:00"]);
    await fail(opened, 1);
    expect(opened.schedules.suspension(agent, hook!)).toBeNull();
  });

  test("of a schedule that is gone meanwhile count for nothing", async () => {
    const opened = await bed();
    await opened.run(scheduled("* * * * *", "once", opened.clock));
    await fail(opened, 2);
    opened.remove(agent);
    await fail(opened, 2);
    expect(opened.traces).toEqual([]);
    expect(await opened.schedules.resume(agent, hook!)).toBe(false);
  });
});
