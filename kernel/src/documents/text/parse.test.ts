import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countTurns } from "../../base/testing/count-turns.ts";
import { stringify } from "yaml";
import type { Range } from "./diagnostics.ts";
import { maxDiagnostics } from "./diagnostics.ts";
import { checkLares } from "../lares.ts";
import { formatOf, parseDocument, parseInTurns } from "./parse.ts";
import { atOnce } from "./turns.ts";
import { yamlNodes } from "./yaml-nodes.ts";
import { documentLimits, type DocumentFormat, type ParsedDocument } from "./source.ts";

function parsed(text: string, format: DocumentFormat): ParsedDocument {
  const document = parseDocument(text, format);
  expect(document.diagnostics).toEqual([]);
  return document;
}

/** The piece of the text that a range covers. */
function piece(text: string, { start, end }: Range): string {
  const lines = text.split("\n");
  if (start.line === end.line) return (lines[start.line] ?? "").slice(start.character, end.character);
  return [
    (lines[start.line] ?? "").slice(start.character),
    ...lines.slice(start.line + 1, end.line),
    (lines[end.line] ?? "").slice(0, end.character),
  ].join("\n");
}

describe("values", () => {
  const cases: [name: string, format: DocumentFormat, text: string, value: unknown][] = [
    ["on and yes are strings", "yaml", "on: yes\noff: no\n", { on: "yes", off: "no" }],
    ["a date stays a string", "yaml", "d: 2026-01-02\n", { d: "2026-01-02" }],
    ["an alias stands for its anchor", "yaml", "a: &x [1]\nb: *x\n", { a: [1], b: [1] }],
    ["numbers as keys", "yaml", "1: a\ntrue: b\n", { "1": "a", true: "b" }],
    ["nothing", "yaml", "", null],
    ["a missing value", "yaml", "a:\nb: 1\n", { a: null, b: 1 }],
    ["a byte order mark", "yaml", "\ufeffa: 1\nb: 2\n", { a: 1, b: 2 }],
    ["a byte order mark", "toml", "\ufeffa = 1\nb = 2\n", { a: 1, b: 2 }],
    [
      "dates become ISO strings",
      "toml",
      "a = 2026-01-02\nb = 2026-01-02 03:04:05z\nc = 03:04:05\n",
      { a: "2026-01-02", b: "2026-01-02T03:04:05Z", c: "03:04:05" },
    ],
    [
      "tables, dotted keys, arrays of tables",
      "toml",
      '[a.b]\nc.d = 1\n[[a.e]]\nf = 1\n[[a.e]]\ng = 2\n[a.e.h]\ni = "x"\n',
      { a: { b: { c: { d: 1 } }, e: [{ f: 1 }, { g: 2, h: { i: "x" } }] } },
    ],
    ["nothing", "toml", "", {}],
    ["inline tables", "toml", "a = { b.c = 1, d = [ { e = 2 } ] }\n", { a: { b: { c: 1 }, d: [{ e: 2 }] } }],
  ];
  for (const [name, format, text, value] of cases) {
    test(`${format}: ${name}`, () => expect(parsed(text, format).value).toEqual(value));
  }
});

test("YAML and TOML give the same value, which is found at every pointer", () => {
  const key = fc
    .oneof(fc.stringMatching(/^[a-z_]{1,6}$/), fc.string({ maxLength: 6 }))
    .filter((name) => !["__proto__", "constructor", "prototype"].includes(name));
  const leaf = fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
  );
  const { table } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: "small" }, leaf, tie("table"), fc.array(tie("value"), { maxLength: 3 })),
    table: fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  }));
  fc.assert(
    fc.property(table, (value) => {
      const json: unknown = JSON.parse(JSON.stringify(value));
      for (const [format, text] of [
        ["yaml", stringify(json)],
        ["yaml", JSON.stringify(json)],
        ["toml", toml(json)],
      ] as const) {
        const document = parseDocument(text, format);
        expect([format, document.diagnostics]).toEqual([format, []]);
        expect(document.value).toEqual(json);
      }
    }),
    { numRuns: 300 },
  );
});

function toml(table: unknown): string {
  const inline = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
    if (typeof value === "object") {
      return `{${Object.entries(value ?? {})
        .map(([key, item]) => `${quoted(key)} = ${inline(item)}`)
        .join(", ")}}`;
    }
    if (typeof value === "number") return Number.isInteger(value) ? String(value) : value.toExponential();
    return typeof value === "string" ? quoted(value) : JSON.stringify(value);
  };
  const quoted = (text: string): string =>
    `"${Array.from(text, (character) => (/[\x20-\x7e]/.test(character) && !/["\\]/.test(character) ? character : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`)).join("")}"`;
  return Object.entries(table as object)
    .map(([key, value]) => `${quoted(key)} = ${inline(value)}\n`)
    .join("");
}

describe("places", () => {
  const yaml = 'top:\n  list:\n    - one\n    - { a: "x", b: 2 }\n  empty:\n';
  const tomlText =
    '[top]\nlist = ["one", { a = "x", b = 2 }]\n[top.sub]\nc = 1\n[[top.many]]\nd = 1\n[[top.many]]\nd = 2\n';
  const cases: [
    format: DocumentFormat,
    text: string,
    pointer: string,
    part: "key" | "value",
    covered: string,
  ][] = [
    ["yaml", yaml, "/top/list", "key", "list"],
    ["yaml", yaml, "/top/list/0", "value", "one"],
    ["yaml", yaml, "/top/list/1/a", "key", "a"],
    ["yaml", yaml, "/top/list/1/a", "value", '"x"'],
    ["yaml", yaml, "/top/missing", "value", "top"],
    ["yaml", yaml, "/missing", "value", "top:"],
    ["toml", tomlText, "/top/list/0", "value", '"one"'],
    ["toml", tomlText, "/top/list/1/b", "key", "b"],
    ["toml", tomlText, "/top/sub", "key", "sub"],
    ["toml", tomlText, "/top/sub/c", "value", "1"],
    ["toml", tomlText, "/top/many/1/d", "value", "2"],
    ["toml", tomlText, "/top/sub/missing", "value", "sub"],
    ["toml", tomlText, "", "value", "[top]"],
  ];
  for (const [format, text, pointer, part, covered] of cases) {
    test(`${format} ${pointer} ${part}`, () =>
      expect(piece(text, parsed(text, format).locate(pointer, part))).toBe(covered));
  }

  test("lines and characters count from zero, in UTF-16", () => {
    expect(parsed('a: "\u{1f600}"\nbb: x\r\nc: y\n', "yaml").locate("/c")).toEqual({
      start: { line: 2, character: 3 },
      end: { line: 2, character: 4 },
    });
    expect(parsed('a = { "\u{1f600}" = 1, b = 2 }\n', "toml").locate("/a/b")).toEqual({
      start: { line: 0, character: 20 },
      end: { line: 0, character: 21 },
    });
  });
});

describe("places within strings", () => {
  const cases: [name: string, format: DocumentFormat, text: string, wanted: string, covered?: string][] = [
    ["plain", "yaml", "f: entry.nme == 1\n", "nme"],
    ["plain, folded", "yaml", "f: entry.path &&\n   entry.nme\n", "nme"],
    ["single quotes", "yaml", "f: 'x == ''a'' && entry.nme'\n", "nme"],
    ["double quotes", "yaml", 'f: "x == \\"a\\" && \\u0065ntry.nme"\n', "nme"],
    ["double quotes, continued", "yaml", 'f: "x == 1 \\\n   && entry.nme"\n', "nme"],
    ["literal block", "yaml", "f: |\n  x == 1 &&\n    entry.nme\n", "nme"],
    ["folded block", "yaml", "f: >-\n  x == 1 &&\n  entry.nme\n", "nme"],
    ["an escape itself", "yaml", 'f: "a\\tb"\n', "\t", "\\t"],
    ["basic", "toml", 'f = "x == \\"a\\" && \\u0065ntry.nme"\n', "nme"],
    ["literal", "toml", "f = 'x == \"a\" && entry.nme'\n", "nme"],
    ["multi-line basic", "toml", 'f = """\nx == "a" && \\\n   entry.nme"""\n', "nme"],
    ["multi-line literal", "toml", "f = '''\nx == 'a' &&\nentry.nme'''\n", "nme"],
  ];
  for (const [name, format, text, wanted, covered] of cases) {
    test(`${format}: ${name}`, () => {
      const document = parsed(text, format);
      const offset = (document.value as { f: string }).f.indexOf(wanted);
      expect(offset).toBeGreaterThanOrEqual(0);
      expect(piece(text, document.locateWithin("/f", offset, wanted.length))).toBe(covered ?? wanted);
    });
  }

  test("the whole of a string from an alias", () => {
    const text = "a: &x entry.nme\nf: *x\n";
    expect(piece(text, parsed(text, "yaml").locateWithin("/f", 6, 3))).toBe("*x");
  });
});

describe("what is refused", () => {
  const bomb = `a: &a [x, x, x, x, x, x, x, x, x]\n${"bcdefghi"
    .split("")
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[index]}`).join(", ")}]`)
    .join("\n")}\n`;
  const cases: [name: string, format: DocumentFormat, text: string, code: string, covered?: string][] = [
    ["not YAML", "yaml", "a: [1,\nb: 2\n", "syntax"],
    ["not TOML", "toml", "a = \n", "syntax"],
    ["a duplicate key", "yaml", "a: 1\nb: 2\na: 3\n", "duplicate-key", "a"],
    ["a duplicate key", "toml", "a = 1\nb = 2\na = 3\n", "duplicate-key", "a"],
    ["two documents", "yaml", "a: 1\n---\nb: 1\n", "multiple-documents"],
    ["a tag", "yaml", "a: !!js/function x\n", "syntax", "!!js/function"],
    ["an unknown alias", "yaml", "a: *x\n", "syntax"],
    ["__proto__", "yaml", "a: { b: { __proto__: { x: 1 } } }\n", "forbidden-key", "__proto__"],
    ["__proto__ in quotes", "yaml", '"__\\u0070roto__": 1\n', "forbidden-key"],
    ["constructor", "toml", "[a.constructor]\nx = 1\n", "forbidden-key", "constructor"],
    ["prototype", "toml", "a = { prototype.x = 1 }\n", "forbidden-key", "prototype"],
    ["an alias bomb", "yaml", bomb, "document-too-complex"],
    ["an alias to its own parent", "yaml", "a: &a\n  b: *a\n", "syntax", "*a"],
    ["infinity", "yaml", "a: .inf\n", "unsupported-number", ".inf"],
    ["not a number", "toml", "a = nan\n", "unsupported-number", "nan"],
    [
      "an integer that is not exact",
      "toml",
      "a = 9007199254740993\n",
      "unsupported-number",
      "9007199254740993",
    ],
    [
      "an integer that is not exact",
      "yaml",
      "a: 9007199254740993\n",
      "unsupported-number",
      "9007199254740993",
    ],
    ["too long", "yaml", "#".repeat(documentLimits.characters + 1), "document-too-large"],
    ["too long", "toml", "#".repeat(10 * 1024 * 1024), "document-too-large"],
    ["a map as a key", "yaml", "? {a: 1}\n: 1\n", "syntax"],
  ];
  for (const [name, format, text, code, covered] of cases) {
    test(`${format}: ${name}`, () => {
      const document = parseDocument(text, format);
      expect(document.value).toBeNull();
      expect(document.diagnostics.map((diagnostic) => diagnostic.code)).toContain(code);
      const found = document.diagnostics.find((diagnostic) => diagnostic.code === code);
      if (covered !== undefined && found !== undefined) expect(piece(text, found.range)).toBe(covered);
    });
  }

  const megabyte = documentLimits.characters;
  const deep: [name: string, format: DocumentFormat, text: string][] = [
    ["flow sequences", "yaml", "[".repeat(megabyte)],
    ["block sequences", "yaml", "- ".repeat(megabyte / 2)],
    ["65 levels", "yaml", `${"[".repeat(66)}${"]".repeat(66)}`],
    ["keys", "yaml", Array.from({ length: 11_000 }, (_, index) => `k${index}: 1`).join("\n")],
    ["arrays", "toml", `a = ${"[".repeat(megabyte - 10)}`],
    ["dotted keys", "toml", `${"a.".repeat(400)}a = 1\n`],
    ["keys", "toml", Array.from({ length: 11_000 }, (_, index) => `k${index} = 1`).join("\n")],
    ["headers", "toml", "[[a]]\n".repeat(30_000)],
    // The parser, which cannot be interrupted, is not asked.
    ["tables", "toml", Array.from({ length: 8_001 }, (_, index) => `[t${index}]\n`).join("")],
    [
      "keys of tables",
      "toml",
      Array.from({ length: 4_001 }, (_, index) => `[t${index}]\na = [1]\n`).join(""),
    ],
    ["keys without values", "toml", "a =\n".repeat(8_001)],
  ];
  for (const [name, format, text] of deep) {
    test(`${format}: nested or numerous ${name}`, () => {
      expect(parseDocument(text, format).diagnostics.map(({ code }) => code)).toEqual([
        "document-too-complex",
      ]);
    });
  }
});

test("no text whatever makes it throw", () => {
  const part = fc.constantFrom(
    "a",
    ":",
    " ",
    "\n",
    "- ",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    "&x ",
    "*x",
    "!t ",
    "=",
    "[[",
    "|",
    ">",
    "#",
    "\t",
    "1",
    ".",
    ",",
    "---\n",
    "? ",
    "\\",
    "\u0000",
    "\ud800",
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 30 }),
      fc.constantFrom("yaml" as const, "toml" as const),
      (parts, format) => {
        const document = parseDocument(parts.join(""), format);
        document.locate("/a/0");
        document.locateWithin("/a", 0, 1);
      },
    ),
    { numRuns: 3000 },
  );
});

describe("a value that JSON does not have is a fault at its place", () => {
  test.each<[format: DocumentFormat, text: string, code: string, covered: string]>([
    ["yaml", "a: !!merge x\n", "syntax", "!!merge"],
    ["yaml", "a: !!timestamp 2026-01-01\n", "syntax", "!!timestamp"],
    ["yaml", "a: !!binary aGk=\n", "syntax", "!!binary"],
    ["yaml", "a: !!omap [b: 1]\n", "syntax", "!!omap"],
    ["yaml", "a: !!set { b }\n", "syntax", "!!set"],
    ["yaml", "a: !mine x\n", "syntax", "!mine"],
    ["yaml", "? [a]\n: 1\n", "syntax", "[a]"],
    ["yaml", "a: b\0\n", "syntax", "\0"],
    ["yaml", "a: b\u0007\n", "syntax", "\u0007"],
    ["yaml", 'a: "\\ud800"\n', "unsupported-value", '"\\ud800"'],
    ["yaml", "%YAML 1.2\n%YAML 1.2\n---\na: 1\n", "syntax", "%YAML"],
    ["toml", "a = 1 # \u007f\n", "syntax", "\u007f"],
    ["yaml", "a: \udce9\n", "encoding", "\udce9"],
    ["toml", "a = '\udce9'\n", "encoding", "\udce9"],
  ])("%s: %j", (format, text, code, covered) => {
    const { value, diagnostics } = parseDocument(text, format);
    expect(value).toBeNull();
    const found = diagnostics.find((each) => each.code === code);
    expect(found && piece(text, found.range)).toBe(covered);
  });

  test("a carriage return alone ends no line of TOML", () => {
    expect(parseDocument("a = 1\rb = 2\r", "toml").diagnostics).toMatchObject([
      { code: "syntax", range: { start: { line: 0, character: 5 } } },
      { code: "syntax", range: { start: { line: 1, character: 5 } } },
    ]);
  });

  test("a file in UTF-16 is called one, with and without a byte order mark", () => {
    for (const text of ["\udcff\udcfea\0:\0", "a\0:\0 \0", "\0a\0:"])
      expect(parseDocument(text, "yaml").diagnostics).toMatchObject([
        { code: "encoding", message: "The file is encoded as UTF-16. Save it as UTF-8." },
      ]);
  });
});

describe("valid, if unusual", () => {
  test.each<[format: DocumentFormat, text: string, value: unknown]>([
    ["yaml", "&a a: &b b\n*b : *a\n", { a: "b", b: "a" }],
    ["yaml", "&a: key: &b: value\n", { key: "value" }],
    ["yaml", "1: a\n0x10: b\n~: c\n", { "1": "a", "0x10": "b", "~": "c" }],
    ["yaml", "a: 5e+22\nb: -0\n", { a: 5e22, b: 0 }],
    ["toml", "a = 5e+22\nb = -0.0\n", { a: 5e22, b: 0 }],
  ])("%s: %j", (format, text, value) => expect(parsed(text, format).value).toStrictEqual(value));
});

test("the number of faults is limited, with a note that there are more", async () => {
  for (const text of [`[${",".repeat(40_000)}`, `a: "${"\\q".repeat(40_000)}"`, "[]\n".repeat(10_000)])
    expect(atOnce(yamlNodes(text)).faults.length).toBeLessThanOrEqual(maxDiagnostics + 2);
  const { diagnostics } = await checkLares("k: 1\n".repeat(4000), "lares.yaml", { layer: "workspace" });
  expect(diagnostics).toHaveLength(maxDiagnostics);
  expect(diagnostics[0]).toMatchObject({ code: "more-faults", severity: "information" });
});

test("nested blocks are refused before anything recurses over them", () => {
  const text = Array.from({ length: 600 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("");
  expect(parseDocument(text, "yaml").diagnostics).toMatchObject([
    { code: "document-too-complex", message: "The document is more than 64 levels deep." },
  ]);
});

test("while a large document is read everything else on the event loop has its turns", async () => {
  const text = Array.from({ length: 2400 }, (_, index) => `k${index}: [1]\n`).join("");
  const { result, turns } = await countTurns(() => parseInTurns(text, "yaml"));
  expect(result.diagnostics).toEqual([]);
  expect(turns).toBeGreaterThan(1);
});

test("a file's name determines its format", () => {
  expect(["a.yaml", "a.YML", "a.toml", "a.json"].map(formatOf)).toEqual(["yaml", "yaml", "toml", undefined]);
});
