import { expect, test } from "vitest";
import { Lines } from "./diagnostics.ts";

test("lines end as editors have it: with a carriage return, a line feed, or both", () => {
  const lines = new Lines("a\nb\rc\r\nd\r\n");
  const starts = [0, 2, 4, 7, 10];
  for (const [line, offset] of starts.entries()) {
    expect(lines.position(offset)).toEqual({ line, character: 0 });
    expect(lines.offset({ line, character: 0 })).toBe(offset);
  }
});

test("no range ends within or beyond a line end", () => {
  const lines = new Lines("ab\r\ncd");
  expect(lines.position(3)).toEqual({ line: 0, character: 2 });
  expect(lines.offset({ line: 0, character: 3 })).toBe(2);
  expect(lines.offset({ line: 1, character: 9 })).toBe(6);
  expect(lines.offset({ line: 9, character: 0 })).toBe(6);
  expect(lines.range(1, 3)).toEqual({ start: { line: 0, character: 1 }, end: { line: 0, character: 2 } });
});
