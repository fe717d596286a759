import fc from "fast-check";
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import {
  Lines,
  maxDiagnostics,
  type Diagnostic,
  type Range,
} from "../../kernel/src/documents/text/diagnostics.ts";
import { checkLares } from "../../kernel/src/documents/lares.ts";
import { complete, type EditedDocument } from "../../kernel/src/documents/language/complete.ts";
import { extensionUses, handlerUses } from "../../kernel/src/documents/language/elements.ts";
import { readAtOnce } from "../../kernel/src/documents/language/testing/read-at-once.ts";
import { hoverAt } from "../../kernel/src/documents/language/hover.ts";
import { inlayHints, maxInlayHints } from "../../kernel/src/documents/language/inlay-hints.ts";
import { maxProposals } from "../../kernel/src/documents/language/proposal.ts";
import { handlerAt, renameInManifest } from "../../kernel/src/documents/language/rename.ts";
import { maxParts, outlineOf, type DocumentPart } from "../../kernel/src/documents/language/symbols.ts";
import { environment, events } from "../../kernel/src/documents/language/testing/environment.ts";
import { checkManifest } from "../../kernel/src/documents/manifest.ts";
import { applyEdits } from "../../kernel/src/documents/text/apply-edits.ts";
import { manifestPorts } from "../../kernel/src/documents/testing/ports.ts";
import { fuzz } from "./support/campaign.ts";

const target = "language";

type Kind = EditedDocument["kind"];
type Format = EditedDocument["format"];

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Valid documents of both kinds and formats, which together contain everything that can be written. */
const sound: readonly { readonly kind: Kind; readonly format: Format; readonly text: string }[] = [
  {
    kind: "manifest",
    format: "yaml",
    text: textOf("kernel/src/documents/fixtures/photos-yaml/extension.yaml"),
  },
  {
    kind: "manifest",
    format: "toml",
    text: textOf("kernel/src/documents/fixtures/photos-toml/extension.toml"),
  },
  {
    kind: "manifest",
    format: "yaml",
    text: `extension: &all
  id: a.b
  "name": |-
    Several
    lines 💡
  version: '1.0.0'
  hooks:
  - &hook { on: EntryCreated, filter: >-
        entry.isImage() &&
        entry.name != "é\\n", handler: "photo\\u0041dded" }
  - <<: *hook
    on: EntryMoved
  - schedule: "*/5 * * * *"
    timezone: Europe/Berlin
    handler: maintenance
  tools: [{ name: t, handler: searchPerson, description: d, parameters: { type: object, $defs: { place: { type: "null" } },
    properties: { near: { $ref: '#/$defs/place' }, at: { enum: [1, x], default: x, pattern: "^a(b" } }, required: [nera] } }]
`,
  },
  {
    kind: "manifest",
    format: "toml",
    text: `extension.id = "a.b"
extension.'name' = """
Several
lines 💡"""
[extension.agent]
enable_memory = true
[[extension.hooks]]
on = "EntryCreated"
filter = '''entry.tags.exists(t, t == "é")'''
handler = "photo\\u0041dded"
[[extension.hooks]]
schedule = "@daily"
handler = 'maintenance'
[[extension.tools]]
name = "t"
[extension.tools.parameters]
type = "object"
required = ["nera"]
properties.near = { "$ref" = "#/definitions/place", type = "string", format = "date" }
[extension.tools.parameters.definitions.place]
type = "null"
`,
  },
  { kind: "lares", format: "yaml", text: textOf("examples/library/lares.yaml") },
  {
    kind: "lares",
    format: "toml",
    text: `version = 1
[[extensions]]
path = "../extensions/photos"
grants = { locations = [".", 'photos/'], allow = ["*"], deny = [
  "write_tags", # a remark
] }
[[extensions]]
id = "com.example.photos"
[approvals]
rules = [{ agent = "com.example.photos", kind = "file.*", path = "**" }]
[memory]
embedder = { kind = "onnx", path = "m" }
[memory.extensions."com.example.photos"]
vectors = "auto"
[kernel]
linger = "10s"
`,
  },
];

const pieces = fc.constantFrom(
  ...[
    [
      "\n",
      "\r\n",
      "\r",
      "\t",
      " ",
      "    ",
      "- ",
      "-",
      ": ",
      ":",
      "=",
      " = ",
      ".",
      ",",
      "#",
      "|",
      "|-\n",
      ">\n",
    ],
    [
      "[",
      "]",
      "{",
      "}",
      "[[",
      "]]",
      "'",
      '"',
      "'''",
      '"""',
      "\\",
      "\\u",
      "\\\n",
      "&a ",
      "*a",
      "*hook",
      "<<: ",
    ],
    [
      "!!str ",
      "!t ",
      "? ",
      "---\n",
      "...\n",
      "%YAML 1.1\n",
      "@",
      "`",
      "$",
      "${",
      "$ref",
      "}",
      "~",
      "null",
      "true",
    ],
    ["\u0000", "\u001b[2J", "\ud83d", "\udca1", "\ufeff", "\u2028", "\u0085", "\ue0c5", "é", "💡", "e\u0301"],
    [
      "__proto__",
      "constructor: ",
      "handler: ",
      "filter: ",
      "required: [",
      "parameters: ",
      "entry.",
      "type: ",
      "0",
    ],
  ].flat(),
);

/** One edit: the removed range, and the inserted text. */
const cut = fc.record({
  at: fc.nat(5000),
  remove: fc.oneof({ weight: 3, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(200) }),
  insert: fc.oneof(
    { weight: 6, arbitrary: pieces },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
    { weight: 1, arbitrary: fc.constant("") },
  ),
});

const document = fc.record({
  base: fc.nat(sound.length - 1),
  cuts: fc.array(cut, { maxLength: 6 }),
  ends: fc.constantFrom("\n", "\r\n", "\r"),
  hasMark: fc.boolean(),
  /** The document is typed up to here. */
  upTo: fc.option(fc.nat(5000), { nil: null }),
  offsets: fc.array(fc.nat(10_000), { minLength: 1, maxLength: 6 }),
});

interface Generated {
  readonly base: number;
  readonly cuts: readonly { readonly at: number; readonly remove: number; readonly insert: string }[];
  readonly ends: string;
  readonly hasMark: boolean;
  readonly upTo: number | null;
}

function written({ base, cuts, ends, hasMark, upTo }: Generated): EditedDocument {
  const { kind, format, text } = sound[base % sound.length] ?? sound[0]!;
  const damaged = cuts.reduce(
    (now, { at, remove, insert }) => {
      const start = at % (now.length + 1);
      return now.slice(0, start) + insert + now.slice(start + remove);
    },
    text.replaceAll("\n", ends),
  );
  const typed = upTo === null ? damaged : damaged.slice(0, upTo % (damaged.length + 1));
  return { kind, format, text: (hasMark ? "\ufeff" : "") + typed };
}

/** A possible position of an editor's cursor: not within a line end. */
function cursorIn(text: string, somewhere: number): number {
  const lines = new Lines(text);
  return lines.offset(lines.position(somewhere % (text.length + 1)));
}

async function check({ kind, format, text }: EditedDocument): Promise<readonly Diagnostic[]> {
  const exported = { handlers: ["photoAdded"], tools: ["searchPerson"] };
  return kind === "lares"
    ? (await checkLares(text, `lares.${format}`, { layer: "workspace", folderState: () => "missing" }))
        .diagnostics
    : (
        await checkManifest(
          text,
          `extension.${format}`,
          manifestPorts(["agent.ts"], { programExports: () => exported }),
        )
      ).diagnostics;
}

function lies(range: Range, text: string): void {
  const lines = text.split(/\r\n|\n|\r/);
  for (const { line, character } of [range.start, range.end]) {
    expect(line).toBeLessThan(lines.length);
    expect(character).toBeLessThanOrEqual(lines[line]?.length ?? 0);
    expect(Math.min(line, character)).toBeGreaterThanOrEqual(0);
  }
  expect(
    range.start.line - range.end.line || range.start.character - range.end.character,
  ).toBeLessThanOrEqual(0);
}

fuzz({
  target,
  property: "completion holds the cursor, is of one line, and what it makes can be gone on with",
  arbitrary: document,
  runs: 150,
  check: async ({ offsets, ...generated }) => {
    const edited = written(generated);
    const { text } = edited;
    for (const [index, somewhere] of offsets.entries()) {
      const offset = cursorIn(text, somewhere);
      const client = { snippets: index % 2 === 0 };
      const { items } = await complete(edited, offset, environment({ client }));
      expect(items.length).toBeLessThanOrEqual(maxProposals);
      for (const { start, end, label, newText } of items) {
        expect(start).toBeLessThanOrEqual(offset);
        expect(end).toBeGreaterThanOrEqual(offset);
        expect(text.slice(start, end)).not.toMatch(/[\n\r]/);
        expect(label).not.toBe("");
        expect(newText).not.toContain("\ue0c5");
      }
      const item = items[somewhere % Math.max(1, items.length)];
      if (item === undefined) continue;
      const accepted = text.slice(0, item.start) + item.newText + text.slice(item.end);
      await complete(
        { ...edited, text: accepted },
        item.start + item.newText.length,
        environment({ client }),
      );
    }
  },
});

fuzz({
  target,
  property: "hovers, hints and the outline say where they are, within bounds",
  arbitrary: document,
  runs: 150,
  check: async ({ offsets, ...generated }) => {
    const edited = written(generated);
    const { kind, format, text } = edited;
    for (const somewhere of offsets) {
      const offset = cursorIn(text, somewhere);
      const hover = await hoverAt(edited, offset, environment());
      if (hover === null) continue;
      expect(hover.start).toBeLessThanOrEqual(offset);
      expect(hover.end).toBeGreaterThanOrEqual(offset);
      expect(hover.end).toBeLessThanOrEqual(text.length);
      expect(hover.explanation.length).toBeGreaterThan(0);
    }
    const hints = await inlayHints(edited, { start: 0, end: text.length }, events);
    expect(hints.length).toBeLessThanOrEqual(maxInlayHints);
    for (const { offset } of hints) expect(offset).toBeLessThanOrEqual(text.length);
    let parts = 0;
    const visit = (part: DocumentPart): void => {
      parts++;
      for (const range of [part.range, part.selection]) lies(range, text);
      expect(part.name).not.toMatch(/[\n\r\u001b]/);
      for (const child of part.children) visit(child);
    };
    for (const part of outlineOf(readAtOnce(text, `${kind === "lares" ? "lares" : "extension"}.${format}`)))
      visit(part);
    expect(parts).toBeLessThanOrEqual(maxParts);
  },
});

fuzz({
  target,
  property:
    "a rename changes each place and nothing else; fixes lie in the text, and what they leave can be read",
  arbitrary: document,
  runs: 60,
  check: async ({ offsets, ...generated }) => {
    const edited = written(generated);
    const { kind, format, text } = edited;
    const file = `${kind === "lares" ? "lares" : "extension"}.${format}`;
    const read = readAtOnce(text, file);
    for (const { pointer } of extensionUses(read)) lies(read.locate(pointer), text);
    const before = handlerUses(read);
    for (const somewhere of offsets) {
      const handler = handlerAt(read, cursorIn(text, somewhere));
      if (handler === null) continue;
      const edits = renameInManifest(read, handler, "anotherName");
      for (const { range } of edits) lies(range, text);
      const after = handlerUses(readAtOnce(applyEdits(text, edits), file));
      // Through an alias a name is written once and used in several places.
      const isWritten =
        edits.length ===
        before.filter(({ kind: of, name }) => of === handler.kind && name === handler.name).length;
      if (isWritten && !text.includes("*"))
        expect(after.map(({ kind: of, name }) => `${of} ${name}`)).toEqual(
          before.map(
            ({ kind: of, name }) =>
              `${of} ${of === handler.kind && name === handler.name ? "anotherName" : name}`,
          ),
        );
    }
    const faults = await check(edited);
    expect(faults.length).toBeLessThanOrEqual(maxDiagnostics);
    for (const { range, fixes } of faults) {
      lies(range, text);
      for (const { edits } of fixes) {
        for (const edit of edits) lies(edit.range, text);
        await check({ ...edited, text: applyEdits(text, edits) });
      }
    }
  },
});
