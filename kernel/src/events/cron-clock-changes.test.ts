import process from "node:process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileSchedule } from "./cron.ts";

/*
 * Compares schedules with an oracle that walks through the minutes around a change of the clock, one by one, without
 * knowing cron's syntax or offsets: it has the fields as sets, and each minute's wall time from Intl.
 */

const minuteMs = 60_000;
/** More schedules with LARES_ROUNDS. */
const rounds = Number(process.env["LARES_ROUNDS"] ?? 1);

/** A field as cron has it, and the numbers that it stands for. */
interface Field {
  readonly text: string;
  readonly values: ReadonlySet<number>;
  readonly isStar: boolean;
}

interface Fields {
  readonly minute: Field;
  readonly hour: Field;
  readonly day: Field;
  readonly month: Field;
  readonly weekday: Field;
}

function field(low: number, high: number): fc.Arbitrary<Field> {
  const all = Array.from({ length: high - low + 1 }, (_, index) => low + index);
  const value = fc.integer({ min: low, max: high });
  const of = (text: string, values: readonly number[]): Field => ({
    text,
    values: new Set(values),
    isStar: text === "*",
  });
  const step = fc.integer({ min: 1, max: Math.ceil(all.length / 2) });
  return fc.oneof(
    fc.constant(of("*", all)),
    value.map((one) => of(String(one), [one])),
    fc.uniqueArray(value, { minLength: 2, maxLength: 4 }).map((some) => of(some.join(","), some)),
    fc.tuple(value, value).map(([one, other]) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      return of(
        `${from}-${to}`,
        all.filter((each) => each >= from && each <= to),
      );
    }),
    step.map((every) =>
      of(
        `*/${every}`,
        all.filter((each) => (each - low) % every === 0),
      ),
    ),
    fc.tuple(value, step).map(([from, every]) =>
      of(
        `${from}-${high}/${every}`,
        all.filter((each) => each >= from && (each - from) % every === 0),
      ),
    ),
  );
}

/** Most schedules are for every day; of the others, most would not run in the days that are looked at. */
const mostlyStar = (low: number, high: number): fc.Arbitrary<Field> =>
  fc.oneof(
    { weight: 5, arbitrary: field(low, high).map((each) => (each.values.size > 3 ? each : star(low, high))) },
    { weight: 1, arbitrary: field(low, high) },
  );
const star = (low: number, high: number): Field => ({
  text: "*",
  values: new Set(Array.from({ length: high - low + 1 }, (_, index) => low + index)),
  isStar: true,
});

const fields: fc.Arbitrary<Fields> = fc.record({
  minute: field(0, 59),
  // Half of them at the hours around which clocks are changed.
  hour: fc.oneof(
    field(0, 23),
    field(0, 4).filter(({ text }) => !text.startsWith("*")),
    field(22, 23).filter(({ text }) => !text.startsWith("*")),
  ),
  day: mostlyStar(1, 31),
  month: fc.constant(star(1, 12)),
  weekday: mostlyStar(0, 6),
});

/** Whether the fields name this wall time, given in minutes. Two restricted fields of days are alternatives. */
function isNamed({ minute, hour, day, month, weekday }: Fields, wallMinute: number): boolean {
  const time = new Date(wallMinute * minuteMs);
  const [isDay, isWeekday] = [day.values.has(time.getUTCDate()), weekday.values.has(time.getUTCDay())];
  const isOnDay = day.isStar || weekday.isStar ? isDay && isWeekday : isDay || isWeekday;
  return (
    isOnDay &&
    minute.values.has(time.getUTCMinutes()) &&
    hour.values.has(time.getUTCHours()) &&
    month.values.has(time.getUTCMonth() + 1)
  );
}

/** The runs among these minutes. `minutes` begins before the change, where the clock shows each time once. */
function runsByOracle(of: Fields, minutes: readonly Minute[]): number[] {
  const isOfAnyHour = of.hour.values.size === 24;
  let latest = (minutes[0]?.wallMinute ?? 0) - 1;
  return minutes.flatMap(({ instant, wallMinute }) => {
    const reached = Array.from({ length: Math.max(0, wallMinute - latest) }, (_, n) => wallMinute - n);
    latest = Math.max(latest, wallMinute);
    const runs = isOfAnyHour ? isNamed(of, wallMinute) : reached.some((each) => isNamed(of, each));
    return runs ? [instant] : [];
  });
}

interface Minute {
  readonly instant: number;
  readonly wallMinute: number;
}

function minutesOf(timezone: string, from: string, hours: number): Minute[] {
  const clock = new Intl.DateTimeFormat("sv-SE", {
    timeZone: timezone,
    dateStyle: "short",
    timeStyle: "short",
  });
  return Array.from({ length: hours * 60 }, (_, index) => {
    const instant = Date.parse(from) + index * minuteMs;
    return { instant, wallMinute: Date.parse(`${clock.format(instant).replace(" ", "T")}Z`) / minuteMs };
  });
}

const changes: [timezone: string, from: string, what: string][] = [
  ["Europe/Berlin", "2026-03-28T18:00Z", "02:00 becomes 03:00"],
  ["Europe/Berlin", "2026-10-24T18:00Z", "03:00 becomes 02:00"],
  ["America/New_York", "2026-03-08T00:00Z", "02:00 becomes 03:00"],
  ["America/New_York", "2026-10-31T23:00Z", "02:00 becomes 01:00"],
  ["Australia/Lord_Howe", "2026-10-03T08:00Z", "02:00 becomes 02:30"],
  ["Australia/Lord_Howe", "2026-04-04T08:00Z", "02:00 becomes 01:30"],
  ["Africa/Cairo", "2026-04-23T15:00Z", "00:00 becomes 01:00"],
  ["Africa/Cairo", "2026-10-29T15:00Z", "00:00 becomes 23:00 of the day before"],
  ["Africa/Casablanca", "2026-02-14T18:00Z", "03:00 becomes 02:00, for Ramadan"],
  ["Africa/Casablanca", "2026-03-21T18:00Z", "02:00 becomes 03:00, after Ramadan"],
  ["America/Sao_Paulo", "2018-11-03T18:00Z", "midnight becomes 01:00"],
  ["America/Sao_Paulo", "2019-02-16T18:00Z", "midnight becomes 23:00 of the day before"],
  ["Asia/Kathmandu", "1985-12-31T10:00Z", "midnight becomes 00:15"],
  ["Pacific/Apia", "2011-12-30T00:00Z", "30 December does not come"],
  ["Pacific/Kwajalein", "1993-08-21T00:00Z", "21 August does not come"],
  ["America/St_Johns", "2006-10-28T20:00Z", "00:01 becomes 23:01 of the day before"],
  ["Antarctica/Troll", "2026-03-28T18:00Z", "01:00 becomes 03:00"],
  ["UTC", "2026-03-28T18:00Z", "nothing changes"],
];

describe("schedules run as an oracle over wall-clock minutes predicts", () => {
  for (const [timezone, from, what] of changes) {
    test(`${timezone}, where ${what}`, () => {
      const minutes = minutesOf(timezone, from, 22);
      const [before, end] = [Date.parse(from) - 1, minutes.at(-1)?.instant ?? 0];
      fc.assert(
        fc.property(fields, fc.integer({ min: 1, max: 5 }), (of, newest) => {
          const expression = [of.minute, of.hour, of.day, of.month, of.weekday]
            .map(({ text }) => text)
            .join(" ");
          const schedule = compileSchedule(expression, timezone, before);
          if (!schedule.ok) return expect(schedule.message).toMatch(/never comes true/);
          const expected = runsByOracle(of, minutes);
          // A schedule for every minute has a run at the change with this many.
          const shown = Math.min(expected.length, 550);
          const next = schedule.nextRuns(before, shown).map((run) => Date.parse(run));
          expect(next.map(iso), expression).toEqual(expected.slice(0, shown).map(iso));
          expect(schedule.runsBetween(before, end, newest), expression).toEqual(expected.slice(-newest));
        }),
        { numRuns: 20 * rounds },
      );
    });
  }

  const iso = (instant: number): string => new Date(instant).toISOString();
});
