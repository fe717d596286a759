import { describe, expect, test } from "vitest";
import { handlerKinds, maxProgramCharacters, readProgram, type ProgramOutline } from "./program.ts";
import { compiledForTests } from "./testing/compiled.ts";

async function outline(source: string): Promise<ProgramOutline> {
  return readProgram(source, await compiledForTests(source));
}

/** Each handler with what stands at its places in the source. */
async function check(
  source: string,
  expected: { hooks?: string[]; tools?: string[]; actions?: string[]; complete?: boolean },
): Promise<void> {
  const { handlers, isComplete } = await outline(source);
  for (const kind of handlerKinds) {
    const shown = handlers[kind].map(({ name, key, declared, imported }) => {
      expect(source.slice(key.start, key.end).replaceAll(/["']/g, "")).toBe(name);
      const at =
        declared === null ? "" : ` = ${source.slice(declared.start, declared.end)}@${declared.start}`;
      return `${name}${at}${imported === null ? "" : ` = ${imported.name} of ${imported.from}`}`;
    });
    expect(shown).toEqual(expected[kind] ?? []);
    if (kind !== "actions") expect(isComplete[kind]).toBe(expected.complete ?? true);
  }
}

describe("handlers are found however they are written", () => {
  test.each<[string, string, Parameters<typeof check>[1]]>([
    [
      "methods, functions, arrows",
      `import { defineAgent, type Entry } from "@lares/sdk";
       interface Memory { plan: Entry }
       export default defineAgent<Memory>({
         hooks: { async a({ entry }, ctx) {}, b: async (event: unknown) => { event; }, "c d": function () {} },
         tools: { async t({ limit = 5 }: { limit?: number }) { return limit as unknown; } },
         actions: { make: () => ({ effects: [], reason: "" }) },
       });`,
      { hooks: ["a", "b", "c d"], tools: ["t"], actions: ["make"] },
    ],
    ["a plain object", "export default { hooks: { a() {} } };", { hooks: ["a"] }],
    [
      "a name",
      "const agent = { hooks: { a() {} } } satisfies object; export default agent;",
      { hooks: ["a"] },
    ],
    ["exported as default", "const x = { tools: { a() {} } }; export { x as default };", { tools: ["a"] }],
    [
      "functions elsewhere in the file",
      "function a() {}\nconst b = () => 1;\nexport default { hooks: { a, c: b } };",
      { hooks: ["a = a@9", "c = b@22"] },
    ],
    [
      "functions of other files",
      'import { a, x as b } from "./x.ts"; import d from "./d.ts";\nexport default { hooks: { a, b, d } };',
      { hooks: ["a = a of ./x.ts", "b = x of ./x.ts", "d = default of ./d.ts"] },
    ],
    [
      "records with names of their own",
      "const more = { b() {} }; const hooks = { a() {}, ...more };\nexport default { hooks };",
      { hooks: ["a", "b"] },
    ],
    [
      "é and 𝒳 before them",
      "/* é𝒳 */ export default { hooks: { é𝒳() {}, b() {} } };",
      { hooks: ["é𝒳", "b"] },
    ],
    ["nothing at all", "export const a = 1;", { complete: false }],
    ["no hooks", "export default { onStartup() {} };", {}],
    [
      "what is made by a function",
      "const f = () => ({}); export default { hooks: { a() {}, ...f() }, tools: f() };",
      { hooks: ["a"], complete: false },
    ],
    [
      "a circle",
      "const a = { b() {}, ...a }; export default { hooks: a, ...a };",
      { hooks: Array<string>(9).fill("b"), complete: false },
    ],
  ])("%s", (_name, source, expected) => check(source, expected));
});

describe("the places of a name", () => {
  test.each<[string, string, number | null]>([
    ["a function and its uses", "function a() {}\na();\nexport default { hooks: { a } };", 3],
    [
      "a property of the same name is none",
      "function a() {}\nexport default { hooks: { a }, b: x.a };",
      null,
    ],
    [
      "a type that speaks of it",
      "function a() {}\ntype A = typeof a;\nexport default { hooks: { a } };",
      null,
    ],
    ["a comment that speaks of it", "/** See a. */\nfunction a() {}\nexport default { hooks: { a } };", null],
    [
      "another variable of this name",
      "function a() {}\nconst f = (a: number) => a;\nexport default { hooks: { a } };",
      null,
    ],
    ["a tool of the same function", "function a() {}\nexport default { hooks: { a }, tools: { a } };", null],
    ["what is exported", "export function a() {}\nexport default { hooks: { a } };", null],
    ["what is imported", 'import { a } from "./a.ts";\nexport default { hooks: { a } };', null],
    [
      "a longer name is another",
      "function a() {}\nconst ab = 1, b_a = 2;\nexport default { hooks: { a } };",
      2,
    ],
  ])("%s", async (_name, source, count) => {
    const places = (await outline(source)).references("a");
    expect(places?.length ?? null).toBe(count);
    for (const { start, end } of places ?? []) expect(source.slice(start, end)).toBe("a");
  });
});

test("names that other files import are found by the imported name", async () => {
  const source = "export const a = () => 1;\nfunction b() {}\nexport { b as c };";
  const { exported } = await outline(source);
  expect(exported("a")).toEqual({ declared: { start: 13, end: 14 } });
  expect(exported("c")).toEqual({ declared: { start: 35, end: 36 } });
  expect(exported("nothing")).toBeNull();
});

describe("a program that was written to be hard to read is read or refused", () => {
  const size = maxProgramCharacters - 100;
  const agent =
    "function a() {}\nfunction b() { b(); }\nconst agent = { hooks: { a } };\nexport { agent as default };\nagent.hooks.a();\n";
  test.each<[string, string]>([
    ["a long chain", `x${".y".repeat(size / 2 - 40)};`],
    ["a long sum", `x${"+y".repeat(size / 2 - 40)};`],
    ["deep lists", `x = ${"[".repeat(size / 2 - 40)}${"]".repeat(size / 2 - 40)};`],
    ["deep functions", `x = ${"() => ".repeat(2000)}1;`],
    ["generics that may be comparisons", `x = ${"<T>(".repeat(40)}1${")".repeat(40)};`],
    ["many statements", "x();\n".repeat(size / 5 - 40)],
    ["many reads", "agent.hooks.a;".repeat(size / 14 - 40)],
    ["many names", `x = [${"a2,".repeat(size / 3 - 40)}];`],
  ])("%s", async (_name, text) => {
    try {
      const { handlers, references, reads } = await outline(agent + text);
      expect(handlers.hooks.map(({ name }) => name)).toEqual(["a"]);
      expect(references("b")).toHaveLength(2);
      expect(reads("hooks", "a")).toHaveLength(text.split("agent.hooks.a").length);
    } catch (error) {
      // esbuild says so by errors of its own, the parser by these.
      const isRefused =
        error instanceof RangeError || error instanceof SyntaxError || "errors" in (error as object);
      expect(isRefused, String(error)).toBe(true);
    }
  });
});

describe("handlers that other files have", () => {
  const elsewhere = async (source: string) => {
    const { handlersOf } = await outline(source);
    const { found, isComplete, elsewhere: others } = handlersOf("default", "agent", "hooks");
    return [
      found.map(({ name }) => name),
      others.map(({ from, name, what }) => `${what} ${name} of ${from}`),
      isComplete,
    ];
  };
  test.each<[string, string, unknown[]]>([
    [
      "a record",
      'import { hooks } from "./h.ts"; export default { hooks };',
      [[], ["record hooks of ./h.ts"], true],
    ],
    [
      "what is spread into one",
      'import { a as more } from "./h.ts"; export default { hooks: { own() {}, ...more } };',
      [["own"], ["record a of ./h.ts"], true],
    ],
    [
      "the whole agent",
      'import agent from "./a.ts"; export default agent;',
      [[], ["agent default of ./a.ts"], true],
    ],
    [
      "the whole agent, passed on",
      'export { default } from "./a.ts";',
      [[], ["agent default of ./a.ts"], true],
    ],
    [
      "what is named once more",
      'import { h } from "./h.ts"; const hooks = h; export default { hooks };',
      [[], ["record h of ./h.ts"], true],
    ],
    ["what is computed", "export default { hooks: make() };", [[], [], false]],
    [
      "what a function makes of it",
      'import { hooks } from "./h.ts"; export default { hooks: wrap(hooks) };',
      [[], ["record hooks of ./h.ts"], false],
    ],
  ])("%s", async (_name, source, expected) => expect(await elsewhere(source)).toEqual(expected));

  test("an exported record has them for its importers", async () => {
    const { handlersOf } = await outline(
      "export const hooks = { a() {}, b() {} };\nexport { hooks as others };",
    );
    for (const name of ["hooks", "others"])
      expect(handlersOf(name, "record", "hooks").found.map((handler) => handler.name)).toEqual(["a", "b"]);
    expect(handlersOf("nothing", "record", "hooks")).toEqual({ found: [], isComplete: false, elsewhere: [] });
  });
});

describe("a function is found through other names", () => {
  test.each<[string, string, unknown]>([
    [
      "one",
      "function f() {}\nconst a = f;\nexport default { hooks: { a } };",
      { declared: 9, imported: null },
    ],
    [
      "several, to another file",
      'import { f } from "./f.ts";\nconst b = f, a = b;\nexport default { hooks: { a } };',
      { declared: null, imported: { from: "./f.ts", name: "f" } },
    ],
    ["a circle", "const a = b, b = a;\nexport default { hooks: { a } };", { declared: 6, imported: null }],
  ])("%s", async (_name, source, expected) => {
    const [handler] = (await outline(source)).handlers.hooks;
    expect({ declared: handler?.declared?.start ?? null, imported: handler?.imported }).toEqual(expected);
  });
});

describe("all that speaks of a name", () => {
  test.each<[string, string, number | null]>([
    ["an import and its use", 'import { n } from "./x.ts";\nn();\nexport default { hooks: { n } };', 3],
    ["an export where it is declared", "export async function n() { n(); }", 2],
    ["a list of exports", "function n() {}\nexport { n };", 2],
    ["another's name in a list", "function x() {}\nexport { x as n };", 1],
    ["what is passed on", 'export { n } from "./x.ts";', 1],
    ["nothing", "export function other() {}", 0],
    ["a property too", "export function n() {}\nother.n();", null],
    ["a text too", "export function n() {}\nlog('n failed');", null],
    ["a comment too", "/** Calls n. */\nexport function n() {}", null],
    ["a list of exports within a text", "export function n() {}\nlog(`export { n }`);", null],
    ["a type too", "export function n() {}\ntype T = typeof n;", null],
    ["another variable too", "export function n() {}\nfunction f(n) { return n; }", null],
    ["another file's name too", 'import { n as m } from "./x.ts";\nexport function n() { m(); }', null],
  ])("%s", async (_name, source, expected) => {
    const places = (await outline(source)).placesOf("n");
    expect(places === null ? null : places.length).toBe(expected);
    for (const { start, end } of places ?? []) expect(source.slice(start, end)).toBe("n");
  });
});
