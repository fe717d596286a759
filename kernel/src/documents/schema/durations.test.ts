import { expect, test } from "vitest";
import { parseDuration } from "./durations.ts";

for (const [text, ms] of [
  ["500ms", 500],
  ["10s", 10_000],
  ["1.5m", 90_000],
  ["24h", 86_400_000],
  ["30d", 2_592_000_000],
  ["0s", 0],
] as const) {
  test(`${text} is ${ms} ms`, () => expect(parseDuration(text)).toEqual({ ok: true, ms }));
}

for (const text of [
  "",
  "10",
  "s",
  "-1s",
  "1w",
  "1 h",
  "1h30m",
  "1e3s",
  "\u0661s",
  "1s\n",
  "99999999999999999999d",
  "36501d",
]) {
  test(`${JSON.stringify(text)} is not a duration`, () => expect(parseDuration(text).ok).toBe(false));
}
