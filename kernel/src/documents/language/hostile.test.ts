import { describe, expect, test } from "vitest";
import { documentLimits, TooComplex, type DocumentFormat } from "../text/source.ts";
import { complete, type EditedDocument } from "./complete.ts";
import { readForEditor } from "./for-editors.ts";
import { hoverAt } from "./hover.ts";
import { environment } from "./testing/environment.ts";
import { tomlTokens } from "../text/toml-tokens.ts";

/** A filter as long as a document lets it be: what takes the square of that takes minutes, and the runner gives it up. */
const length = documentLimits.characters - 1024;

const opened: Readonly<Record<DocumentFormat, string>> = {
  yaml: "extension:\n  id: a.b\n  hooks:\n    - on: EntryCreated\n      handler: x\n      filter: ",
  toml: '[extension]\nid = "a.b"\n[[extension.hooks]]\non = "EntryCreated"\nfilter = ',
};

describe.each(["yaml", "toml"] as const)("%s from a stranger does not hold the kernel up", (format) => {
  test.each([
    ["spaces", `a${" ".repeat(length)}`],
    ["one long word", `${"a".repeat(length)} `],
    ["a comparison of nothing", `a ==${" ".repeat(length)}`],
    ["a long word before a text", `${"a".repeat(length)} == "`],
    ["many lists", `${"a in [".repeat(length / 6)}"`],
    ["many calls", "a.all(".repeat(length / 6)],
  ])("%s", async (_name, filter) => {
    const text = `${opened[format]}'${filter}b'\n`;
    const document: EditedDocument = { kind: "manifest", format, text };
    const end = text.length - 2;
    expect((await complete(document, end, environment())).items).toEqual([]);
    const [first] = (await hoverAt(document, end - 1, environment()))?.explanation ?? [];
    expect(first?.spans[0]).toEqual({ code: "filter" });
  });
});

/** The parser cannot be interrupted, and makes a table of each part. */
test.each([
  ["one key of very many parts", `${"a.".repeat(documentLimits.depth + 1)}a = 1`],
  ["one key of very many quoted parts", `${'"a" . '.repeat(documentLimits.depth + 1)}a = 1`],
  ["a header of very many parts", `[${"a.".repeat(documentLimits.depth + 1)}a]`],
  [
    "many keys of many parts",
    `${"a.".repeat(documentLimits.depth)}a = 1\n`.repeat(documentLimits.values / 64 + 1),
  ],
])("toml: %s is refused before it is parsed", (_name, text) => {
  expect(() => tomlTokens(text)).toThrow(TooComplex);
});

test("toml: keys and numbers with as many dots as there may be values are read", () => {
  const key = `${"a.".repeat(documentLimits.depth)}a = 1.5\n`;
  expect(tomlTokens(key)).toHaveLength(4);
  expect(tomlTokens(`a = [${"1.5, ".repeat(documentLimits.values)}]`)).not.toHaveLength(0);
});

test("not even the lines of a document beyond the bounds are counted for an editor", async () => {
  const text = "\n".repeat(documentLimits.characters + 1);
  const { lines, root } = await readForEditor(text, "extension.yaml");
  expect(root).toBeNull();
  expect(lines.position(text.length)).toEqual({ line: 0, character: 0 });
});
