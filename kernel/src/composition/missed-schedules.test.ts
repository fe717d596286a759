import { describe, expect, test } from "vitest";
import { readSchedules } from "../agent-state/schedules.ts";
import { maxRunsWaiting } from "../agents/delivery/catch-up.ts";
import { maxAheadMs, maxSetBackMs } from "../agents/delivery/schedules.ts";
import { ScheduleBed, scheduled } from "./testing/schedule-bed.ts";
import { agent, bed, day, hour, minute } from "./testing/schedule-test.ts";

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
