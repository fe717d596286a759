import fc from "fast-check";
import process from "node:process";
import { afterEach, describe, expect, test } from "vitest";
import type { Entry } from "../base/vocabulary/entry.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import { compileFilter, type CompiledFilter } from "./filter.ts";
import type { FilterFault } from "./faults.ts";

const entry: Entry = {
  id: "0190",
  path: "photos/summer/beach.jpg",
  name: "beach.jpg",
  kind: "file",
  media: "image",
  extension: "jpg",
  mime: "image/jpeg",
  size: 2_000_000,
  created: "2026-01-01T00:00:00.000Z",
  modified: "2026-06-01T00:00:00.000Z",
  content_id: null,
  tags: ["holiday", "#person:Ann"],
  fields: { photos: { rating: 4, place: "Rome", done: true } },
  sidecars: ["faces"],
  location: "photos",
};
const stamp = { id: "0191", timestamp: "2026-06-01T00:00:00.000Z" };
const created: LaresEvent = { ...stamp, name: "EntryCreated", entry, location: "photos" };
const custom: LaresEvent = {
  ...stamp,
  name: "com.example.a/Seen",
  person: "Ann",
  type: "portrait",
  count: 5,
  deep: { list: [1, 2] },
};
const everywhere = { inGrantedScope: () => true };

function compiled(source: string, eventName: string): CompiledFilter {
  const filter = compileFilter(source, eventName);
  if (!filter.ok) throw new Error(`${source}: ${filter.message}`);
  return filter;
}

function refused(source: string, eventName: string): FilterFault {
  const filter = compileFilter(source, eventName);
  if (filter.ok) throw new Error(`${source} compiled`);
  return filter;
}

describe("the result of a filter for an event", () => {
  const cases: [source: string, event: LaresEvent, matches: boolean][] = [
    ["entry.isImage() && inGrantedScope(entry.path)", created, true],
    ["entry.isVideo() || entry.isAudio() || entry.isDocument() || entry.isText()", created, false],
    ["entry.size > 1000000 && entry.size < 2e6 + 1.0", created, true],
    ['entry.extension in ["jpg", "png"]', created, true],
    [
      'entry.name.startsWith("beach") && entry.name.starts_with("be") && entry.path.ends_with(".jpg")',
      created,
      true,
    ],
    ['entry.path.matches("^photos/.*\\\\.jpe?g$")', created, true],
    ["entry.path.matches(r'summer')", created, true],
    ['entry.tags.exists(t, t.startsWith("#person:"))', created, true],
    ['"holiday" in entry.tags && size(entry.tags) == 2', created, true],
    ["entry.content_id == null", created, true],
    ['entry.fields.photos.rating >= 4 && entry.fields["photos"].place == "Rome"', created, true],
    ["entry.fields.photos.done", created, true],
    ["has(entry.fields.music)", created, false],
    ['timestamp(entry.modified) > timestamp("2026-05-01T00:00:00Z")', created, true],
    ['location == "photos" && name == "EntryCreated"', created, true],
    ['person == "Ann" && count >= 5 && deep.list[1] == 2', custom, true],
    // An event's numbers are doubles, and whole numbers in a filter are ints.
    ["event.count % 2 == 1 && count % 2 != 0 && 12 % count == 2", custom, true],
    ["count + 1 == 6 && 1 + count == 6 && count - 1 < 5 && 10 - count == 5", custom, true],
    ["count * 2 == 10 && 2 * count > 9 && count / 2 == 2.5 && 10 / count == 2", custom, true],
    ["count in [4, 5] && 5 in [count] && -count == -5 && int(count) == 5", custom, true],
    ["deep.list.exists(x, x % 2 == 0) && deep.list[count - 4] == 2", custom, true],
    ["deep.list.map(x, x + count) == [6, 7] && deep.list == [1, 2]", custom, true],
    ["entry.fields.photos.rating % 2 == 0 && entry.fields.photos.rating + 1 == 5", created, true],
    ["entry.size % 2 == 0 && entry.size * 1.5 == 3000000.0 && entry.size / 3 == 666666", created, true],
    [
      'int(timestamp(entry.created)) == 1767225600 && int(timestamp("1969-12-31T23:59:59.5Z")) == -1',
      created,
      true,
    ],
    ['string(timestamp(entry.created)) == "2026-01-01T00:00:00Z"', created, true],
    // What cel-js answers otherwise than the specification, or refuses.
    [
      "[].all(e, e > 0) && !{}.exists(k, k == 1) && [].map(e, e + 1) == [] && [].filter(e, e < 1) == []",
      custom,
      true,
    ],
    [
      "[[]].all(list, list.all(e, e > 0)) && [] + [1] == [1] && size([]) == 0 && [] != deep.list",
      custom,
      true,
    ],
    ["dyn(3u) in [5, 4, 3] && 5u in [count] && count in [1u, 5u] && !(6u in [count])", custom, true],
    [
      "[1.0, 2.0, 3] == [1u, 2, 3u] && [[1]] == dyn([[1.0]]) && {'a': [1u]} == dyn({'a': [1.0]})",
      custom,
      true,
    ],
    ["[1] != dyn([2.0]) && dyn([1]) != dyn({'a': 1}) && null in [null] && int(3u) == 3", custom, true],
    ["person != 1 && !(count in ['a']) && deep == {'list': [1, 2]} && deep != {'list': [1]}", custom, true],
    ['string(duration("90m")) == "5400s" && string(duration("-1.5s")) == "-1.5s"', custom, true],
    [
      'string(duration("1500ms") - duration("2s")) == "-0.5s" && string(duration("0s")) == "0s"',
      custom,
      true,
    ],
    [
      'duration("1h") + timestamp(entry.created) == timestamp("2026-01-01T01:00:00Z") && timestamp(timestamp(entry.created)) < timestamp(entry.modified)',
      created,
      true,
    ],
    ['duration(duration("1h")) + duration("1m") == duration("61m")', created, true],
    ['timestamp(entry.modified).getHours("02:00") == 2', created, true],
    ['timestamp(entry.modified).getHours("Asia/Kathmandu") == 5', created, true],
    ['duration("90m").getHours() == 1 && timestamp(entry.modified).getMonth() == 5', created, true],
    // Names that CEL keeps for its types are reached through the event.
    ['event.type == "portrait" && has(event.person) && !has(event.place)', custom, true],
    ['person.matches("^A") && name.endsWith("/Seen")', custom, true],
    [
      '"entry" in changed_fields || "size" in changed_fields',
      { ...stamp, name: "EntryModified", entry, changed_fields: ["size"] },
      true,
    ],
    [
      "entries_processed > 10 && duration_ms < 1000",
      { ...stamp, name: "IndexComplete", location: ".", entries_processed: 11, duration_ms: 5.7 },
      true,
    ],
  ];
  for (const [source, event, matches] of cases) {
    test(source, () => {
      expect(compiled(source, event.name).explain(event, everywhere)).toEqual({ matches });
    });
  }

  describe("does not depend on the time zone of this computer", () => {
    const before = process.env["TZ"];
    afterEach(() => {
      if (before === undefined) delete process.env["TZ"];
      else process.env["TZ"] = before;
    });
    const cases = [
      'timestamp("2026-07-01T00:00:00Z").getDayOfYear() == 181',
      'timestamp("2026-01-01T00:00:00Z").getDayOfYear() == 0',
      'timestamp("2026-07-01T00:00:00Z").getDayOfYear("Europe/Berlin") == 181',
      // Berlin's clock does not show this time.
      'timestamp("2026-03-29T02:30:00Z").getHours("UTC") == 2',
      'timestamp("2026-03-29T02:30:00Z").getMinutes("UTC") == 30',
    ];
    for (const timezone of ["Europe/Berlin", "UTC", "Pacific/Apia"])
      for (const source of cases)
        test(`${source} in ${timezone}`, () => {
          process.env["TZ"] = timezone;
          expect(compiled(source, "EntryCreated").explain(created, everywhere)).toEqual({ matches: true });
        });
  });

  test("inGrantedScope asks the scope of this evaluation", () => {
    const filter = compiled("inGrantedScope(entry.path)", "EntryCreated");
    const asked: string[] = [];
    const scope = { inGrantedScope: (path: string) => asked.push(path) > 1 };
    expect([filter.evaluate(created, scope), filter.evaluate(created, scope)]).toEqual([false, true]);
    expect(asked).toEqual([entry.path, entry.path]);
  });
});

describe("invalid filters, with their places", () => {
  const cases: [source: string, at: string, message: RegExp, eventName?: string][] = [
    ['entry.nme == "x"', "nme", /no field "nme"; did you mean "name"\?/],
    ["entry.isImge()", "isImge", /no method "isImge"; did you mean "isImage"\?/],
    [
      "entry.size + 'x' == 2",
      "entry.size + 'x'",
      /int \+ string is not possible; both sides .* fitting types/,
    ],
    [
      "inGrantdScope(entry.path)",
      "inGrantdScope",
      /no function "inGrantdScope"; did you mean "inGrantedScope"\?/,
    ],
    ["inGrantedScope(entry.size)", "inGrantedScope", /it is inGrantedScope\(string\): bool/],
    ["entry.name.startsWith(1)", "startsWith", /string\.startsWith\(string\): bool/],
    ["entry.name.matchs('a')", "matchs", /did you mean "matches"/],
    ["entry.size.matches('a')", "matches", /string\.matches\(string\): bool/],
    ["entri.isImage()", "entri", /no field "entri"; did you mean "entry"\?/],
    ["zzz == 1", "zzz", /EntryCreated has no field "zzz"; it has entry, location/],
    ["entry.size", "entry.size", /answers true or false; this one is of type int/],
    ["entry.isImage() && (", "", /ends where more is expected/],
    ['entry.name == "x', '"x', /Unterminated string/],
    ["entry.isImage() entry", "entry", /Expected EOF|Unexpected/i],
    ['entry.name.matches("(")', '"("', /RE2's syntax/],
    ['entry.name.matches("(?=x)")', '"(?=x)"', /RE2's syntax/],
    ["entry.name.matches(entry.path)", "entry.path", /literal string/],
    [`entry.name.matches("${"a".repeat(513)}")`, `"${"a".repeat(513)}"`, /513 characters/],
    ["entry.isImage()", "entry", /EntryDeleted has no field "entry"/, "EntryDeleted"],
    ["true", "true", /no event "NoSuchEvent"/, "NoSuchEvent"],
    ["  ", "  ", /is empty/],
    ['entry.tags.exists(t, t == "\u00e9") && entry.nme == ""', "nme", /did you mean "name"/],
  ];
  for (const [source, at, message, eventName] of cases) {
    test(source.slice(0, 60), () => {
      const fault = refused(source, eventName ?? "EntryCreated");
      expect(fault.message).toMatch(message);
      expect(source.slice(fault.offset, fault.offset + fault.length)).toBe(at);
    });
  }

  test("a fix that follows a suggestion makes the filter right", () => {
    for (const source of [
      'entry.nme == "x"',
      "entry.isImge()",
      "entri.isImage()",
      "entry.name.matchs('a')",
    ]) {
      expect(compileFilter(repaired(source), "EntryCreated").ok, source).toBe(true);
    }
  });
});

describe("expressions from other languages", () => {
  const cases: [
    source: string,
    at: string,
    message: RegExp,
    mended?: string | undefined,
    eventName?: string,
  ][] = [
    ['entry.extension = "md"', "=", /compares with "=="/, 'entry.extension == "md"'],
    [
      'entry.extension === "md" and entry.size!==3',
      "===",
      /compares with "=="/,
      'entry.extension == "md" && entry.size!=3',
    ],
    ["entry.isText() or entry.isImage()", "or", /"or" with "\|\|"/, "entry.isText() || entry.isImage()"],
    [
      'entry.name == "a = b and c" and entry.path.contains(\'or "not" ==\')',
      "and",
      /"and" with "&&"/,
      'entry.name == "a = b and c" && entry.path.contains(\'or "not" ==\')',
    ],
    ["not entry.isImage()", "not", /"not" with "!"/],
    ['extension == "md"', "extension", /did you mean "entry\.extension"\?/, 'entry.extension == "md"'],
    ["entry.size > 1 && size < 9", "size", /did you mean "entry\.size"/, "entry.size > 1 && entry.size < 9"],
    ["entry.extension == md", "md", /no field "md"\. A text is written in quotes: "md"/],
    ["entry.isImage", "isImage", /write "entry\.isImage\(\)"/, "entry.isImage()"],
    ["!isImage()", "isImage", /write "entry\.isImage\(\)"/, "!entry.isImage()"],
    ["*.md", "*.md", /write entry\.extension == "md"/],
    // Without an entry, there is nothing to evaluate.
    ["isImage()", "isImage", /no function "isImage"/, undefined, "IndexComplete"],
    ["size > 1", "size", /IndexComplete has no field "size"; it has/, undefined, "IndexComplete"],
    // What only looks like it is left to the parser.
    ['entry.fields.and.or == "x', '"x', /Unterminated string/],
  ];
  for (const [source, at, message, mended, eventName = "EntryCreated"] of cases) {
    test(source, () => {
      const fault = refused(source, eventName);
      expect(fault.message).toMatch(message);
      expect(source.slice(fault.offset, fault.offset + fault.length)).toBe(at);
      if (mended === undefined) return expect(fault.fix).toBe(undefined);
      expect(repaired(source)).toBe(mended);
      expect(compileFilter(mended, eventName).ok).toBe(true);
    });
  }

  test("is looked for in time that grows with the filter, whatever it is", () => {
    for (const piece of ['"', "'", '\\"', ".", ". a", "=", "r'", '"""'])
      expect(refused(piece.repeat(1000).slice(0, 2000), "EntryCreated").ok).toBe(false);
  });
});

describe("older spellings", () => {
  const cases: [old: string, now: string][] = [
    ["entry.is_image()", "entry.isImage()"],
    ['entry.extension() == "jpg"', 'entry.extension == "jpg"'],
    ["ctx.in_granted_scope(entry.path())", "inGrantedScope(entry.path)"],
    [
      'entry.is_image() && ctx . in_granted_scope( entry.path ( ) ) && !entry.is_text() && entry.name().contains("is_image")',
      'entry.isImage() && inGrantedScope( entry.path ) && !entry.isText() && entry.name.contains("is_image")',
    ],
  ];
  for (const [old, now] of cases) {
    test(`${old.slice(0, 50)} is refused with a fix`, () => {
      const fault = refused(old, "EntryCreated");
      expect(fault.message).toMatch(/older spelling; write "/);
      expect(repaired(old)).toBe(now);
      expect(compileFilter(now, "EntryCreated").ok).toBe(true);
    });
  }
});

describe("a failed evaluation is not a match, with the reason", () => {
  const cases: [source: string, event: LaresEvent, reason: RegExp][] = [
    ['entry.content_id.startsWith("sha256:")', created, /null\.startsWith/],
    ["entry.fields.music.rating > 1", created, /music/],
    ["missing == 1", custom, /missing/],
    ["person", custom, /answered string/],
    ["constructor == 1 || toString == 1 || __proto__ == 1", custom, /constructor|toString|__proto__/],
    ["deep.constructor == 1", custom, /constructor/],
    ["int(count * 1e30) > 5", custom, /too large for an int/],
    ["-(int(count) - 9223372036854775807 - 6) > 0", custom, /9223372036854775808 is too large for an int/],
    ['duration("2000000000h") + duration("2000000000h") > duration("0s")', custom, /at most 10,000 years/],
    ['timestamp(timestamp) + duration("80000000h") > timestamp(timestamp)', custom, /years 1 and 9999/],
    ['timestamp(timestamp).getHours("Nowhere/There") == 1', custom, /time zone/],
    ["entry.isImage()", { ...stamp, name: "EntryCreated" }, /./],
    ["entry.isImage()", { ...stamp, name: "EntryCreated", entry: 5 }, /./],
    [
      "1 / (entries_processed - entries_processed) == 1",
      { ...stamp, name: "IndexComplete", location: ".", entries_processed: 1, duration_ms: 1 },
      /zero/i,
    ],
  ];
  for (const [source, event, reason] of cases) {
    test(source, () => {
      const filter = compileFilter(source, event.name);
      if (!filter.ok) return expect(filter.message).toMatch(reason);
      const outcome = filter.explain(event, everywhere);
      expect(outcome.matches).toBe(false);
      expect(outcome.reason).toMatch(reason);
    });
  }
});

describe("bounds", () => {
  const many = Array.from({ length: 5000 }, (_, index) => `tag${index}`);
  const tagged: LaresEvent = { ...created, entry: { ...entry, tags: many } };
  const big: LaresEvent = {
    ...custom,
    items: Array.from({ length: 50_000 }, (_, index) => index),
    text: "a".repeat(1_000_000),
  };

  test("a predicate over thousands of tags is within them", () => {
    expect(
      compiled('entry.tags.exists(t, t == "tag4999")', "EntryCreated").explain(tagged, everywhere),
    ).toEqual({ matches: true });
  });

  const expensive: [source: string, event: LaresEvent][] = [
    ['entry.tags.exists(a, entry.tags.exists(b, entry.tags.exists(c, a + b == c + "x")))', tagged],
    ['entry.tags.all(a, entry.tags.all(b, a + b != "x"))', tagged],
    ['entry.tags.map(a, entry.tags.join(",")).exists(x, x == "y")', tagged],
    [`["aaaaaaaa"]${".map(s, s + s + s + s + s + s + s + s)".repeat(30)}.exists(s, s == 'x')`, created],
    [
      `cel.bind(a, "0123456789", ${Array.from({ length: 20 }, (_, i) => `cel.bind(a${i}, ${i === 0 ? "a" : `a${i - 1}`} + ${i === 0 ? "a" : `a${i - 1}`} + ${i === 0 ? "a" : `a${i - 1}`} + ${i === 0 ? "a" : `a${i - 1}`}, `).join("")} a19 == 'x'${")".repeat(21)}`,
      created,
    ],
    ["items.exists(a, items.exists(b, a + b == -1.0))", big],
    ["items.exists(a, text.contains('b'))", big],
    ["items.exists(a, text.matches('(a|a)*b'))", big],
    // Short patterns that stand for large machines, over texts that keep all of it busy.
    ["text.matches('[ab]{300}[ac]{299}[bc]')", big],
    ["items.exists(a, text.substring(0, 900).matches('((a?){12}){12}[bc]'))", big],
    ["items.exists(a, ''.matches('((a?){12}){12}[bc]'))", big],
    ["items.exists(a, items == items.map(x, x + 1.0))", big],
  ];
  for (const [source, event] of expensive) {
    test(`multiplying ends: ${source.slice(0, 60)}`, () => {
      const filter = compileFilter(source, event.name);
      if (!filter.ok) return expect(filter.message).toMatch(/more than \d+ (?:levels deep|parts|characters)/);
      const outcome = filter.explain(event, everywhere);
      expect(outcome.matches).toBe(false);
      expect(outcome.reason).toMatch(/more than 100000 steps/);
    });
  }

  test("the budget is per evaluation, not per filter", () => {
    const filter = compiled('entry.tags.exists(t, t == "tag4999")', "EntryCreated");
    for (let times = 0; times < 50; times++) expect(filter.evaluate(tagged, everywhere)).toBe(true);
  });

  const hostile: [name: string, source: string][] = [
    ["too long", `"${"a".repeat(4096)}" == ""`],
    ["negations", `${"!".repeat(4000)}true`],
    ["parentheses", `${"(".repeat(2000)}true${")".repeat(2000)}`],
    ["brackets", `${"[".repeat(2000)}${"]".repeat(2000)} == []`],
    ["ternaries", "true ? ".repeat(500)],
    ["members", `entry${".a".repeat(2000)}`],
    ["a nested repetition", 'entry.name.matches("((((a{100}){100}){100}){100}){100}")'],
    ["a repetition of repetitions", `entry.name.matches("${"(".repeat(40)}a${"{1,30})".repeat(40)}")`],
    ["a repetition of what may be empty", 'entry.name.matches("(a?){1000}[bc]")'],
    ["many long repetitions", `entry.name.matches("${"[ab]{999}".repeat(50)}")`],
    ["sums", `${"1+".repeat(1500)}1 == 2`],
  ];
  const tooMuch: [source: string, message: RegExp][] = [
    [`${"(".repeat(40)}true${")".repeat(40)}`, /more than \d+ levels deep; take parentheses away/],
    [Array.from({ length: 400 }, () => "true").join(" || "), /more than \d+ (?:levels deep|parts)/],
    [
      `entry.size in [${Array.from({ length: 600 }, (_, index) => index).join()}]`,
      /more than \d+ (?:things|parts)/,
    ],
  ];
  for (const [source, message] of tooMuch) {
    test(`exceeded limits are explained: ${source.slice(0, 30)}`, () => {
      expect(refused(source, "EntryCreated").message).toMatch(message);
    });
  }

  for (const [name, source] of hostile) {
    test(`${name} are refused`, () => {
      expect(compileFilter(source, "EntryCreated").ok).toBe(false);
    });
  }

  test("a pattern made to backtrack is matched in linear time", () => {
    const filter = compiled('entry.name.matches("^(a+)+$")', "EntryCreated");
    const event = { ...created, entry: { ...entry, name: `${"a".repeat(4000)}!` } };
    expect(filter.explain(event, everywhere)).toEqual({ matches: false });
  });

  test("no text whatever makes it throw, and a fault lies within the text", () => {
    const piece = fc.constantFrom(
      "entry",
      ".",
      "isImage",
      "()",
      "(",
      ")",
      "&&",
      '"',
      "'",
      "x",
      "[",
      "]",
      "1",
      " ",
      "ctx",
      "in_granted_scope",
      "matches",
      "\n",
      "!",
      "{",
      "}",
      ":",
      "?",
      ",",
      "+",
      "é",
      "\ud800",
    );
    const source = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(source, (text) => {
        const filter = compileFilter(text, "EntryCreated");
        if (filter.ok) expect(typeof filter.evaluate(created, everywhere)).toBe("boolean");
        else expect(filter.offset + filter.length).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 1000 },
    );
  });
});

function repaired(source: string): string {
  const { fix } = refused(source, "EntryCreated");
  return (fix?.edits ?? [])
    .toSorted((one, other) => other.offset - one.offset)
    .reduce(
      (text, { offset, length, newText }) => text.slice(0, offset) + newText + text.slice(offset + length),
      source,
    );
}
