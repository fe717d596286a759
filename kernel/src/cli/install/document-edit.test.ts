import { expect, test } from "vitest";
import { parseDocument } from "../../documents/text/parse.ts";
import { emptyDocument, withExtension, withoutExtension } from "./document-edit.ts";

const id = "com.example.photos";
const grants = { locations: ["photos/"], deny: ["write_tags"] };
const entry = { id, grants: { locations: ["photos/"], deny: ["write_tags"] } };
const enabled = (text: string, format: "yaml" | "toml" = "yaml", with_ = grants): string => {
  const edit = withExtension(text, format, id, with_);
  if (!("text" in edit)) throw new Error(edit.fault);
  return edit.text;
};

test.each([
  ["nothing", emptyDocument, [entry]],
  ["an empty list", "version: 1\nextensions: []\n", [entry]],
  ["a list without a value", "version: 1\nextensions:\nkernel: { linger: 1s }\n", [entry]],
  ["a list", "extensions:\n  # mine\n  - id: a.b\n    grants: { locations: [x/] } # here\n", ["a.b", entry]],
  ["a list without indentation", "extensions:\n- id: a.b\nlimits: {}\n", ["a.b", entry]],
  ["a list between brackets", "extensions: [{ id: a.b }]\n", ["a.b", entry]],
  ["JSON", '{"version": 1, "extensions": [{"id": "a.b"}]}', ["a.b", entry]],
  ["JSON without a list", '{"version": 1}', [entry]],
  ["no line break at the end", "version: 1", [entry]],
  [
    "the extension, disabled",
    `extensions:\n  - id: ${id}\n    enabled: false\n`,
    [{ ...entry, enabled: true }],
  ],
  [
    "the extension with other grants",
    `extensions:\n  - id: ${id}\n    grants: { locations: ["."], allow: ["*"] }\n    config: { a: 1 }\n`,
    [{ ...entry, grants: { ...entry.grants, allow: ["*"] }, config: { a: 1 } }],
  ],
])("in a YAML document with %s, the extension is enabled", (_what, text, wanted) => {
  const { value } = parseDocument(enabled(text), "yaml");
  const list = (value as { extensions: { id: string }[] }).extensions;
  expect(list.map((each) => (each.id === id ? each : each.id))).toEqual(wanted);
  for (const comment of text.match(/#.*$/gm) ?? []) expect(enabled(text)).toContain(comment);
});

test.each([
  ["nothing", "version = 1\n", [entry]],
  ["tables", 'version = 1\n\n[[extensions]]\nid = "a.b"\n\n[kernel]\nlinger = "1s"\n', ["a.b", entry]],
  ["an inline list", 'extensions = [{ id = "a.b" }]\n', ["a.b", entry]],
])("in a TOML document with %s, the extension is enabled", (_what, text, wanted) => {
  const { value, diagnostics } = parseDocument(enabled(text, "toml"), "toml");
  expect(diagnostics).toEqual([]);
  const list = (value as { extensions: { id: string }[] }).extensions;
  expect(list.map((each) => (each.id === id ? each : each.id))).toEqual(wanted);
});

test("without grants, an entry that is there stays as it is", () => {
  const text = `extensions:\n  - id: ${id}\n    grants: { locations: [x/] }\n`;
  expect(enabled(text, "yaml", {} as typeof grants)).toBe(text);
  expect(enabled("", "yaml", {} as typeof grants)).toBe(`extensions:\n  - id: ${id}\n`);
});

test("a document with errors is left to the person", () => {
  for (const text of ["extensions: [", "extensions: yes\n", "- a\n"])
    expect(withExtension(text, "yaml", id, grants)).toHaveProperty("fault");
});

test.each([
  ["the only entry", `version: 1\nextensions:\n  - id: ${id}\n`, []],
  [
    "one of several",
    `extensions:\n  - id: a.b\n  - id: ${id}\n    grants: { locations: [x/] }\n  - id: c.d\n`,
    ["a.b", "c.d"],
  ],
  ["an entry twice", `extensions:\n  - id: ${id}\n  - id: a.b\n  - id: ${id}\n`, ["a.b"]],
  ["one between brackets", `extensions: [{ id: a.b }, { id: ${id} }]\n`, ["a.b"]],
])("%s is removed", (_what, text, wanted) => {
  const edit = withoutExtension(text, "yaml", id);
  const { value } = parseDocument("text" in edit ? edit.text : "", "yaml");
  expect(((value as { extensions?: { id: string }[] }).extensions ?? []).map((each) => each.id)).toEqual(
    wanted,
  );
});

test("a TOML table is removed", () => {
  const text = `version = 1\n\n[[extensions]]\nid = "a.b"\n\n[[extensions]]\nid = "${id}"\n\n[kernel]\nlinger = "1s"\n`;
  const edit = withoutExtension(text, "toml", id);
  expect(edit).toEqual({ text: expect.not.stringContaining(id) });
  expect(edit).toEqual({ text: expect.stringContaining("a.b") });
});
