import { describe, expect, test } from "vitest";
import { readSchedules, scheduleStatements } from "../agent-state/schedules.ts";
import { scheduleRetryMs } from "../agents/delivery/schedules.ts";
import { definitionOf } from "../agents/testing/fake-guest.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { hookOf } from "../configuration/definitions.ts";
import { ScheduleBed, scheduled } from "./testing/schedule-bed.ts";
import { agent, bed, day, minute } from "./testing/schedule-test.ts";

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
