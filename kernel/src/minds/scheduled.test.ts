import { expect, test } from "vitest";
import { isActive } from "./scheduled.ts";

const at = (time: string): number => Date.parse(`2026-07-01T${time}:00Z`);
const day = { fromMinutes: 8 * 60, untilMinutes: 20 * 60 };
const night = { fromMinutes: 22 * 60, untilMinutes: 6 * 60 };

test("without hours a schedule may always speak", () => {
  expect(isActive({ timezone: "UTC" }, at("03:00"))).toBe(true);
});

test("hours are those of the schedule's time zone; the end is not included", () => {
  expect(isActive({ activeHours: day, timezone: "UTC" }, at("07:59"))).toBe(false);
  expect(isActive({ activeHours: day, timezone: "UTC" }, at("08:00"))).toBe(true);
  expect(isActive({ activeHours: day, timezone: "UTC" }, at("20:00"))).toBe(false);
  // Summer time: two hours ahead.
  expect(isActive({ activeHours: day, timezone: "Europe/Berlin" }, at("06:00"))).toBe(true);
  expect(isActive({ activeHours: day, timezone: "Europe/Berlin" }, at("18:00"))).toBe(false);
});

test("hours may go over midnight", () => {
  expect(isActive({ activeHours: night, timezone: "UTC" }, at("23:00"))).toBe(true);
  expect(isActive({ activeHours: night, timezone: "UTC" }, at("05:59"))).toBe(true);
  expect(isActive({ activeHours: night, timezone: "UTC" }, at("12:00"))).toBe(false);
});
