import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";
import { StderrMeter } from "./stderr-meter.ts";
import { hostBounds } from "./bounds.ts";

/** Yields the bytes, cut at these positions. */
function* pieces(bytes: Uint8Array, cuts: readonly number[]): Generator<Uint8Array> {
  let start = 0;
  for (const cut of cuts.map((at) => at % (bytes.length + 1)).toSorted((a, b) => a - b)) {
    yield bytes.slice(start, cut);
    start = cut;
  }
  yield bytes.slice(start);
}

test("lines are unchanged for every way to cut the stream", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.nat(500)), (texts, cuts) => {
      const lines = texts.map((text) => text.replaceAll(/[\n\uFEFF]/g, ""));
      const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
      const splitter = new LineSplitter(10_000);
      const received = [...pieces(bytes, cuts)].flatMap((piece) => splitter.push(piece) ?? ["too long"]);
      expect(received).toEqual(lines);
    }),
  );
});

test.each<[string, number, boolean]>([
  ["exactly the bound", 100, false],
  ["one byte over it", 101, true],
])(
  "a line of %s, with or without a newline, alone or among others, in one chunk or many",
  (_name, length, isTooLong) => {
    const line = "x".repeat(length);
    for (const text of [
      line,
      `${line}\n`,
      `a\n${line}\n`,
      `a\n${line}\nb\n`,
      `a\n${line}`,
      `ä\n${"ä".repeat(10)}\n${line}\n`,
    ]) {
      for (const size of [1, 7, 64, 1000]) {
        const bytes = new TextEncoder().encode(text);
        const splitter = new LineSplitter(100);
        let refused = false;
        for (let at = 0; at < bytes.length && !refused; at += size)
          refused = splitter.push(bytes.slice(at, at + size)) === null;
        expect([text.slice(0, 20), size, refused]).toEqual([text.slice(0, 20), size, isTooLong]);
      }
    }
  },
);

test("stderr is bounded per second, the dropped bytes are reported once, and reading pauses at the higher bound", () => {
  const texts: string[] = [];
  const meter = new StderrMeter((text) => texts.push(text));
  const chunk = new Uint8Array(hostBounds.maxStderrBytesPerSecond).fill(0x78);
  expect(meter.take(chunk, 0)).toBe(0);
  let waitMs = 0;
  let count = 1;
  for (; waitMs === 0; count++) waitMs = meter.take(chunk, 400);
  expect([waitMs, count * chunk.length]).toEqual([600, hostBounds.maxStderrReadBytesPerSecond]);
  meter.take(new Uint8Array([0x79]), 1000);
  expect(texts.map((text) => text.slice(0, 16))).toEqual([
    "x".repeat(16),
    `\n… ${(count - 1) * chunk.length} bytes `.slice(0, 16),
    "y",
  ]);
});
