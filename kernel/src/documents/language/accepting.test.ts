import fc from "fast-check";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { checkLares } from "../lares.ts";
import { checkManifest } from "../manifest.ts";
import type { DocumentFormat } from "../text/source.ts";
import { manifestPorts } from "../testing/ports.ts";
import { complete } from "./complete.ts";
import { maxProposals } from "./proposal.ts";
import { environment } from "./testing/environment.ts";
import { accepted, labels, proposals, T, Y, type Kind } from "./testing/typing.ts";

describe("the text after accepting a proposal", () => {
  test.each<[string, Kind, DocumentFormat, string, string, string]>([
    ["a key", "lares", "yaml", "ver|", "version", "version: "],
    ["a key in TOML", "lares", "toml", "ver|", "version", "version = "],
    ["a map's key", "lares", "yaml", "ker|", "kernel", "kernel:"],
    ["a key that has its sign", "lares", "yaml", "ker|: {}", "kernel", "kernel: {}"],
    ["a key in quotes", "lares", "yaml", '"ker|": {}', "kernel", '"kernel": {}'],
    ["behind a colon without space", "lares", "yaml", "trace:\n  level:|", "warn", "trace:\n  level: warn"],
    ["behind a dash without space", "lares", "yaml", "extensions:\n  -|", "id", "extensions:\n  - id: "],
    ["a list's first item", "manifest", "yaml", `${Y}  hooks:\n    |`, "on", `${Y}  hooks:\n    - on: `],
    [
      "a list's next item",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - on: x\n    |`,
      "on",
      `${Y}  hooks:\n    - on: x\n    - on: `,
    ],
    ["the whole word", "lares", "yaml", "trace: { level: in|fo }", "warn", "trace: { level: warn }"],
    ["a string in TOML", "lares", "toml", "[trace]\nlevel = wa|", "warn", '[trace]\nlevel = "warn"'],
    ["within its quotes", "lares", "toml", "[trace]\nlevel = 'wa|'", "warn", "[trace]\nlevel = 'warn'"],
    ["and closes them", "lares", "toml", '[trace]\nlevel = "wa|', "warn", '[trace]\nlevel = "warn"'],
    [
      "what YAML would misread, in quotes",
      "lares",
      "yaml",
      "extensions:\n  - grants: { allow: [|] }",
      "*",
      'extensions:\n  - grants: { allow: ["*"] }',
    ],
    [
      "a list that has only a name",
      "manifest",
      "yaml",
      `${Y}  permissions:\n    propose_actions: |`,
      "file.*",
      `${Y}  permissions:\n    propose_actions: [file.*]`,
    ],
    [
      "the same in TOML",
      "manifest",
      "toml",
      "[extension.permissions]\npropose_actions = |",
      "file.*",
      '[extension.permissions]\npropose_actions = ["file.*"]',
    ],
    ["a table", "manifest", "toml", `${T}perm|`, "[extension.permissions]", `${T}[extension.permissions]`],
    [
      "a word of a filter",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - filter: entry.is|`,
      "isImage",
      `${Y}  hooks:\n    - filter: entry.isImage()`,
    ],
    [
      "a filter in TOML",
      "manifest",
      "toml",
      "[[extension.hooks]]\nfilter = |",
      "entry",
      '[[extension.hooks]]\nfilter = "entry"',
    ],
    [
      "in the middle of one",
      "manifest",
      "toml",
      '[[extension.hooks]]\nfilter = "entry.na| == 1"',
      "name",
      '[[extension.hooks]]\nfilter = "entry.name == 1"',
    ],
    [
      "in a folded one",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - filter: >-\n        entry.isImage() &&\n        entry.na|\n`,
      "name",
      `${Y}  hooks:\n    - filter: >-\n        entry.isImage() &&\n        entry.name\n`,
    ],
  ])("%s", async (_name, kind, format, source, label, expected) => {
    expect(await accepted(kind, format, source, label)).toBe(expected);
  });

  test.each<[string, Kind, DocumentFormat, string, string, string]>([
    ["a map", "manifest", "yaml", `${Y}  perm|`, "permissions", `${Y}  permissions:\n    $0`],
    ["a list of maps", "manifest", "yaml", `${Y}  ho|`, "hooks", `${Y}  hooks:\n    - $0`],
    [
      "the first key of an item",
      "lares",
      "yaml",
      "extensions:\n  - gr|",
      "grants",
      "extensions:\n  - grants:\n      $0",
    ],
    ["a map on one line", "lares", "yaml", "extensions: [{ gr|", "grants", "extensions: [{ grants: { $0 }"],
    [
      "a list",
      "manifest",
      "toml",
      "[extension.permissions]\nemit|",
      "emit_events",
      "[extension.permissions]\nemit_events = [$0]",
    ],
    ["a choice", "lares", "toml", "[trace]\nle|", "level", '[trace]\nlevel = "${1|debug,info,warn,error|}"'],
    ["text in TOML", "manifest", "toml", "[extension]\nna|", "name", '[extension]\nname = "$1"'],
    [
      "a map as a value",
      "lares",
      "yaml",
      "memory: { embedder: |",
      "{ kind: onnx, path }",
      "memory: { embedder: { kind: onnx, path: $1 }",
    ],
    [
      "a function",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - filter: in|`,
      "inGrantedScope",
      `${Y}  hooks:\n    - filter: inGrantedScope($1)`,
    ],
  ])("with places to fill in: %s", async (_name, kind, format, source, label, expected) => {
    expect(await accepted(kind, format, source, label, true)).toBe(expected);
  });
});

test.each([
  ["lares", "yaml", "trace:\n  |\n"],
  ["lares", "toml", "[trace]\n|\n"],
  ["manifest", "yaml", `${Y}  |\n`],
  ["manifest", "yaml", `${Y}  permissions:\n    |\n`],
  ["manifest", "toml", `${T}|\n`],
] as const)(
  "each key with each of its values is a valid document: %s %s %j",
  async (kind, format, source) => {
    const keys = (await proposals(kind, format, source)).items.filter(({ kind: what }) => what === "key");
    let tried = 0;
    for (const { label } of keys) {
      const withKey = await accepted(kind, format, source, label);
      const end = source.indexOf("|") + (withKey.length - source.length + 1);
      if (withKey.charAt(end - 1) === ":") continue; // a map: what it holds is to be typed
      const marked = `${withKey.slice(0, end)}|${withKey.slice(end)}`;
      for (const value of await labels(kind, format, marked)) {
        const text = await accepted(kind, format, marked, value);
        const file = `${kind === "lares" ? "lares" : "extension"}.${format}`;
        const { diagnostics } =
          kind === "lares"
            ? await checkLares(text, file, { layer: "user" })
            : await checkManifest(text, file, manifestPorts());
        expect({ text, faults: diagnostics.filter(({ severity }) => severity === "error") }).toEqual({
          text,
          faults: [],
        });
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(0);
  },
);

describe.each(["yaml", "toml"] as const)("anywhere in a manifest of %s", (format) => {
  const fixture = readFileSync(
    new URL(`../fixtures/photos-${format}/extension.${format}`, import.meta.url),
    "utf8",
  );
  const sound = async (text: string, offset: number): Promise<void> => {
    const found = await complete(
      { kind: "manifest", format, text },
      offset,
      environment({ client: { snippets: true } }),
    );
    expect(found.items.length).toBeLessThanOrEqual(maxProposals);
    for (const { start, end } of found.items) {
      expect(start).toBeLessThanOrEqual(offset);
      expect(end).toBeGreaterThanOrEqual(offset);
      expect(text.slice(start, end)).not.toContain("\n");
    }
  };

  test("the ranges hold the cursor and are of one line", async () => {
    for (let offset = 0; offset <= fixture.length; offset += 2) await sound(fixture, offset);
  });

  test("the same while it is damaged", async () => {
    const cut = fc.record({
      at: fc.nat(fixture.length),
      remove: fc.nat(30),
      insert: fc.constantFrom("\n", '"', "'", "{", "[", ": ", "= ", "- ", "&"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 4 }), fc.nat(), async (cuts, somewhere) => {
        const text = cuts.reduce(
          (now, { at, remove, insert }) => now.slice(0, at) + insert + now.slice(at + remove),
          fixture,
        );
        await sound(text, somewhere % (text.length + 1));
      }),
      { numRuns: 200 },
    );
  });
});
