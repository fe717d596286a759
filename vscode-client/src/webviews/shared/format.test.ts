import { describe, expect, it } from "vitest";
import { ago, counted, dayName } from "./format.ts";
import { localTime } from "./local-time.ts";

const nowMs = Date.parse("2026-03-01T12:00:00Z");

describe("times and sizes in words", () => {
  it.each([
    ["2026-03-01T11:59:40Z", "just now"],
    ["2026-03-01T11:58:00Z", "2 minutes ago"],
    ["2026-02-28T11:00:00Z", "yesterday"],
    ["2026-03-01T13:00:00Z", "in 1 hour"],
    ["no time", "no time"],
  ])("%s is %s", (iso, words) => expect(ago(iso, nowMs)).toBe(words));

  it("counts", () => {
    expect(counted(1, "event")).toBe("1 event");
    expect(counted(12_345, "entry", "entries")).toBe("12,345 entries");
    expect(dayName("2026-03-01")).toBe("Sun, Mar 1");
    expect(dayName("never")).toBe("never");
    expect(localTime("never")).toBe("never");
  });
});
