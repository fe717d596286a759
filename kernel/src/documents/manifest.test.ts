import { readFile } from "node:fs/promises";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import type { DiagnosticCode } from "./text/codes.ts";
import type { Diagnostic } from "./text/diagnostics.ts";
import { checkManifest, type CheckedManifest } from "./manifest.ts";
import type { ManifestPorts } from "./ports.ts";
import { publishedDocumentSchemas } from "./published.ts";
import { manifestPorts } from "./testing/ports.ts";
import { marked } from "./testing/marked.ts";

const fixture = (name: string) => readFile(new URL(`fixtures/${name}`, import.meta.url), "utf8");
/** Parameters of 40 definitions, each of which names the next one twice. */
const fanOut = JSON.stringify({
  type: "object",
  allOf: [{ $ref: "#/definitions/d0" }],
  definitions: Object.fromEntries(
    Array.from({ length: 40 }, (_, level) => {
      const next = { $ref: `#/definitions/d${level + 1}` };
      return [`d${level}`, { allOf: [next, next] }];
    }),
  ),
});
const head = "extension:\n  id: com.example.a\n  name: A\n  version: 1.0.0\n";
const tomlHead = '[extension]\nid = "com.example.a"\nname = "A"\nversion = "1.0.0"\n';

const withCode = (checked: CheckedManifest, code: DiagnosticCode): Diagnostic | undefined =>
  checked.diagnostics.find((diagnostic) => diagnostic.code === code);

describe("the documented example, without its program", () => {
  for (const name of ["photos-toml/extension.toml", "photos-yaml/extension.yaml"]) {
    test(`${name} has no errors; unmet conditions are warnings`, async () => {
      const checked = await checkManifest(await fixture(name), name, manifestPorts([]));
      expect(checked.diagnostics.map(({ code, severity }) => [code, severity])).toEqual([
        ["no-program", "warning"],
        ["requirement-not-met", "warning"],
        ["requirement-not-met", "warning"],
        ["requirement-not-met", "warning"],
        ["invalid-hash", "warning"],
      ]);
      expect(checked.usable).toBe(true);
    });

    test(`${name} passes the published schema`, async () => {
      const { document } = await checkManifest(await fixture(name), name, manifestPorts([]));
      const validate = new Ajv().compile(publishedDocumentSchemas()["extension.schema.json"] ?? false);
      expect(validate({ $schema: "../schemas/extension.schema.json", ...(document.value as object) })).toBe(
        true,
      );
    });
  }

  test("YAML and TOML resolve to the same", async () => {
    const toml = await checkManifest(
      await fixture("photos-toml/extension.toml"),
      "extension.toml",
      manifestPorts(),
    );
    const yaml = await checkManifest(
      await fixture("photos-yaml/extension.yaml"),
      "extension.yaml",
      manifestPorts(),
    );
    expect(toml.value).not.toBeNull();
    expect(yaml.value).toEqual(toml.value);
    expect(toml.value?.hooks[1]).toEqual({
      kind: "schedule",
      schedule: "0 3 * * *",
      handler: "maintenance",
      catchUp: "skip",
    });
  });
});

test("a manifest of id, name and version is whole, and needs no program", async () => {
  const checked = await checkManifest(head, "extension.yaml", manifestPorts([]));
  expect(checked.diagnostics).toEqual([]);
  expect(checked.value).toMatchObject({
    main: null,
    hooks: [],
    tools: [],
    permissions: {},
    agent: { enableMemory: true, activation: "on_event" },
  });
});

describe("the program", () => {
  const hook = `${head}  hooks: [{ on: EntryCreated, handler: h }]\n`;
  for (const [files, main] of [
    [["agent.js", "agent.ts", "agent.wasm"], "agent.wasm"],
    [["agent.js", "agent.ts"], "agent.ts"],
    [["agent.js"], "agent.js"],
    [["other.ts"], null],
  ] as const) {
    test(`of ${files.join(", ")} it is ${main}`, async () => {
      const checked = await checkManifest(hook, "extension.yaml", manifestPorts(files));
      expect(checked.value?.main).toBe(main);
      expect(checked.diagnostics.map(({ code }) => code)).toEqual(main === null ? ["no-program"] : []);
    });
  }
});

describe("faults, each at its place", () => {
  const nothing = { handlers: [], tools: [] };
  const cases: [
    format: "yaml" | "toml",
    source: string,
    code: DiagnosticCode,
    message: RegExp,
    ports?: Partial<ManifestPorts>,
  ][] = [
    [
      "yaml",
      "extension:\n  id: com.example.a\n  name: A\n  version: 1.0.0\n  «nmae»: x\n",
      "unknown-field",
      /extension has no field "nmae"; did you mean "name"\?/,
    ],
    [
      "toml",
      `${tomlHead}[extension.«permisions»]\nwrite_tags = true\n`,
      "unknown-field",
      /did you mean "permissions"/,
    ],
    [
      "yaml",
      "«extension»:\n  id: com.example.a\n  name: A\n",
      "missing-field",
      /extension lacks the field "version": the extension's version, of the form 1\.2\.3/,
    ],
    ["yaml", "«{}»\n", "missing-field", /The document lacks the field "extension"/],
    ["yaml", "«- a»\n", "wrong-type", /The document has to be a map, but is a list/],
    ["yaml", "extension: «just text»\n", "wrong-type", /extension has to be a map, but is "just text"/],
    [
      "yaml",
      "extension:\n  id: «Photos»\n  name: A\n  version: 1.0.0\n",
      "invalid-id",
      /reverse domain name/,
    ],
    [
      "yaml",
      `${head}  agent: { activation: «on_evnet» }\n`,
      "invalid-value",
      /one of on_event, eager, but is "on_evnet"; did you mean "on_event"/,
    ],
    [
      "toml",
      `${tomlHead}[extension.resources]\nmax_memory_mb = «0»\n`,
      "invalid-value",
      /at least 1, but is 0/,
    ],
    [
      "yaml",
      `${head}  permissions: { read_entries: { «fliter»: "*" } }\n`,
      "unknown-field",
      /did you mean "filter"/,
    ],
    [
      "yaml",
      `${head}  permissions: { read_entries: «yes» }\n`,
      "wrong-type",
      /true or false or a map, but is "yes"/,
    ],
    [
      "yaml",
      `${head}  permissions: { read_entries: { filter: «"{1..9}"» } }\n`,
      "invalid-glob",
      /brace range/,
    ],
    [
      "yaml",
      `${head}  hooks:\n    - { on: «EntryCraeted», handler: h }\n`,
      "unknown-event",
      /did you mean "EntryCreated"/,
    ],
    [
      "yaml",
      `${head}  hooks:\n    - { on: «Opened», handler: h }\n`,
      "unknown-event",
      /there are EntryCreated, .*publisher\.id\/EventName/,
    ],
    [
      "yaml",
      `${head}  hooks:\n    - on: EntryCreated\n      filter: entry.«nme» == "x"\n      handler: h\n`,
      "invalid-filter",
      /did you mean "name"/,
    ],
    [
      "yaml",
      `${head}  hooks:\n    - on: EntryCreated\n      filter: 'entry.name == ''x'' && «entyr».isImage()'\n      handler: h\n`,
      "invalid-filter",
      /no field "entyr"/,
    ],
    [
      "yaml",
      `${head}  hooks:\n    - on: EntryCreated\n      filter: >-\n        entry.isImage() &&\n        entry.«nme» == ""\n      handler: h\n`,
      "invalid-filter",
      /no field "nme"/,
    ],
    [
      "toml",
      `${tomlHead}[[extension.hooks]]\non = "EntryCreated"\nfilter = "entry.name == \\"x\\" && entry.«nme» == 1"\nhandler = "h"\n`,
      "invalid-filter",
      /no field "nme"/,
    ],
    [
      "toml",
      `${tomlHead}[[extension.hooks]]\non = "EntryCreated"\nfilter = """\nentry.isImage() &&\nentry.«nme» == 1"""\nhandler = "h"\n`,
      "invalid-filter",
      /no field "nme"/,
    ],
    [
      "toml",
      `${tomlHead}[[extension.hooks]]\non = "EntryDeleted"\nfilter = '«entry».isImage()'\nhandler = "h"\n`,
      "invalid-filter",
      /EntryDeleted has no field "entry"/,
    ],
    [
      "toml",
      `${tomlHead}[[extension.hooks]]\non = "EntryCreated"\nfilter = "entry.«is_image»()"\nhandler = "h"\n`,
      "old-spelling",
      /write "isImage"/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ schedule: "«61 * * * *»", handler: h }]\n`.replace('"«', '«"').replace('»"', '"»'),
      "invalid-schedule",
      /minute: 61/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ schedule: 0 3 * * *, timezone: «Mars/Base», handler: h }]\n`,
      "invalid-schedule",
      /no time zone "Mars\/Base"/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ schedule: 0 3 * * *, catch_up: «twice», handler: h }]\n`,
      "invalid-value",
      /skip, once, all/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ on: EntryCreated, «schedule»: 0 3 * * *, handler: h }]\n`,
      "hook-binding",
      /either on or schedule/,
    ],
    ["yaml", `${head}  hooks: [{ «handler»: h }]\n`, "hook-binding", /needs on/],
    [
      "yaml",
      `${head}  hooks: [{ schedule: 0 3 * * *, active_hours: «08:00-20:00», handler: h }]\n`,
      "invalid-schedule",
      /never runs between 08:00-20:00/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ on: EntryCreated, «on_device_with_capability»: gpu, handler: h }]\n`,
      "hook-binding",
      /belongs to a schedule/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ schedule: 0 3 * * *, on_device_with_capability: «A GPU», handler: h }]\n`,
      "invalid-value",
      /on_device_with_capability/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ schedule: 0 3 * * *, jitter: «2h», handler: h }]\n`,
      "invalid-schedule",
      /at most 1h/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ schedule: 0 3 * * *, overlap: «both», handler: h }]\n`,
      "invalid-value",
      /skip, queue/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ on: EntryCreated, «overlap»: queue, handler: h }]\n`,
      "hook-binding",
      /belongs to a schedule/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ on: EntryCreated, «timezone»: UTC, handler: h }]\n`,
      "hook-binding",
      /belongs to a schedule/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ schedule: 0 3 * * *, «filter»: "true", handler: h }]\n`,
      "hook-binding",
      /no filter/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ on: EntryCreated, handler: h }, { on: EntryCreated, handler: «h» }]\n`,
      "duplicate-hook",
      /same as hooks\[0\]/,
    ],
    [
      "yaml",
      `${head}  hooks: [{ on: EntryCreated, handler: «photoAded» }]\n`,
      "handler-not-exported",
      /did you mean "photoAdded"/,
      { programExports: () => ({ handlers: ["photoAdded"], tools: [] }) },
    ],
    [
      "yaml",
      `${head}  tools: [{ name: t, description: d, handler: «t» }]\n`,
      "handler-not-exported",
      /among its tools; it has no tools/,
      { programExports: () => nothing },
    ],
    [
      "yaml",
      `${head}  tools:\n    - { name: t, description: d, handler: t }\n    - { name: «t», description: e, handler: u }\n`,
      "duplicate-tool",
      /two tools of the name "t"/,
    ],
    [
      "yaml",
      `${head}  actions: [{ name: a, title: A, handler: a }, { name: «a», title: B, handler: b }]\n`,
      "duplicate-action",
      /the name of another action/,
    ],
    [
      "yaml",
      `${head}  tools: [{ name: a, description: d, handler: t }]\n  actions: [{ name: «a», title: A, handler: a }]\n`,
      "duplicate-action",
      /the name of a tool/,
    ],
    [
      "yaml",
      `${head}  commands: [{ name: a, title: A, handler: t }]\n  actions: [{ name: «a», title: A, handler: a }]\n`,
      "duplicate-action",
      /the name of a command/,
    ],
    [
      "yaml",
      `${head}  actions: [{ name: a, title: «"Album {nmae}"», handler: a, parameters: { type: object, properties: { name: { type: string } } } }]\n`,
      "invalid-action-title",
      /\{nmae\}, which is none of its parameters; did you mean "name"/,
    ],
    [
      "yaml",
      `${head}  actions: [{ name: a, title: A, handler: a, parameters: { type: «array» } }]\n`,
      "invalid-parameters",
      /The parameters of "a"/,
    ],
    [
      "yaml",
      `${head}  actions: [{ name: a, title: A, handler: «creat» }]\n`,
      "handler-not-exported",
      /no "creat" among its actions; did you mean "create"/,
      { programExports: () => ({ handlers: [], tools: [], actions: ["create"] }) },
    ],
    [
      "yaml",
      `${head}  types:\n    - { name: P, key: id, schema: { type: object, required: [id], properties: { id: { type: string } } } }\n    - { name: «P», key: id, schema: { type: object, required: [id], properties: { id: { type: string } } } }\n`,
      "duplicate-type",
      /two types of the name "P"/,
    ],
    [
      "yaml",
      `${head}  types: [{ name: P, key: id, schema: { type: object, properties: { id: { type: «strnig» } } } }]\n`,
      "invalid-parameters",
      /properties of the type "P" are not a JSON Schema/,
    ],
    [
      "yaml",
      `${head}  types: [{ name: P, key: «idd», schema: { type: object, required: [id], properties: { id: { type: string } } } }]\n`,
      "invalid-type-key",
      /none of its properties; did you mean "id"/,
    ],
    [
      "yaml",
      `${head}  types: [{ name: P, key: «id», schema: { type: object, properties: { id: { type: string } } } }]\n`,
      "invalid-type-key",
      /listed under required/,
    ],
    [
      "yaml",
      `${head}  types: [{ name: P, key: «id», schema: { type: object, required: [id], properties: { id: { type: [string, "null"] } } } }]\n`,
      "invalid-type-key",
      /with type: string/,
    ],
    [
      "toml",
      `${tomlHead}[[extension.types]]\nname = "P"\nkey = «"__proto"»\nschema = { type = "object", required = ["a"], properties = { a = { type = "string" } } }\n`,
      "invalid-type-key",
      /none of its properties/,
    ],
    [
      "yaml",
      `${head}  types: [{ name: P, key: id, schema: { type: object, required: [id], properties: { id: { type: string, pattern: «"(a)\\\\1"» } } } }]\n`,
      "doubtful-parameters",
      /each write of a "P" fails/,
    ],
    [
      "yaml",
      `${head}  permissions: { shared_types: { read: [«Person»] } }\n`,
      "invalid-type-reference",
      /names no type; write "extension.id\/Type"/,
    ],
    [
      "yaml",
      `${head}  permissions: { shared_types: { write: [«com.example.a/Persn»] } }\n  types: [{ name: Person, key: id, schema: { type: object, required: [id], properties: { id: { type: string } } } }]\n`,
      "invalid-type-reference",
      /did you mean "Person"/,
    ],
    [
      "yaml",
      `${head}  permissions: { shared_types: { read: [«dev.other/Persn»] } }\n`,
      "invalid-type-reference",
      /dev\.other has no type "Persn"; did you mean "Person"/,
      { declaredTypes: () => ["Person"] },
    ],
    [
      "yaml",
      `${head}  permissions: { shared_types: { read: [dev.gone/Any, dev.other/*], write: [«dev.other/Any»] } }\n`,
      "invalid-type-reference",
      /has no type "Any"; it declares none/,
      { declaredTypes: (id) => (id === "dev.other" ? [] : null) },
    ],
    [
      "yaml",
      `${head}  tools:\n    - name: t\n      description: d\n      handler: t\n      parameters: { type: object, properties: { a: { type: «strnig» } } }\n`,
      "invalid-parameters",
      /not a JSON Schema/,
    ],
    [
      "yaml",
      `${head}  tools:\n    - name: t\n      description: d\n      handler: t\n      parameters: { type: «array» }\n`,
      "invalid-parameters",
      /type = "object"/,
    ],
    [
      "yaml",
      `${head}  tools:\n    - name: t\n      description: d\n      handler: t\n      «parameters»: ${fanOut}\n`,
      "invalid-parameters",
      /more than 10000 schemas when every \$ref is followed/,
    ],
    [
      "yaml",
      `${head}  permissions: { propose_actions: [file.write, «file.mvoe»] }\n`,
      "unknown-kind",
      /did you mean "file\.move"/,
    ],
    [
      "toml",
      `${tomlHead}[extension.permissions]\nemit_events = ["Seen", «"com.example.a/Seen"»]\n`,
      "invalid-event-name",
      /without the publisher/,
    ],
    [
      "yaml",
      `${head}  permissions: { hear_events: [com.example.b/*, com.example.b/Found, «Found»] }\n`,
      "invalid-event-name",
      /"Found" names no event of an extension; write "publisher\.id\/EventName"/,
    ],
    [
      "yaml",
      `${head}  permissions: { hear_events: [com.example.b/Lost] }\n  hooks: [{ on: «com.example.b/Found», handler: h }]\n`,
      "event-not-heard",
      /^h is never called: com\.example\.b\/Found is an event of another extension/,
    ],
    [
      "toml",
      `${tomlHead}[[extension.hooks]]\non = «"com.example.b/Found"»\nhandler = "h"\n`,
      "event-not-heard",
      /hear_events does not list it/,
    ],
    [
      "yaml",
      `${head}  permissions: { call_tools: [com.example.b/*, com.example.b/find_it, «find»] }\n`,
      "invalid-tool-reference",
      /"find" names no tool; write "extension\.id\/tool"/,
    ],
    [
      "yaml",
      `${head}  permissions: { use_credentials: [weather, «My Key»] }\n`,
      "invalid-secret-name",
      /No secret can have the name "My Key"/,
    ],
    [
      "yaml",
      `${head}  resources: { allowed_hosts: ["[::1]:8080", api.example.com, «https://api.example.com/v1»] }\n`,
      "invalid-host",
      /is not a host\. Write its name as in api\.example\.com/,
    ],
    [
      "toml",
      `${tomlHead}[extension.resources]\nallowed_hosts = ["localhost:8080", «"*.example.com"»]\n`,
      "invalid-host",
      /is a pattern; hosts are named one by one/,
    ],
    ["yaml", `${head}  main: «missing.ts»\n`, "program-not-found", /"missing\.ts", which does not exist/],
    ["yaml", `${head}  main: «../other/agent.ts»\n`, "invalid-program", /lies in the manifest's folder/],
    ["yaml", `${head}  main: «/etc/agent.ts»\n`, "invalid-program", /relative/],
    ["toml", `${tomlHead}main = «'..\\agent.ts'»\n`, "invalid-program", /relative with "\/"/],
    ["yaml", `${head}  main: «agent.py»\n`, "invalid-program", /\.ts, \.js or \.wasm/],
    [
      "yaml",
      `${head}  requirements: { min_core_version: «9.0.0» }\n`,
      "requirement-not-met",
      /requires version 9\.0\.0; this kernel is 0\.1\.0/,
    ],
    [
      "yaml",
      "extension: { id: com.example.a, name: A, version: «one» }\n",
      "invalid-version",
      /form 1\.2\.3/,
    ],
  ];
  for (const [format, source, code, message, ports] of cases) {
    test(`${format} ${code}: ${source
      .split("\n")
      .find((line) => line.includes("«"))
      ?.trim()}`, async () => {
      const { text, range } = marked(source);
      const checked = await checkManifest(text, `extension.${format}`, manifestPorts(["agent.ts"], ports));
      const found = withCode(checked, code);
      expect(found?.message).toMatch(message);
      expect(found?.range).toEqual(range);
      expect(checked.usable).toBe(checked.diagnostics.every(({ severity }) => severity !== "error"));
    });
  }
});

describe("quick fixes make it right", () => {
  const cases: [name: string, format: "yaml" | "toml", text: string, code: DiagnosticCode][] = [
    ["a misspelt field", "yaml", `${head}  lisense: MIT\n`, "unknown-field"],
    [
      "a misspelt event",
      "toml",
      `${tomlHead}[[extension.hooks]]\non = "EntryCraeted"\nhandler = "h"\n`,
      "unknown-event",
    ],
    [
      "a misspelt entry field",
      "yaml",
      `${head}  hooks: [{ on: EntryCreated, filter: 'entry.nme == ''x''', handler: h }]\n`,
      "invalid-filter",
    ],
    [
      "old spellings",
      "toml",
      `${tomlHead}[[extension.hooks]]\non = "EntryCreated"\nfilter = "entry.is_image() && ctx.in_granted_scope(entry.path()) && entry.extension() == \\"jpg\\""\nhandler = "h"\n`,
      "old-spelling",
    ],
    [
      "old spellings",
      "yaml",
      `${head}  hooks:\n    - on: EntryCreated\n      filter: "entry.is_image() && ctx.in_granted_scope(entry.path())"\n      handler: h\n`,
      "old-spelling",
    ],
  ];
  for (const [name, format, text, code] of cases) {
    test(`${format}: ${name}`, async () => {
      const file = `extension.${format}`;
      const before = withCode(await checkManifest(text, file, manifestPorts()), code);
      expect(before?.fixes).not.toEqual([]);
      const mended = (before?.fixes[0]?.edits ?? [])
        .toSorted((one, other) => other.range.start.character - one.range.start.character)
        .reduce(applyEdit, text);
      expect((await checkManifest(mended, file, manifestPorts())).diagnostics).toEqual([]);
    });
  }
});

function applyEdit(
  text: string,
  { range, newText }: { range: Diagnostic["range"]; newText: string },
): string {
  const lines = text.split("\n");
  const line = lines[range.start.line] ?? "";
  lines[range.start.line] = line.slice(0, range.start.character) + newText + line.slice(range.end.character);
  return lines.join("\n");
}

test("hostile ids are refused in linear time", async () => {
  const id = `a${"-".repeat(100)}!`;
  const checked = await checkManifest(
    `extension: { id: "${id}", name: A, version: 1.0.0 }\n`,
    "extension.yaml",
    manifestPorts(),
  );
  expect(withCode(checked, "invalid-id")).toBeDefined();
});

test("no more faults are reported than anyone reads, errors before warnings", async () => {
  const fields = Array.from({ length: 300 }, (_, index) => `  field_${index}: 1\n`).join("");
  const checked = await checkManifest(head + fields, "extension.yaml", manifestPorts());
  expect(checked.diagnostics.length).toBe(100);
});
