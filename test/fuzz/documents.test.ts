import fc from "fast-check";
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { stringify } from "yaml";
import { compileFilter } from "../../kernel/src/events/filter.ts";
import { maxDiagnostics, type Diagnostic, type Range } from "../../kernel/src/documents/text/diagnostics.ts";
import { checkLares } from "../../kernel/src/documents/lares.ts";
import { complete } from "../../kernel/src/documents/language/complete.ts";
import { hoverAt } from "../../kernel/src/documents/language/hover.ts";
import { inlayHints } from "../../kernel/src/documents/language/inlay-hints.ts";
import { outlineOf } from "../../kernel/src/documents/language/symbols.ts";
import { environment, events } from "../../kernel/src/documents/language/testing/environment.ts";
import { readAtOnce } from "../../kernel/src/documents/language/testing/read-at-once.ts";
import { resolveConfiguration } from "../../kernel/src/documents/resolve.ts";
import { layerOf } from "../../kernel/src/documents/testing/layer.ts";
import { checkManifest } from "../../kernel/src/documents/manifest.ts";
import { parseDocument } from "../../kernel/src/documents/text/parse.ts";
import { documentLimits } from "../../kernel/src/documents/text/source.ts";
import { manifestPorts } from "../../kernel/src/documents/testing/ports.ts";
import { fuzz } from "./support/campaign.ts";
import { tomlOf } from "./support/toml.ts";

const target = "documents";
const defaults = readFileSync(new URL("../../manifests/defaults.yaml", import.meta.url), "utf8");

const scalar = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom(
    "yes",
    "null",
    "1e3",
    "0x10",
    "~",
    "2026-01-01",
    "- a",
    "a: b",
    "#x",
    "5m",
    "*",
    "EntryCreated",
    "",
  ),
  fc.boolean(),
  fc.integer(),
  fc.constantFrom(0, 1, -1, 0.5, 1e9, 4096, 65_536),
);

/** A document of roughly the right form: each setting valid, of another type, or missing, and unknown keys. */
function oneOf(...good: unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: scalar });
}
function settings(model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  const known = fc.record(model, { requiredKeys: [] });
  const stray = fc.dictionary(fc.constantFrom("extra", "limit", "Name", "versoin"), scalar, { maxKeys: 1 });
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(known, stray).map(([one, other]) => ({ ...one, ...other })) },
    { weight: 1, arbitrary: scalar },
  );
}
const list = (items: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: fc.array(items, { maxLength: 3 }) }, { weight: 1, arbitrary: scalar });

const lares = settings({
  version: oneOf(1),
  extensions: list(
    settings({
      path: oneOf("a", "./b", "../c", "/d"),
      id: oneOf("dev.test.a", "dev.test.b"),
      enabled: oneOf(true, false),
      grants: settings({
        locations: list(oneOf(".", "photos", "../x")),
        allow: list(oneOf("*", "read_entries")),
        deny: list(oneOf("write_tags")),
      }),
      config: settings({ any: scalar }),
    }),
  ),
  approvals: settings({
    auto_approve_below: oneOf(0, 0.5, 2),
    expire_after: oneOf("5m", "1d", "0s"),
    rules: list(
      settings({
        path: oneOf("**", "{a", "x/*.jpg"),
        effect: oneOf("file.write"),
        decision: oneOf("ask", "deny", "allow"),
      }),
    ),
  }),
  limits: settings({ active_agents: oneOf(1, 16, 0), idle_unload: oneOf("5m") }),
  trace: settings({ level: oneOf("debug", "info"), keep: oneOf("30d") }),
  index: settings({ hidden: oneOf(true), ignore: list(oneOf("*.tmp", "[", "**/x")) }),
  memory: settings({ embedder: oneOf("hash"), vectors: oneOf("auto") }),
});

const manifest = settings({
  extension: settings({
    id: oneOf("dev.test.a"),
    name: oneOf("A"),
    version: oneOf("1.0.0", "1"),
    main: oneOf("agent.ts", "none.ts", "../x.ts"),
    permissions: settings({
      read_entries: oneOf(true),
      propose_actions: list(oneOf("file.write")),
      unknown: oneOf(true),
    }),
    resources: settings({ max_memory_mb: oneOf(64) }),
    hooks: list(
      settings({
        on: oneOf("EntryCreated", "EntryCreate", "dev.x.y/Seen"),
        filter: oneOf("entry.isImage()", "entry.nme == 'x'", "entry.is_image()", "("),
        schedule: oneOf("@daily", "0 3 * * *", "61 * * * *"),
        timezone: oneOf("Europe/Berlin", "Nowhere"),
        handler: oneOf("seen"),
      }),
    ),
    tools: list(
      settings({
        name: oneOf("count", "a b"),
        description: oneOf("d"),
        handler: oneOf("count"),
        parameters: settings({ type: oneOf("object") }),
      }),
    ),
  }),
});

const summary = (found: readonly Diagnostic[]): string[] =>
  found.map(({ code, severity, message }) => `${severity} ${code} ${message}`).toSorted();

fuzz({
  target,
  property: "YAML and TOML of one value are resolved alike and have the same faults",
  arbitrary: fc.oneof(
    lares.map((value) => ({ name: "lares", value })),
    manifest.map((value) => ({ name: "extension", value })),
  ),
  runs: 60,
  check: async ({ name, value }) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    const json: unknown = JSON.parse(JSON.stringify(value));
    const texts = { yaml: stringify(json), toml: tomlOf(json as object), json: JSON.stringify(json) };
    const check = async (text: string, format: "yaml" | "toml") => {
      const checked =
        name === "lares"
          ? await checkLares(text, `lares.${format}`, { layer: "workspace" })
          : await checkManifest(text, `extension.${format}`, manifestPorts());
      for (const one of checked.diagnostics) checkDiagnostic(one, text);
      return { value: checked.value, usable: checked.usable, faults: summary(checked.diagnostics) };
    };
    const yaml = await check(texts.yaml, "yaml");
    expect(await check(texts.toml, "toml")).toEqual(yaml);
    expect(await check(texts.json, "yaml")).toEqual(yaml);
    expect(parseDocument(texts.yaml, "yaml").value).toEqual(json);
  },
});

function checkRange({ start, end }: Range, text: string): void {
  const lines = text.split(/\r\n|\r|\n/);
  for (const { line, character } of [start, end]) {
    expect(line).toBeGreaterThanOrEqual(0);
    expect(line).toBeLessThan(lines.length);
    expect(character).toBeGreaterThanOrEqual(0);
    expect(character).toBeLessThanOrEqual(lines[line]?.length ?? 0);
  }
  const order = start.line - end.line || start.character - end.character;
  expect(order, "a range begins before it ends").toBeLessThanOrEqual(0);
}

function checkDiagnostic({ range, message, fixes }: Diagnostic, text: string): void {
  checkRange(range, text);
  for (const edit of fixes.flatMap(({ edits }) => edits)) checkRange(edit.range, text);
  expect(message.length).toBeGreaterThan(5);
}

const token = fc.constantFrom(
  ...[
    [
      "extension:",
      "extensions:",
      "hooks:",
      "filter: ",
      "id: ",
      "path: ",
      "- ",
      "  ",
      "    ",
      "\n",
      "\n\n",
      "\r\n",
      "\r",
    ],
    [
      "a",
      "b: ",
      ": ",
      "[",
      "]",
      "{",
      "}",
      ",",
      '"',
      "'",
      "&x ",
      "*x",
      "<<: ",
      "!t ",
      "!!str ",
      "|",
      "|-\n",
      ">\n",
      "#",
      "\t",
    ],
    [
      "[extension]\n",
      "[[extension.hooks]]\n",
      "x = ",
      "=",
      ".",
      '"""',
      "'''",
      "1",
      "1e400",
      "0x",
      "nan",
      "inf",
      "-",
      "2026-01-01",
    ],
    [
      "---\n",
      "...\n",
      "%YAML 1.1\n",
      "? ",
      "\\",
      "\\u",
      "\\x1",
      "\u0000",
      "\ud800",
      "\ufeff",
      "\u2028",
      "\u0085",
      "é",
      "💡",
    ],
    ["__proto__", "constructor", "prototype", "entry.isImage()", "on: EntryCreated\n", "null", "~", "true"],
  ].flat(),
);

fuzz({
  target,
  property: "no text makes reading a document throw, and every fault lies in the text",
  arbitrary: fc.record({
    parts: fc.array(
      fc.oneof(
        { weight: 8, arbitrary: token },
        { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
      ),
      { maxLength: 40 },
    ),
    before: fc.constantFrom(
      "",
      "extension:\n  id: dev.test.a\n",
      "extensions:\n  - ",
      "[extension]\n",
      "extension:\n  hooks:\n    - on: EntryCreated\n      filter: ",
    ),
    format: fc.constantFrom("yaml" as const, "toml" as const),
  }),
  runs: 250,
  check: async ({ parts, before, format }) => {
    const text = before + parts.join("");
    const document = parseDocument(text, format);
    for (const one of document.diagnostics) checkDiagnostic(one, text);
    for (const pointer of ["", "/a", "/extension/hooks/0/filter", "/extensions/0", "/~1/~0"]) {
      checkRange(document.locate(pointer), text);
      checkRange(document.locate(pointer, "key"), text);
      for (const [offset, length] of [
        [0, 1],
        [0, 0],
        [3, 40],
      ] as const)
        checkRange(document.locateWithin(pointer, offset, length), text);
    }
    expect(Object.prototype).not.toHaveProperty("polluted");
    const checked = await Promise.all([
      checkLares(text, `lares.${format}`, { layer: "workspace" }),
      checkManifest(text, `extension.${format}`, manifestPorts()),
    ]);
    for (const { diagnostics } of checked) {
      expect(diagnostics.length).toBeLessThanOrEqual(maxDiagnostics);
      for (const one of diagnostics) checkDiagnostic(one, text);
    }
  },
});

fuzz({
  target,
  property: "large and hostile texts are refused or read, in time that grows with their length",
  arbitrary: fc.record({
    part: fc.oneof(
      token,
      fc.array(token, { minLength: 2, maxLength: 4 }).map((parts) => parts.join("")),
    ),
    format: fc.constantFrom("yaml" as const, "toml" as const),
    prefix: fc.constantFrom("", "a: ", "a = ", "a = [", "a: [", "&a [*a, ", '"'),
  }),
  runs: 15,
  check: ({ part, format, prefix }) => {
    const time = (length: number): number => {
      const text = (prefix + part.repeat(Math.ceil(length / part.length))).slice(0, length);
      const start = performance.now();
      const { diagnostics, value } = parseDocument(text, format);
      for (const one of diagnostics.slice(0, 20)) checkDiagnostic(one, text);
      expect(length > documentLimits.characters && value !== null).toBe(false);
      return performance.now() - start;
    };
    time(2000);
    const small = Math.min(time(8000), time(8000));
    let large = time(64_000);
    for (let again = 0; again < 3 && large > 30 * Math.max(small, 4); again++)
      large = Math.min(large, time(64_000));
    // Eight times the text: quadratic work takes sixty-four times as long.
    expect(large / Math.max(small, 4), JSON.stringify({ part, format, prefix })).toBeLessThan(30);
  },
});

fuzz({
  target,
  property: "the place of a fault within a filter is the text that the filter's own check names",
  arbitrary: fc.record({
    filter: fc
      .array(
        fc.constantFrom(
          "entry",
          ".nme",
          ".isImage()",
          " && ",
          '"',
          "'",
          "\\",
          "(",
          "é",
          "\n",
          " ",
          "x",
          "\\n",
          "💡",
        ),
        { minLength: 1, maxLength: 8 },
      )
      .map((parts) => parts.join("")),
    style: fc.constantFrom("yaml-double", "yaml-any", "toml" as const),
  }),
  runs: 1000,
  check: async ({ filter, style }) => {
    const direct = compileFilter(filter, "EntryCreated");
    if (direct.ok || direct.length === 0) return;
    const hooks = [{ on: "EntryCreated", handler: "seen", filter }];
    const value = { extension: { id: "dev.test.a", name: "A", version: "1.0.0", hooks } };
    const text =
      style === "toml" ? tomlOf(value) : style === "yaml-any" ? stringify(value) : JSON.stringify(value);
    const format = style === "toml" ? "toml" : "yaml";
    const { diagnostics } = await checkManifest(text, `extension.${format}`, manifestPorts());
    const [found] = diagnostics.filter(({ message }) => message === direct.message);
    if (found === undefined) expect(diagnostics.map(({ message }) => message)).toContain(direct.message);
    else checkDiagnostic(found, text);
  },
});

/** Everything in YAML besides plain values: tags, anchors, directives, several documents, encodings, controls. */
const zoo = fc.constantFrom(
  ...[
    "timestamp",
    "binary",
    "omap",
    "set",
    "pairs",
    "merge",
    "value",
    "str",
    "int",
    "float",
    "bool",
    "null",
    "map",
    "seq",
    "js/undefined",
    "js/function",
  ].map((tag) => `!!${tag} `),
  "! ",
  "!a ",
  "!<tag:yaml.org,2002:merge> ",
  "!!float .nan",
  "!!int 0o7",
  ".inf",
  "-.INF",
  ".NaN",
  "-0",
  "0x",
  "1e999",
  "=",
  "<<",
  "&a ",
  "&a: ",
  "*a",
  "*a ",
  "*b",
  "<<: *a",
  "<<: [*a]",
  "? ",
  "? [a]\n: ",
  ": ",
  "- ",
  "[",
  "]",
  "{",
  "}",
  ", ",
  "%YAML 1.1\n---\n",
  "%YAML 1.2\n---\n",
  "%TAG ! tag:x,2000:\n---\n",
  "---\n",
  "...\n",
  "--- |\n",
  "\ufeff",
  "\n",
  "\n  ",
  "\n    ",
  "\r",
  "\r\n",
  "\t",
  "\0",
  "\u0007",
  "\u007f",
  "\u0085",
  "\u2028",
  "\ud800",
  "\udcff\udcfe",
  "a\0b\0",
  '"',
  "'",
  '"\\ud800"',
  '"\\0"',
  "|\n  x\n",
  ">-\n  x\n",
  "# c\n",
  "2026-01-01",
  "aGk=",
  "x",
  "__proto__: ",
  "toString: ",
);

fuzz({
  target,
  property: "no value of YAML reaches past a document's own diagnostics",
  arbitrary: fc.record({
    before: fc.constantFrom(
      "",
      "version: ",
      "extensions:\n  - config: ",
      "limits: { max_memory_mb: ",
      "extension:\n  id: a.b\n  name: A\n  version: ",
      "extension:\n  id: a.b\n  name: A\n  version: 1.0.0\n  tools:\n    - name: t\n      handler: h\n      description: d\n      parameters: ",
    ),
    parts: fc.array(zoo, { minLength: 1, maxLength: 12 }),
    at: fc.nat(200),
  }),
  runs: 300,
  check: async ({ before, parts, at }) => {
    const text = before + parts.join("");
    const { value } = parseDocument(text, "yaml");
    expect(JSON.parse(JSON.stringify(value))).toStrictEqual(value);
    const layer = (layerText: string) => checkLares(layerText, "lares.yaml", { layer: "user" });
    const checked = [
      await layer(text),
      await checkManifest(text, "extension.yaml", manifestPorts()),
    ] as const;
    for (const { diagnostics } of checked) {
      expect(diagnostics.map(({ code }) => code)).not.toContain("check-failed");
      for (const one of diagnostics) checkDiagnostic(one, text);
    }
    if (checked[0].usable) {
      const user = layerOf("lares.yaml", checked[0]);
      await resolveConfiguration({
        environment: {},
        workspace: null,
        user,
        defaults: layerOf("d", await layer(defaults)),
      });
    }
    const offset = Math.min(at, text.length);
    for (const kind of ["lares", "manifest"] as const) {
      const document = { kind, format: "yaml", text } as const;
      await complete(document, offset, environment());
      await hoverAt(document, offset, environment());
      await inlayHints(document, { start: 0, end: text.length }, events);
    }
    const read = readAtOnce(text, "lares.yaml");
    expect(JSON.parse(JSON.stringify(read.value))).toStrictEqual(read.value);
    outlineOf(read);
  },
});
