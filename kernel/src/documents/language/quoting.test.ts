import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDocument } from "../text/parse.ts";
import { escaped, written, type Quote } from "./quoting.ts";

const formats = ["yaml", "toml"] as const;
/** What a folder or a handler may be called, by whoever made it. */
const names = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }).filter((text) => text.isWellFormed()),
  fc.constantFrom(
    "*",
    "@daily",
    "a: b",
    "a #b",
    "- a",
    "1.0",
    "0x1",
    "1e3",
    "true",
    "~",
    "null",
    "",
    "a\nb",
    "[a",
    "a]",
    "{a",
    "a,b",
    "'a'",
    '"a"',
    "\\",
    "&a",
    "!a",
    "%a",
    "a ",
    " a",
    "é",
    "\u2028",
  ),
);

test("a string that is written is read as itself, and on one line", () => {
  fc.assert(
    fc.property(names, fc.constantFrom(...formats), fc.boolean(), (value, format, isInFlow) => {
      const text = written(value, format, isInFlow);
      expect(text).not.toMatch(/[\r\n]/);
      const inner = isInFlow ? `[${text}]` : text;
      const { value: read, diagnostics } = parseDocument(
        format === "yaml" ? `a: ${inner}` : `a = ${inner}`,
        format,
      );
      expect({ text, diagnostics, read }).toEqual({
        text,
        diagnostics: [],
        read: { a: isInFlow ? [value] : value },
      });
    }),
    { numRuns: 2000 },
  );
});

test("the same between the quotes that are there, or not at all", () => {
  const quotes: Quote[] = ['"', "'"];
  fc.assert(
    fc.property(names, fc.constantFrom(...formats), fc.constantFrom(...quotes), (value, format, quote) => {
      const text = escaped(value, quote, format);
      if (text === null) return;
      const { value: read, diagnostics } = parseDocument(
        `a${format === "yaml" ? ": " : " = "}${quote}${text}${quote}`,
        format,
      );
      expect({ text, diagnostics, read }).toEqual({ text, diagnostics: [], read: { a: value } });
    }),
    { numRuns: 2000 },
  );
});
