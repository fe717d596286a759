import { describe, expect, test } from "vitest";
import { documentLimits, type DocumentFormat } from "../source.ts";
import { complete, type EditedDocument } from "./complete.ts";
import { hoverAt } from "./hover.ts";
import { environment } from "./testing/environment.ts";

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
