import fc from "fast-check";
import { expect, test } from "vitest";
import { endOfWritten, offsetMover } from "./places.ts";

test("an offset moves with what is before it, and is behind what replaces the text around it", () => {
  const moved = (before: string, after: string, offset: number): number => offsetMover(before, after)(offset);
  expect(moved("one two", "one two three", 3)).toBe(3);
  expect(moved("one two", "zero one two", 4)).toBe(9);
  expect(moved("one two", "one, and two", 3)).toBe(3);
  expect(moved("one two", "x", 5)).toBe(1);
  expect(moved("one two three", "one 2 three", 6)).toBe(5);
});

test("offsets keep their order and stay within the text, and one before the change stays", () => {
  const text = fc.stringMatching(/^[ab\n]{0,12}$/);
  fc.assert(
    fc.property(text, text, text, text, (head, tail, old, next) => {
      const [before, after] = [head + old + tail, head + next + tail];
      const move = offsetMover(before, after);
      for (let offset = 0; offset < before.length; offset++) {
        expect(move(offset)).toBeLessThanOrEqual(move(offset + 1));
        expect(move(offset)).toBeLessThanOrEqual(after.length);
      }
      for (let offset = 0; offset <= head.length; offset++) expect(move(offset)).toBe(offset);
    }),
  );
});

test("what an editor inserted is found with any line breaks, also where it put it elsewhere", () => {
  expect(endOfWritten("x\n\ny\n\nz", "\n\ny\n\n", 1)).toBe(4);
  expect(endOfWritten("x\r\n\r\ny\r\n\r\nz", "\n\ny\n\n", 1)).toBe(6);
  expect(endOfWritten("x more\n\ny", "\n\ny\n\n", 1)).toBe(9);
  expect(endOfWritten("x\n\nz", "\n\ny\n\n", 1)).toBeNull();
});
