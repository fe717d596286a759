import { expect, test } from "vitest";
import { stderrLog } from "./log.ts";

function opened() {
  const lines: string[] = [];
  const clock = { ms: 0 };
  const log = stderrLog({ write: (line) => void lines.push(line), now: () => new Date(clock.ms) });
  return { lines, clock, log };
}

test("it writes every message as one line without terminal codes", () => {
  const { lines, log } = opened();
  log.warn("one\r\ntwo \u001b]52;c;ZXZpbA==\u0007 \u009b2J \u202e", { path: "a\u001b[2Jb\nc" });
  // oxlint-disable-next-line no-control-regex -- that is what must not come out
  expect(lines.join("")).toMatch(/^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]*\n$/);
  expect(lines[0]?.indexOf("\n")).toBe((lines[0]?.length ?? 0) - 1);
});

test("a line is bounded", () => {
  const { lines, log } = opened();
  log.error("x".repeat(10_000_000), { y: "y".repeat(10_000_000) });
  expect(lines[0]?.length).toBeLessThan(10_000);
});

test("in a flood it reports the number of dropped lines, and continues afterwards", () => {
  const { lines, clock, log } = opened();
  for (let count = 0; count < 100_000; count++) log.warn("again");
  const written = lines.length;
  expect(written).toBeLessThan(1_000);
  clock.ms += 60_000;
  log.warn("afterwards");
  expect(lines.slice(written)).toEqual([
    expect.stringContaining(`${100_000 - written} lines were left out`),
    expect.stringContaining("afterwards"),
  ]);
});

test("debug is for whoever asks", () => {
  const { lines, log } = opened();
  log.debug("nothing");
  log.info("something");
  expect(lines).toHaveLength(1);
});
