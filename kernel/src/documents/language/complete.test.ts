import fc from "fast-check";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { checkLares } from "../lares.ts";
import { checkManifest } from "../manifest.ts";
import type { DocumentFormat } from "../source.ts";
import { manifestPorts } from "../testing/ports.ts";
import { complete, type EditedDocument } from "./complete.ts";
import { maxProposals, type Proposals } from "./proposal.ts";
import { environment, photos, surroundings } from "./testing/environment.ts";

type Kind = EditedDocument["kind"];

/** `|` is the cursor. */
function split(source: string): { text: string; offset: number } {
  const offset = source.indexOf("|");
  return { text: source.slice(0, offset) + source.slice(offset + 1), offset };
}

function proposals(kind: Kind, format: DocumentFormat, source: string, snippets = false): Promise<Proposals> {
  const { text, offset } = split(source);
  return complete({ kind, format, text }, offset, environment({ client: { snippets } }));
}

async function labels(kind: Kind, format: DocumentFormat, source: string): Promise<string[]> {
  return (await proposals(kind, format, source)).items.map(({ label }) => label);
}

/** The text once the proposal is accepted. */
async function accepted(
  kind: Kind,
  format: DocumentFormat,
  source: string,
  label: string,
  snippets = false,
): Promise<string> {
  const { items } = await proposals(kind, format, source, snippets);
  const item = items.find((each) => each.label === label);
  if (item === undefined)
    throw new Error(`"${label}" is not among ${items.map((each) => each.label).join(", ")}`);
  const { text } = split(source);
  return text.slice(0, item.start) + item.newText + text.slice(item.end);
}

const Y = "extension:\n  id: a.b\n  name: x\n  version: 1.0.0\n";
const T = '[extension]\nid = "a.b"\nname = "x"\nversion = "1.0.0"\n';

describe("what is offered", () => {
  test.each<[string, Kind, DocumentFormat, string, string[]]>([
    [
      "all there is, at first",
      "lares",
      "yaml",
      "|",
      [
        "version",
        "extensions",
        "approvals",
        "limits",
        "kernel",
        "memory",
        "trace",
        "index",
        "shared_namespaces",
        "import_namespaces",
        "ai",
      ],
    ],
    [
      "tables, in TOML",
      "lares",
      "toml",
      "|",
      [
        "version",
        "[[extensions]]",
        "[approvals]",
        "[limits]",
        "[kernel]",
        "[memory]",
        "[trace]",
        "[index]",
        "[[shared_namespaces]]",
        "[[import_namespaces]]",
        "[ai]",
      ],
    ],
    ["what is not there yet", "lares", "yaml", "kernel:\n  linger: 1s\n  |", []],
    [
      "the same in TOML",
      "lares",
      "toml",
      '[trace]\nlevel = "info"\n|',
      [
        "keep",
        "[[extensions]]",
        "[approvals]",
        "[limits]",
        "[kernel]",
        "[memory]",
        "[index]",
        "[[shared_namespaces]]",
        "[[import_namespaces]]",
        "[ai]",
      ],
    ],
    [
      "what an event hook may have",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - on: EntryMoved\n      |`,
      ["handler", "filter"],
    ],
    [
      "what a schedule may have",
      "manifest",
      "toml",
      `${T}hooks = [{ schedule = "@daily", | }]`,
      ["handler", "timezone", "catch_up"],
    ],
    [
      "either path or id",
      "lares",
      "yaml",
      "extensions:\n  - { path: x, | }",
      ["enabled", "grants", "config"],
    ],
    [
      "tables in a header",
      "manifest",
      "toml",
      "[extension.|]",
      ["requirements", "permissions", "resources", "agent"],
    ],
    [
      "lists and maps in a list's header",
      "manifest",
      "toml",
      "[[extension.h|]]",
      ["requirements", "permissions", "resources", "agent", "hooks", "tools", "models"],
    ],
    [
      "the branch that is meant",
      "lares",
      "yaml",
      "memory:\n  embedder: { kind: onnx, | }",
      ["path", "dimensions"],
    ],
    [
      "both where none is yet",
      "lares",
      "yaml",
      "memory:\n  embedder: { kind: | }",
      ["openai-compatible", "onnx"],
    ],
    ["ids of extensions as keys", "lares", "yaml", "memory:\n  extensions:\n    |", [photos.id]],
    ["truth values", "lares", "yaml", "index: { hidden: | }", ["true", "false"]],
    ["choices", "lares", "toml", "[trace]\nlevel = |", ["debug", "info", "warn", "error"]],
    [
      "the default, and examples",
      "lares",
      "yaml",
      "kernel: { linger: | }",
      ["10s", "500ms", "5m", "24h", "30d"],
    ],
    [
      "the items of a list that has only a name",
      "lares",
      "yaml",
      "extensions:\n  - id: x\n    grants:\n      locations: |",
      [".", "archive/", "photos/", "two words/"],
    ],
    ["ids of extensions", "lares", "yaml", "extensions:\n  - id: |", [photos.id]],
    [
      "folders and extensions by path",
      "lares",
      "yaml",
      "extensions:\n  - path: ../extensions/|",
      ["../extensions/photos", "../extensions/other/"],
    ],
    ["where a path may begin", "lares", "toml", "[[extensions]]\npath = '|'", ["src/", "../"]],
    ["nothing of an absolute path", "lares", "yaml", "extensions:\n  - path: /|", []],
    [
      "folders of the workspace",
      "lares",
      "yaml",
      "extensions:\n  - grants: { locations: [|] }",
      [".", "archive/", "photos/", "two words/"],
    ],
    [
      "folders of folders",
      "lares",
      "yaml",
      "extensions:\n  - grants: { locations: [photos/|] }",
      ["photos/2024/"],
    ],
    [
      "permissions the manifest asks for",
      "lares",
      "yaml",
      `extensions:\n  - id: ${photos.id}\n    grants: { deny: [write_tags, |] }`,
      ["read_entries"],
    ],
    [
      "kinds of effects",
      "lares",
      "yaml",
      "approvals: { rules: [{ kind: file.m| }] }",
      [
        "file.write",
        "file.edit",
        "file.move",
        "file.delete",
        "folder.create",
        "tag.add",
        "tag.remove",
        "field.set",
        "sidecar.write",
        "file.*",
        "tag.*",
      ],
    ],
    [
      "those that are proposed",
      "manifest",
      "yaml",
      `${Y}  permissions: { propose_actions: [|] }`,
      ["file.write", "file.edit", "file.move", "file.delete", "folder.create", "file.*"],
    ],
    [
      "tools of others",
      "manifest",
      "yaml",
      `${Y}  permissions: { call_tools: [|] }`,
      [`${photos.id}/*`, `${photos.id}/search_person`],
    ],
    [
      "handlers of hooks",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - handler: |`,
      ["photoAdded", "maintenance"],
    ],
    ["handlers of tools", "manifest", "toml", `${T}[[extension.tools]]\nhandler = "|"`, ["searchPerson"]],
    ["programs that are there", "manifest", "yaml", `${Y}  main: |`, ["agent.ts"]],
    [
      "the media",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - filter: entry.media == "|"`,
      ["image", "video", "audio", "document", "text", "other"],
    ],
    [
      "the same in a list",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - filter: entry.kind in ["file", "|`,
      ["file", "folder"],
    ],
    [
      "what changed",
      "manifest",
      "toml",
      String.raw`[[extension.hooks]]
on = "EntryModified"
filter = "changed_fields.exists(f, f == \"|"`,
      ["size", "created", "modified", "content_id", "tags", "fields", "sidecars"],
    ],
    ["nothing in a comment", "lares", "yaml", "# |", []],
    ["nothing in another's map", "manifest", "yaml", `${Y}  tools:\n    - parameters: { type: | }`, []],
    ["nothing where nothing belongs", "lares", "yaml", "nonsense:\n  |", []],
  ])("%s", async (_name, kind, format, source, expected) => {
    expect(await labels(kind, format, source)).toEqual(expected);
  });

  test.each([
    ["yaml", `${Y}  hooks:\n    - on: |`],
    ["toml", `${T}[[extension.hooks]]\non = |`],
  ] as const)("events, those of extensions too: %s", async (format, source) => {
    const { items } = await proposals("manifest", format, source);
    const names = items.map(({ label }) => label);
    expect(names).toEqual(
      expect.arrayContaining(["EntryCreated", "ScheduleFired", `${photos.id}/PersonIdentified`]),
    );
    expect(items[0]).toMatchObject({ kind: "event", detail: "entry, location" });
  });

  test("in a filter, what its event has", async () => {
    const at = (on: string, filter: string) =>
      labels("manifest", "yaml", `${Y}  hooks:\n    - on: ${on}\n      filter: ${filter}`);
    expect(await at("EntryMoved", "|")).toContain("from");
    expect(await at("EntryCreated", "|")).not.toContain("from");
    expect(await at("EntryCreated", "entry.size > 1 && entry.|")).toEqual(
      expect.arrayContaining(["isImage", "tags"]),
    );
    expect(await at("EntryCreated", "entry.tags.|")).toContain("exists");
    expect(await at("EntryCreated", "entry.path.|")).toContain("startsWith");
    expect(await at("nothing", "entry.|")).toContain("isImage");
  });
});

describe("what accepting it makes", () => {
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

test("many are bounded, and typing on narrows them", async () => {
  const zone = (typed: string) => proposals("manifest", "yaml", `${Y}  hooks:\n    - timezone: ${typed}|`);
  const all = await zone("");
  expect(all).toMatchObject({ isIncomplete: true });
  expect(all.items).toHaveLength(maxProposals);
  const some = await zone("europe/be");
  expect(some).toMatchObject({ isIncomplete: false });
  expect(some.items.map(({ label }) => label)).toContain("Europe/Berlin");
});

test("what lies around is only asked for where it counts", async () => {
  let asked = 0;
  const counting = {
    ...surroundings,
    extensions: () => (asked++, []),
    foldersIn: () => (asked++, []),
    programExports: () => (asked++, null),
  };
  const { text, offset } = split("kernel:\n  lin|");
  await complete({ kind: "lares", format: "yaml", text }, offset, environment({ around: counting }));
  expect(asked).toBe(0);
});

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
