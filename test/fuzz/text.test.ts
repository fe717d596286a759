import { createHash } from "node:crypto";
import { applyPatch } from "diff";
import fc from "fast-check";
import { expect } from "vitest";
import { applyEdits, textOf, unifiedDiff } from "../../kernel/src/actions/text.ts";
import { canonicalJson } from "../../kernel/src/base/json.ts";
import { isLaresError } from "../../kernel/src/base/errors.ts";
import { plainLine, plainText } from "../../kernel/src/base/plain-text.ts";
import { compileSchedule } from "../../kernel/src/events/cron.ts";
import { fuzz } from "./support/campaign.ts";

const target = "text";
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const trouble = fc.constantFrom(
  ...[
    [
      "\u001b[2J",
      "\u009b",
      "\r",
      "\u0000",
      "\u007f",
      "\u0085",
      "\u2028",
      "\u202e",
      "\u2066",
      "\u200b",
      "\ufeff",
      "\u00a0",
    ],
    [
      "\u{e0041}",
      "\u{e0100}",
      "\u034f",
      "\u180e",
      "\u3164",
      "\ud800",
      "\udc00",
      "👩‍👧",
      "❤️",
      "नि",
      "\n",
      "\t",
      "  ",
      " \n ",
    ],
    ["\u{1d173}", "\u{1bca0}", "\ufff0", "\u17b4", "\u115f", "\u061c", "\u206a", "\u00ad", "<U+202E>"],
  ].flat(),
);
const anyText = fc
  .array(
    fc.oneof(
      trouble,
      fc.string({ unit: "binary", maxLength: 4 }),
      fc.string({ unit: "grapheme", maxLength: 4 }),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(""));

/**
 * Characters that control a terminal, reorder text, or are invisible; joiners and emoji's variation selectors are
 * needed.
 */
const harmful = /[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Cs}]/gu;
const needed = /^(?:[\n\t]|\u200c|\u200d|[\u{fe00}-\u{fe0f}]|[\u{180b}-\u{180d}\u{180f}])$/u;

fuzz({
  target,
  property:
    "nothing that is obeyed, reorders or hides comes out as plain text, and a second time changes nothing",
  arbitrary: anyText,
  runs: 3000,
  check: (text) => {
    const plain = plainText(text);
    expect((plain.match(harmful) ?? []).filter((character) => !needed.test(character))).toEqual([]);
    expect(plainText(plain)).toBe(plain);
    const line = plainLine(text);
    expect(
      (line.match(harmful) ?? []).filter((character) => !needed.test(character) || /[\n\t]/.test(character)),
    ).toEqual([]);
    expect(plainLine(line)).toBe(line);
  },
});

const lines = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "a",
        "b",
        "",
        "a\r",
        "+a",
        "-b",
        "@@ -1 +1 @@",
        "\\ No newline at end of file",
        "--- x",
        "+++ y",
        "ü",
        "\ufeff",
        "\u2028",
      ),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 14 },
  )
  .map((all) => all.join("\n").replaceAll("\0", ""));

fuzz({
  target,
  property:
    "a diff makes the one text of the other, and edits are what they say: the hash after is what is applied",
  arbitrary: fc.record({
    before: lines,
    after: lines,
    edits: fc.array(
      fc.record({
        find: fc.oneof(
          fc.constantFrom("a", "b", "\n", "$&", "a\n"),
          fc.string({ minLength: 1, maxLength: 3 }),
        ),
        replace: fc.oneof(fc.constantFrom("", "$&", "$1", "a", "\n"), lines),
        all: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
    pieces: fc.array(fc.nat(), { maxLength: 3 }),
  }),
  runs: 600,
  check: ({ before, after, edits, pieces }) => {
    const diff = unifiedDiff({ before: "f", after: "f" }, bytes(before), bytes(after));
    expect(diff === undefined ? undefined : applyPatch(before, diff)).toBe(after);
    // Search texts taken from the text itself, so that edits apply.
    const real = [
      ...pieces
        .map((at) => ({
          find: before.slice(at % (before.length + 1)).slice(0, 4),
          replace: "<new>",
          all: true,
        }))
        .filter(({ find }) => find !== ""),
      ...edits,
    ];
    // Files are UTF-8, so half of a surrogate pair is in none of them, and no edit may name one.
    let expected: string | null = before.toWellFormed();
    for (const { find, replace, all } of real) {
      if (expected === null) break;
      const count: number = expected.split(find).length - 1;
      const applies = find.isWellFormed() && replace.isWellFormed() && (count === 1 || (count > 1 && all));
      expected = applies ? expected.replaceAll(find, () => replace) : null;
    }
    let edited: string | null = null;
    try {
      edited = new TextDecoder("utf-8", { ignoreBOM: true }).decode(applyEdits("f", bytes(before), real));
    } catch (error) {
      expect(isLaresError(error, "InvalidParams")).toBe(true);
    }
    expect(edited).toBe(expected);
    if (edited !== null && edited.isWellFormed() && !edited.includes("\0"))
      expect(textOf(bytes(edited))).toBe(edited);
  },
});

const json = fc.jsonValue({ maxDepth: 4 });

/** The same value, its objects' keys in another order. */
function shuffled(value: unknown, turn: number): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, turn));
  if (typeof value !== "object" || value === null) return value;
  const pairs = Object.entries(value).map(([key, item]) => [key, shuffled(item, turn)] as const);
  const at = pairs.length === 0 ? 0 : turn % pairs.length;
  return Object.fromEntries([...pairs.slice(at), ...pairs.slice(0, at)].toReversed());
}

const digest = (value: unknown): string => createHash("sha256").update(canonicalJson(value)).digest("hex");

fuzz({
  target,
  property:
    "canonical JSON says the same of a value in any order of keys, and different things of different values",
  arbitrary: fc.record({ one: json, other: json, turn: fc.nat(7) }),
  runs: 1000,
  check: ({ one, other, turn }) => {
    const plain: unknown = JSON.parse(JSON.stringify(one));
    if (!JSON.stringify(plain).isWellFormed()) return;
    expect(JSON.parse(canonicalJson(plain))).toEqual(plain);
    expect(digest(shuffled(plain, turn))).toBe(digest(plain));
    const [text, otherText] = [canonicalJson(plain), canonicalJson(JSON.parse(JSON.stringify(other)))];
    expect(text === otherText).toBe(canonicalJson(JSON.parse(otherText)) === canonicalJson(JSON.parse(text)));
    expect(canonicalJson(JSON.parse(text))).toBe(text);
  },
});

const field = (low: number, high: number): fc.Arbitrary<string> => {
  const number = fc.integer({ min: low - 1, max: high + 1 });
  return fc.oneof(
    fc.constantFrom("*", "*/5", "?", "L", "1-3", "JAN", "MON#2", "5L", "W", "*/0", "1,2", "-", "LW", "31"),
    number.map(String),
    fc.tuple(number, number).map(([from, to]) => `${from}-${to}`),
    fc.tuple(number, number, fc.nat(70)).map(([from, to, step]) => `${from}-${to}/${step}`),
  );
};
const cron = fc.oneof(
  fc.tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7)).map((all) => all.join(" ")),
  fc
    .tuple(field(0, 59), field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))
    .map((all) => all.join(" ")),
  fc.constantFrom("@daily", "@hourly", "@yearly", "0 0 29 2 1", "0 0 30 2 *", "0 0 31 4,6 *", "30 2 * * *"),
  fc.string({ maxLength: 20 }),
);

fuzz({
  target,
  property: "a schedule's next run is strictly later, each after the one before, and searching ends",
  arbitrary: fc.record({
    expression: cron,
    timezone: fc.constantFrom(
      "UTC",
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Pacific/Apia",
      "Asia/Kathmandu",
    ),
    now: fc.oneof(
      fc.integer({ min: 0, max: 4_102_444_800_000 }),
      fc.constantFrom(1774746000000, 1792893600000, 1774745999999),
    ),
  }),
  runs: 200,
  check: ({ expression, timezone, now }) => {
    const schedule = compileSchedule(expression, timezone, now);
    if (!schedule.ok) {
      expect(schedule.message.length).toBeGreaterThan(10);
      return;
    }
    const runs = schedule.nextRuns(now, 4).map((run) => Date.parse(run));
    expect(runs.length).toBeGreaterThan(0);
    let before = now;
    for (const run of runs) {
      expect(run).toBeGreaterThan(before);
      // From any moment between two runs, the next run is the same.
      expect(Date.parse(schedule.nextRuns(before + Math.floor((run - before) / 2), 1)[0] ?? "")).toBe(run);
      before = run;
    }
  },
});
