import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { DocumentFormat } from "../text/source.ts";
import { schemaOf, type EditedDocument } from "./complete.ts";
import type { Explanation } from "../../base/vocabulary/editing.ts";
import { hoverAt } from "./hover.ts";
import { inlayHints } from "./inlay-hints.ts";
import { alternatives, type Schema } from "../schema/schema-at.ts";
import { environment, events } from "./testing/environment.ts";

type Kind = EditedDocument["kind"];

function words(explanation: Explanation): string {
  return explanation
    .map(({ spans }) => spans.map((span) => (typeof span === "string" ? span : span.code)).join(""))
    .join("\n");
}

/** `word: explanation` of what the cursor, `|`, is on. */
async function said(kind: Kind, format: DocumentFormat, source: string): Promise<string | null> {
  const offset = source.indexOf("|");
  const text = source.slice(0, offset) + source.slice(offset + 1);
  const hover = await hoverAt({ kind, format, text }, offset, environment());
  return hover && `${text.slice(hover.start, hover.end)}: ${words(hover.explanation)}`;
}

describe("the hover of the word under the cursor", () => {
  test.each<[string, Kind, DocumentFormat, string, RegExp | null]>([
    [
      "a key",
      "lares",
      "yaml",
      "kernel: { lin|ger: 1s }",
      /^linger: linger: text\nHow long .*default 10s\.\nFor example 500ms/,
    ],
    ["a key in TOML", "lares", "toml", "[kernel]\nlin|ger = '1s'", /^linger: linger: text\nHow long/],
    [
      "a header",
      "lares",
      "toml",
      "[[exten|sions]]\npath = 'x'",
      /^extensions: extensions: list\nThe extensions/,
    ],
    ["a number's bounds", "lares", "yaml", "limits: { active_|agents: 3 }", /whole number from 1 to 1024/],
    ["a choice", "lares", "yaml", "memory: { vec|tors: auto }", /\nexact: Compares with every vector/],
    ["a field that is ignored", "lares", "yaml", "a|i: {}", /belong under models/],
    [
      "a provider's field",
      "lares",
      "yaml",
      "models: { providers: { a: { api: ollama, base|_url: x } } }",
      /^base_url: .*\nWhere requests go; default http:\/\/127\.0\.0\.1:11434/,
    ],
    [
      "a budget",
      "lares",
      "yaml",
      "models: { budgets: { per_day|_usd: 5 } }",
      /^per_day_usd: .*\nWhat all models together may cost a day/,
    ],
    [
      "what leaves the machine",
      "lares",
      "yaml",
      "egress: { private|_hosts: [nas.lan] }",
      /inside this network/,
    ],
    ["a value", "lares", "yaml", "memory: { vectors: au|to }", /^auto: vectors\n/],
    [
      "an event",
      "manifest",
      "yaml",
      "extension: { hooks: [{ on: Entry|Moved }] }",
      /^EntryMoved: An entry has.*\nentry Entry: .*\nfrom string: /,
    ],
    [
      "an event of an extension",
      "manifest",
      "toml",
      "[[extension.hooks]]\non = 'com.example.photos/|Seen'",
      /com\.example\.photos emits.*\nPhotos 1\.2\.0/,
    ],
    [
      "an entry's field",
      "manifest",
      "yaml",
      "extension: { hooks: [{ filter: entry.me|dia == 'image' }] }",
      /^media: media: string\n.*\nOne of image, video/,
    ],
    [
      "with escapes before it",
      "manifest",
      "toml",
      String.raw`extension.hooks = [{ filter = "entry.path == \"x\" && entry.is|Image()" }]`,
      /^isImage: isImage\(\): bool/,
    ],
    [
      "a function",
      "manifest",
      "yaml",
      "extension: { hooks: [{ filter: 'inGranted|Scope(entry.path)' }] }",
      /^inGrantedScope: inGrantedScope\(path\)/,
    ],
    [
      "a method",
      "manifest",
      "yaml",
      "extension: { hooks: [{ filter: 'entry.path.starts|With(\"a\")' }] }",
      /^startsWith: startsWith\(string\): bool/,
    ],
    [
      "a field named like a function",
      "manifest",
      "yaml",
      "extension: { hooks: [{ filter: time|stamp > '2026' }] }",
      /^timestamp: timestamp: string/,
    ],
    [
      "in a folded filter",
      "manifest",
      "yaml",
      "extension:\n  hooks:\n    - filter: >-\n        entry.isImage()\n        && entry.na|me == 'x'",
      /^name: name: string/,
    ],
    [
      "a schedule",
      "manifest",
      "yaml",
      "extension: { hooks: [{ schedule: '0 3| * * *' }] }",
      /Every day at 03:00 \(UTC\)\.\nNext:\nSat, 21 Nov 2026, 03:00\nSun/,
    ],
    [
      "a schedule elsewhere",
      "manifest",
      "toml",
      "[[extension.hooks]]\ntimezone = 'Asia/Tokyo'\nschedule = '|@daily'",
      /Every day at 00:00 \(Asia\/Tokyo\)/,
    ],
    [
      "an extension's id",
      "lares",
      "yaml",
      "extensions: [{ id: com.example.|photos }]",
      /^com\.example\.photos: Photos 1\.2\.0\n/,
    ],
    [
      "an extension's path",
      "lares",
      "toml",
      "[[extensions]]\npath = '../extensions/|photos'",
      /Photos 1\.2\.0/,
    ],
    [
      "a permission",
      "lares",
      "yaml",
      "extensions: [{ grants: { deny: [write|_tags] } }]",
      /^write_tags: write_tags\nPuts tags/,
    ],
    [
      "a document that is broken elsewhere",
      "lares",
      "yaml",
      "trace: { lev|el: info\nkernel: [\n",
      /^level: level/,
    ],
    ["nothing of what is unknown", "lares", "yaml", "non|sense: 1", null],
    [
      "nothing of a stranger's fields",
      "manifest",
      "yaml",
      "extension: { models: [{ source: { ty|pe: object } }] }",
      null,
    ],
    [
      "a tool's parameters",
      "manifest",
      "yaml",
      "extension: { tools: [{ parameters: { properties: { a: { minL|ength: 1 } } } }] }",
      /^minLength: minLength: whole number, at least 0\nThe fewest characters/,
    ],
    [
      "a type in them",
      "manifest",
      "toml",
      "[[extension.tools]]\nparameters.properties.a.type = 'strin|g'",
      /What kind of value .*string: A text.*null: Nothing/s,
    ],
    [
      "nothing of a value that they only hand on",
      "manifest",
      "yaml",
      "extension: { tools: [{ parameters: { properties: { a: { default: { ty|pe: 1 } } } } }] }",
      null,
    ],
    ["nothing in a comment", "lares", "yaml", "# trace|\ntrace: {}", null],
    [
      "the filter itself, on its quotes",
      "manifest",
      "toml",
      "[[extension.hooks]]\nfilter = '|''entry.isImage() && entry.tags'''",
      /^'''entry\.isImage\(\) && entry\.tags''': filter/,
    ],
    [
      "nothing in a filter's text",
      "manifest",
      "yaml",
      "extension: { hooks: [{ filter: entry.path == 'ent|ry' }] }",
      /^entry\.path == 'entry': filter/,
    ],
  ])("%s", async (_name, kind, format, source, expected) => {
    const found = await said(kind, format, source);
    if (expected === null) expect(found).toBeNull();
    else expect(found).toMatch(expected);
  });
});

test("every field of both documents is explained", () => {
  const missing: string[] = [];
  const seen = new Set<Schema>();
  const visit = (schema: Schema, path: string): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    for (const branch of alternatives(schema, undefined)) {
      for (const [name, property] of Object.entries(branch.properties ?? {})) {
        if ((property.description ?? "").length < 8) missing.push(`${path}.${name}`);
        visit(property, `${path}.${name}`);
      }
      if (branch.items !== undefined) visit(branch.items, `${path}[]`);
    }
  };
  visit(schemaOf.lares, "lares");
  visit(schemaOf.manifest, "manifest");
  expect(missing).toEqual([]);
});

describe("schedules in words", () => {
  const yaml = `extension:
  hooks:
    - { schedule: 0 3 * * *, handler: a }
    - schedule: "0 0 1 * *" # monthly
      timezone: Europe/Berlin
    - schedule: 7 7 7
    - schedule: "@daily"
      timezone: Nowhere/Land
    - schedule: "30 */5 * * * *"
`;
  const toml = `[[extension.hooks]]
schedule = "0 3 * * *"
[[extension.hooks]]
schedule = "0 0 1 * *" # monthly
timezone = "Europe/Berlin"
[[extension.hooks]]
schedule = "30 */5 * * * *"
[[extension.hooks]]
schedule =
`;
  test.each([
    ["yaml", yaml],
    ["toml", toml],
  ] as const)("%s: behind each that is one, in its time zone", async (format, text) => {
    const found = await inlayHints(
      { kind: "manifest", format, text },
      { start: 0, end: text.length },
      events,
    );
    expect(found.map(({ label }) => label)).toEqual([
      "every day at 03:00 → Sat, Sun, Mon UTC",
      "at 00:00, on day 1 of the month → 1 Dec 2026, 1 Jan 2027, 1 Feb 2027 Europe/Berlin",
      "at 30 seconds past the minute, every 5 minutes → Fri 12:00:30, 12:05:30, 12:10:30 UTC",
    ]);
    expect(text.slice(0, found[1]?.offset)).toMatch(/0 0 1 \* \*"$/);
    expect(found[0]?.tooltip).toEqual([
      "Every day at 03:00 (UTC)",
      "Next: Sat, 21 Nov 2026, 03:00",
      "Next: Sun, 22 Nov 2026, 03:00",
      "Next: Mon, 23 Nov 2026, 03:00",
    ]);
  });

  test("only visible entries", async () => {
    const start = yaml.indexOf("30 */5");
    const found = await inlayHints(
      { kind: "manifest", format: "yaml", text: yaml },
      { start, end: yaml.length },
      events,
    );
    expect(found).toHaveLength(1);
  });
});

test.each(["yaml", "toml"] as const)(
  "at every offset of a manifest of %s there is an answer or none",
  async (format) => {
    const url = new URL(`../fixtures/photos-${format}/extension.${format}`, import.meta.url);
    const text = readFileSync(url, "utf8");
    let answers = 0;
    for (let offset = 0; offset <= text.length; offset += 3) {
      const hover = await hoverAt({ kind: "manifest", format, text }, offset, environment());
      if (hover === null) continue;
      answers++;
      expect(hover.start).toBeLessThanOrEqual(offset);
      expect(hover.end).toBeGreaterThanOrEqual(offset);
    }
    expect(answers).toBeGreaterThan(text.length / 9);
  },
);
