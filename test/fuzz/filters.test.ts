import fc from "fast-check";
import { afterAll, expect } from "vitest";
import type { Entry } from "../../kernel/src/base/vocabulary/entry.ts";
import type { LaresEvent } from "../../kernel/src/base/vocabulary/event.ts";
import { compileFilter, type CompiledFilter } from "../../kernel/src/events/filter.ts";
import { fuzz } from "./support/campaign.ts";

const target = "filters";

/**
 * The limit for any accepted filter over any event, as a multiple of a reference that spends the whole budget on the
 * cheapest steps. Both are measured in the same run, the best of several.
 */
const maxTimesReference = 60;

const scope = { inGrantedScope: (path: string) => path.length % 2 === 0 };
const base = { id: "0191", timestamp: "2026-06-01T00:00:00.000Z" };
const reference = "items.exists(a, items.exists(b, a + b == -1.0))";
const worst = { ratio: 0, source: "", size: 0 };
afterAll(() => {
  if (worst.ratio === 0) return;
  console.log(
    `${target}: the worst accepted took ${worst.ratio.toFixed(1)} × the reference: ${worst.source}`,
  );
});

/** As large as an event can be: its JSON has at most a mebibyte. */
function eventOf(size: number, letters: string): LaresEvent {
  const text = letters.repeat(Math.ceil((size * 300_000) / letters.length));
  const count = size * 300;
  return {
    ...base,
    name: "com.example.a/Seen",
    text,
    items: Array.from({ length: count * 10 }, (_, index) => index),
    words: Array.from({ length: count }, (_, index) => `${letters}${index}`.repeat(8)),
    deep: { list: Array.from({ length: count }, (_, index) => ({ n: index, text: letters })) },
  };
}

const bestOf = (times: number, run: () => void): number =>
  Math.min(
    ...Array.from({ length: times }, () => {
      const start = performance.now();
      run();
      return performance.now() - start;
    }),
  );

let referenceMs = 0;
function referenceTime(): number {
  if (referenceMs > 0) return referenceMs;
  const filter = compileFilter(reference, "com.example.a/Seen") as CompiledFilter;
  // Few items: all of the time is spent on steps, none on measuring a large list.
  const event = {
    ...base,
    name: "com.example.a/Seen",
    items: Array.from({ length: 150 }, (_, index) => index),
  };
  expect(filter.explain(event, scope).reason).toMatch(/more than 100000 steps/);
  referenceMs = bestOf(8, () => filter.evaluate(event, scope));
  return referenceMs;
}

const pattern = fc.letrec<{ regex: string }>((tie) => ({
  regex: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("a", "b", "[ab]", ".", "x", "\\\\pL", "$", "^", "\\\\b", ""),
    fc
      .tuple(tie("regex"), fc.constantFrom("*", "+", "?", "{1,9}", "{30}", "{0,99}", "*?"))
      .map(([one, times]) => `(${one})${times}`),
    fc.tuple(tie("regex"), tie("regex")).map(([one, other]) => `(?:${one}|${other})`),
    fc.tuple(tie("regex"), tie("regex")).map(([one, other]) => one + other),
  ),
})).regex;

const expression = fc.letrec<{ bool: string; text: string; list: string; number: string }>((tie) => ({
  bool: fc.oneof(
    { depthSize: "medium" },
    fc.constantFrom("true", "false", "has(event.text)", "has(event.none)"),
    fc
      .tuple(tie("bool"), fc.constantFrom("&&", "||", "=="), tie("bool"))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    tie("bool").map((one) => `!(${one})`),
    fc
      .tuple(
        tie("list"),
        fc.constantFrom("exists", "all", "exists_one"),
        fc.constantFrom("x", "y"),
        tie("bool"),
      )
      .map(([list, macro, name, body]) => `${list}.${macro}(${name}, ${body})`),
    fc
      .tuple(tie("text"), fc.constantFrom("contains", "startsWith", "endsWith"), tie("text"))
      .map(([a, method, b]) => `${a}.${method}(${b})`),
    fc.tuple(tie("text"), pattern).map(([text, regex]) => `${text}.matches("${regex}")`),
    fc
      .tuple(tie("text"), fc.constantFrom("==", "<", "!="), tie("text"))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc
      .tuple(tie("number"), fc.constantFrom("==", "<", ">="), tie("number"))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie("list"), fc.constantFrom("==", "!="), tie("list")).map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie("text"), tie("list")).map(([text, list]) => `${text} in ${list}`),
    fc.tuple(tie("bool"), tie("bool"), tie("bool")).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
  ),
  text: fc.oneof(
    { depthSize: "medium" },
    fc.constantFrom("text", "x", "y", "'a'", "''", "words[0]", "name", "deep.list[0].text"),
    fc.tuple(tie("text"), tie("text")).map(([a, b]) => `(${a} + ${b})`),
    fc
      .tuple(
        tie("text"),
        fc.constantFrom("lowerAscii()", "upperAscii()", "trim()", "substring(1)", "substring(0, 9)"),
      )
      .map(([a, method]) => `${a}.${method}`),
    tie("list").map((list) => `${list}.join(',')`),
    fc.tuple(tie("text"), tie("text")).map(([a, b]) => `cel.bind(y, ${a}, ${b})`),
  ),
  list: fc.oneof(
    { depthSize: "medium" },
    fc.constantFrom("items", "words", "deep.list", "[]", "['a', 'b']", "[1.0, 2.0]"),
    fc
      .tuple(tie("list"), fc.constantFrom("x", "y"), tie("text"))
      .map(([list, name, body]) => `${list}.map(${name}, ${body})`),
    fc
      .tuple(tie("list"), fc.constantFrom("x", "y"), tie("bool"))
      .map(([list, name, body]) => `${list}.filter(${name}, ${body})`),
    fc.tuple(tie("list"), tie("list")).map(([a, b]) => `(${a} + ${b})`),
    fc
      .tuple(tie("text"), fc.constantFrom("''", "'a'", "','"))
      .map(([text, separator]) => `${text}.split(${separator})`),
  ),
  number: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("1", "0.5", "items[0]", "x"),
    tie("list").map((list) => `size(${list})`),
    tie("text").map((text) => `size(${text})`),
    fc.tuple(tie("text"), tie("text")).map(([a, b]) => `${a}.indexOf(${b})`),
    fc
      .tuple(tie("number"), fc.constantFrom("+", "*", "/", "%"), tie("number"))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
  ),
})).bool;

const events = new Map<string, LaresEvent>();

fuzz({
  target,
  property: "no accepted filter takes longer than its bound, whatever the event, and none throws",
  arbitrary: fc.record({
    source: expression,
    size: fc.constantFrom(0.01, 0.1, 1),
    letters: fc.constantFrom("a", "ab", "b", "x", "aab"),
  }),
  runs: 250,
  check: ({ source, size, letters }) => {
    const filter = compileFilter(source, "com.example.a/Seen");
    if (!filter.ok) {
      expect(filter.message.length).toBeGreaterThan(10);
      expect(filter.offset + filter.length).toBeLessThanOrEqual(source.length);
      return;
    }
    const key = `${size} ${letters}`;
    const event = events.get(key) ?? eventOf(size, letters);
    events.set(key, event);
    const limit = referenceTime() * maxTimesReference;
    const run = (): void => void filter.explain(event, scope);
    let taken = bestOf(1, run);
    // A busy machine is not the filter's fault.
    for (let again = 0; again < 4 && taken > limit; again++) taken = Math.min(taken, bestOf(2, run));
    const ratio = taken / referenceTime();
    if (ratio > worst.ratio && bestOf(2, run) / referenceTime() > worst.ratio)
      Object.assign(worst, { ratio: bestOf(2, run) / referenceTime(), source: source.slice(0, 200), size });
    expect(taken, `milliseconds, of ${limit} allowed`).toBeLessThanOrEqual(limit);
  },
});

const entry: Entry = {
  id: "0190",
  path: "photos/beach.jpg",
  name: "beach.jpg",
  kind: "file",
  media: "image",
  extension: "jpg",
  mime: "image/jpeg",
  size: 2_000_000,
  created: base.timestamp,
  modified: base.timestamp,
  content_id: null,
  tags: ["a", "b"],
  fields: { photos: { rating: 4 } },
  sidecars: [],
  location: "photos",
};
const piece = fc.constantFrom(
  ...[
    ["entry", "entry.name", "entry.tags", "location", "x", "1", "'a'", "[", "]", "(", ")", "{", "}"],
    [".", ",", ":", "?", "&&", "||", "!", "==", "in", "+", "-", "exists", "map", "matches", "has", "size"],
    [" ", "\n", '"', "'", "r'", "\\", "ctx", "is_image", "in_granted_scope", "cel.bind", "é", "\ud800", "//"],
  ].flat(),
);

fuzz({
  target,
  property: "no text makes compiling throw, a fault lies in the text, and a fix can be applied",
  arbitrary: fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
    expression.map((source) => source.replaceAll("text", "entry.name").replaceAll("words", "entry.tags")),
  ),
  runs: 2500,
  check: (source) => {
    const event: LaresEvent = { ...base, name: "EntryCreated", entry, location: "." };
    const filter = compileFilter(source, "EntryCreated");
    if (filter.ok) {
      const first = filter.explain(event, scope);
      expect(filter.explain(event, scope), "the same event gets the same answer").toEqual(first);
      return;
    }
    for (const { offset, length } of [filter, ...(filter.fix?.edits ?? [])]) {
      expect(offset).toBeGreaterThanOrEqual(0);
      expect(length).toBeGreaterThanOrEqual(0);
      expect(offset + length).toBeLessThanOrEqual(source.length);
    }
  },
});
