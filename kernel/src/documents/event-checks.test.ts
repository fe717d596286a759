import { describe, expect, test } from "vitest";
import { checkManifest } from "./manifest.ts";
import type { DeclaredEvent } from "./resolved-manifest.ts";
import { applyEdits } from "./text/apply-edits.ts";
import { marked } from "./testing/marked.ts";
import { manifestPorts } from "./testing/ports.ts";

const head = "extension:\n  id: com.example.a\n  name: A\n  version: 1.0.0\n";
const seen = "{ name: Seen, schema: { type: object, properties: { person: { type: string } } } }";
const own = (events: string, more = "emit_events: [Seen]"): string =>
  `${head}  permissions: { ${more} }\n  events: [${events}]\n`;

/** The declared events of the extension dev.other. */
const others: readonly DeclaredEvent[] = [
  {
    name: "Found",
    version: 2,
    schema: {
      type: "object",
      required: ["person"],
      properties: {
        person: { type: "string", enum: ["Ada", "Grace"] },
        count: { type: "integer" },
        isNew: { type: "boolean" },
        photos: { type: "array", items: { type: "string" } },
        type: { type: "string" },
      },
    },
  },
  { name: "Odd", version: 1, schema: { type: "object", anyOf: [{ properties: { a: {} } }] } },
];
const ports = manifestPorts(["agent.ts"], {
  declaredEvents: (id) => (id === "dev.other" ? others : null),
});
const hook = (fields: string): string =>
  `${head}  permissions: { hear_events: ["dev.other/*", "dev.unknown/*"] }\n  hooks: [{ ${fields}, handler: h }]\n`;
const check = async (text: string) => (await checkManifest(text, "extension.yaml", ports)).diagnostics;

describe("what an extension declares", () => {
  test("events are resolved with version 1 and without texts for people", async () => {
    const { value, usable, diagnostics } = await checkManifest(own(seen), "extension.yaml", ports);
    expect(diagnostics).toEqual([]);
    expect(usable).toBe(true);
    expect(value?.events).toEqual([
      { name: "Seen", version: 1, schema: { type: "object", properties: { person: { type: "string" } } } },
    ]);
  });

  test.each<[string, string, string, RegExp, string?]>([
    [
      "the same name twice",
      own(`${seen}, { name: «Seen», schema: { type: object } }`),
      "duplicate-event",
      /two events of the name "Seen"/,
      own(`${seen}, { name: Seen_2, schema: { type: object } }`),
    ],
    [
      "an event that the permission does not list",
      own(`${seen}, { name: «Left», schema: { type: object } }`),
      "event-not-permitted",
      /emit_events does not list it/,
      own(`${seen}, { name: Left, schema: { type: object } }`, "emit_events: [Seen, Left]"),
    ],
    [
      "a permission for an event that is not declared",
      own(seen, "emit_events: [Seen, «Sene»]"),
      "event-not-declared",
      /did you mean "Seen"\?/,
      own(seen, "emit_events: [Seen, Seen]"),
    ],
    [
      "a schema of no object",
      own("{ name: Seen, schema: { type: «string» } }"),
      "invalid-parameters",
      /^The fields of the event "Seen" have to be a JSON Schema with type = "object"/,
    ],
    [
      "a schema that is none",
      own("{ name: Seen, schema: { type: object, properties: { a: { type: «strnig» } } } }"),
      "invalid-parameters",
      /^The fields of the event "Seen" are not a JSON Schema/,
    ],
    [
      "a field that every event has",
      own("{ name: Seen, schema: { type: object, properties: { «version»: { type: string } } } }"),
      "reserved-event-field",
      /the kernel writes it/,
    ],
    [
      "a name with a publisher",
      own("{ name: «com.example.a/Seen», schema: { type: object } }"),
      "invalid-value",
      /is "com.example.a\/Seen"/,
    ],
  ])("%s", async (_what, text, code, message, mended) => {
    const { text: clean, range } = marked(text);
    const found = (await check(clean)).find((one) => one.code === code);
    expect(found?.message).toMatch(message);
    expect(found?.range).toEqual(range);
    if (mended === undefined) return;
    const [fix] = found?.fixes ?? [];
    expect(applyEdits(clean, fix?.edits ?? [])).toBe(mended);
  });
});

describe("what a hook waits for", () => {
  test.each<[string, string, RegExp, string?]>([
    [
      "an event that its publisher does not have",
      hook("on: «dev.other/Foud»"),
      /dev\.other has no event "Foud", did you mean "Found"\?|did you mean "Found"/,
      hook("on: dev.other/Found"),
    ],
    [
      "a misspelt field",
      hook(`on: dev.other/Found, filter: «persn» == "Ada"`),
      /has no field "persn".*did you mean "person"\?/,
      hook(`on: dev.other/Found, filter: person == "Ada"`),
    ],
    [
      "a misspelt field of event",
      hook(`on: dev.other/Found, filter: event.«persn» == "Ada"`),
      /has no field "persn".*did you mean "person"\?/,
      hook(`on: dev.other/Found, filter: event.person == "Ada"`),
    ],
    ["a misspelt field inside has()", hook("on: dev.other/Found, filter: has(event.«cuont»)"), /"cuont"/],
    ["a text compared with a number", hook("on: dev.other/Found, filter: «person == 3»"), /string == int/],
  ])("%s", async (_what, text, message, mended) => {
    const { text: clean, range } = marked(text);
    const found = await check(clean);
    expect(found).toMatchObject([{ code: "event-mismatch", severity: "warning" }]);
    expect(found[0]?.message).toMatch(message);
    expect(found[0]?.range).toEqual(range);
    if (mended === undefined) return;
    expect(applyEdits(clean, found[0]?.fixes[0]?.edits ?? [])).toBe(mended);
  });

  test.each([
    ["fields of the declaration and those of every event", `person == "Ada" && version > 1 && name != ""`],
    ["numbers, as integers and as fractions", "count > 2 && count < 2.5"],
    ["truth values and lists", `isNew && "a.jpg" in photos`],
    ["a name that the language reserves, through event", `event.type == "x"`],
  ])("accepts %s", async (_what, filter) => {
    expect(await check(hook(`on: dev.other/Found, filter: '${filter}'`))).toEqual([]);
  });

  test.each([
    ["a publisher that is not installed", hook("on: dev.unknown/Found, filter: persn == 1")],
    ["fields that the schema does not name plainly", hook("on: dev.other/Odd, filter: persn == 1")],
  ])("is not checked for %s", async (_what, text) => {
    expect(await check(text)).toEqual([]);
  });

  test("the extension's own events are known without looking for them", async () => {
    const text = `${own(seen)}  hooks: [{ on: com.example.a/Seen, filter: persn == "x", handler: h }]\n`;
    expect(await check(text)).toMatchObject([{ code: "event-mismatch" }]);
  });
});
