import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { TextDocument } from "vscode-languageserver-textdocument";
import {
  applyChange,
  applyChanges,
  type ContentChange,
  contentChangesOf,
  fromUtf16,
  LineIndex,
  maxChangeWork,
  type PositionEncoding,
  type TextPosition,
  toUtf16,
} from "./text-positions.ts";

const linesOf = (text: string): string[] => text.split(/\r\n|\n|\r/);
const position = (line: number, character: number): TextPosition => ({ line, character });
const edit = (start: TextPosition, end: TextPosition, text: string): ContentChange => ({
  range: { start, end },
  text,
});

describe("one change", () => {
  const cases: [name: string, text: string, change: ContentChange, after: string, encoding?: "utf-8"][] = [
    ["of the whole text", "a", { text: "b" }, "b"],
    ["within a line", "one\ntwo", edit(position(1, 1), position(1, 2), "W"), "one\ntWo"],
    ["across CRLF, CR and LF", "a\r\nb\rc\nd", edit(position(1, 0), position(3, 0), "-"), "a\r\n-d"],
    [
      "beyond a line's end stops before its break",
      "a\r\nb",
      edit(position(0, 9), position(0, 9), "!"),
      "a!\r\nb",
    ],
    ["beyond the last line is at the text's end", "a", edit(position(7, 0), position(9, 0), "!"), "a!"],
    ["counts units of UTF-16", "🏺x", edit(position(0, 2), position(0, 3), "y"), "🏺y"],
    ["counts bytes of UTF-8", "🏺e\u0301x", edit(position(0, 7), position(0, 8), "y"), "🏺e\u0301y", "utf-8"],
    [
      "within a character of bytes begins before it",
      "é",
      edit(position(0, 1), position(0, 1), "!"),
      "!é",
      "utf-8",
    ],
    ["may name its end first", "abc", edit(position(0, 2), position(0, 1), "-"), "a-c"],
    ["may name a later line first", "a\nb\nc", edit(position(2, 0), position(0, 9), "-"), "a-c"],
  ];
  for (const [name, text, change, after, encoding = "utf-16"] of cases)
    test(name, () => expect(applyChange(text, change, encoding)).toBe(after));
});

const unit = fc.constantFrom(
  "a",
  "b",
  "\r",
  "\n",
  "\r\n",
  "é",
  "e\u0301",
  "🏺",
  "\ud800",
  "\udffa",
  "\u2028",
);
const text = fc.array(unit, { maxLength: 20 }).map((units) => units.join(""));
const place = fc.record({
  line: fc.integer({ min: -1, max: 9 }),
  character: fc.integer({ min: -1, max: 9 }),
});
const change: fc.Arbitrary<ContentChange> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ text }) },
  { weight: 9, arbitrary: fc.record({ range: fc.record({ start: place, end: place }), text }) },
);

test("any changes leave the text that vscode-languageserver-textdocument has", () => {
  fc.assert(
    fc.property(text, fc.array(change, { maxLength: 12 }), (initial, changes) => {
      let ours = initial;
      for (const each of changes) {
        // A new reference document for each change, because its line offsets go wrong when a change names its end
        // first.
        const reference = TextDocument.create("a:b", "c", 1, ours);
        TextDocument.update(reference, [structuredClone(each)], 2);
        ours = applyChange(ours, each, "utf-16");
        expect(ours).toBe(reference.getText());
      }
    }),
    { numRuns: 2000 },
  );
});

/** In both encodings, also from the end of the text to its beginning and beside one another. */
test("changes applied together give the same text as one by one", () => {
  const backwards = fc
    .array(fc.record({ range: fc.record({ start: place, end: place }), text }), { maxLength: 8 })
    .map((changes) => changes.toSorted((one, other) => other.range.start.line - one.range.start.line));
  fc.assert(
    fc.property(
      text,
      fc.oneof(fc.array(change, { maxLength: 8 }), backwards),
      fc.constantFrom<PositionEncoding>("utf-16", "utf-8"),
      (initial, changes, encoding) => {
        const oneByOne = changes.reduce((before, each) => applyChange(before, each, encoding), initial);
        expect(applyChanges(initial, changes, encoding)).toBe(oneByOne);
      },
    ),
    { numRuns: 5000 },
  );
});

test("100,000 changes from the end of a text to its beginning share one pass", () => {
  const lines = 100_000;
  const before = "ab\n".repeat(lines);
  const changes = Array.from({ length: lines }, (_, index) => {
    const line = lines - 1 - index;
    return edit(position(line, 1), position(line, 2), "c");
  });
  expect(applyChanges(before, changes, "utf-16", maxChangeWork)).toBe("ac\n".repeat(lines));
});

test("changes that would read too many characters are not applied", () => {
  const text = "\n".repeat(1000);
  const forwards = Array.from({ length: 10 }, (_, line) => edit(position(line, 0), position(line, 0), "x"));
  expect(applyChanges(text, forwards, "utf-16", 50_000)).toBeNull();
  expect(applyChanges(text, forwards, "utf-16", 500_000)).toBe("x\n".repeat(10) + "\n".repeat(990));
  const longLine = "x".repeat(1000);
  const bytes = Array.from({ length: 10 }, (_, at) =>
    edit(position(0, 900 - at), position(0, 900 - at), "y"),
  );
  expect(applyChanges(longLine, bytes, "utf-8", 5000)).toBeNull();
});

test("a line is found by its number in any order, and the text is read no further than needed", () => {
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: -1, max: 30 })), (whole, numbers) => {
      const index = new LineIndex(whole);
      const lines = linesOf(whole);
      for (const number of numbers) expect(index.lineAt(number)).toBe(lines[number]);
    }),
  );
  const long = Array.from({ length: 2000 }, (_, line) => `${line}\r\n`).join("");
  const index = new LineIndex(long);
  for (const line of [700, 3, 1999, 255, 256, 257, 512]) expect(index.lineAt(line)).toBe(`${line}`);
  expect(index.lineAt(2000)).toBe("");
  expect(index.lineAt(2001)).toBeUndefined();
  const looked = vi.spyOn(String.prototype, "charCodeAt");
  try {
    expect(new LineIndex("\n".repeat(100_000)).lineAt(10)).toBe("");
    expect(looked.mock.calls.length).toBeLessThan(100);
  } finally {
    looked.mockRestore();
  }
});

test("any offset within a line is the same after UTF-8 and back, and counts the bytes before it", () => {
  fc.assert(
    fc.property(text, (whole) => {
      for (const line of linesOf(whole)) {
        let units = 0;
        for (const character of ["", ...Array.from(line)]) {
          units += character.length;
          const bytes = fromUtf16(line, units, "utf-8");
          expect(bytes).toBe(Buffer.byteLength(line.slice(0, units), "utf8"));
          expect(toUtf16(line, bytes, "utf-8")).toBe(units);
        }
        expect(toUtf16(line, 1000, "utf-8")).toBe(line.length);
      }
    }),
  );
});

test("malformed changes are rejected", () => {
  const range = { start: position(0, 0), end: position(0, 1) };
  expect(contentChangesOf({ contentChanges: [{ text: "a" }, { range, text: "b" }] })).toHaveLength(2);
  for (const wrong of [
    7,
    {},
    { text: 7 },
    { range: {}, text: "" },
    { range: { start: range.start }, text: "" },
  ])
    expect(contentChangesOf({ contentChanges: [{ text: "a" }, wrong] })).toBeNull();
  for (const wrong of [null, {}, { contentChanges: {} }]) expect(contentChangesOf(wrong)).toBeNull();
});
