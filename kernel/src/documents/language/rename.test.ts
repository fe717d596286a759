import { describe, expect, test } from "vitest";
import { compiledForTests } from "./testing/compiled.ts";
import { applyEdits } from "../text/apply-edits.ts";
import { readAtOnce } from "./testing/read-at-once.ts";
import { readProgram } from "./program.ts";
import { checkHandlerName, handlerAt, renameInManifest, renameInProgram } from "./rename.ts";

describe("in a manifest each place has the new name, in the quotes it had", () => {
  test.each([
    [
      "extension.yaml",
      "extension:\n  hooks:\n    - { on: A, handler: «old» }\n    - on: B\n      handler: 'old'\n    - { on: C, handler: \"old\" }\n",
    ],
    [
      "extension.yaml",
      "extension:\n  hooks: [{ handler: «old» }]\n  tools: [{ handler: keep }, { name: old, handler: keep }]\n",
    ],
    ["extension.yaml", "extension:\n  hooks:\n    - handler: >-\n        «old»\n"],
    [
      "extension.toml",
      "[[extension.hooks]]\nhandler = \"«old»\"\n[[extension.hooks]]\nhandler = 'old' # old\n",
    ],
    ["extension.toml", '[extension]\nhooks = [{ handler = """«old»""" }]\ntools = [{ handler = "older" }]\n'],
  ])("%s %#", (file, marked) => {
    const text = marked.replaceAll(/[«»]/g, "");
    const document = readAtOnce(text, file);
    const handler = handlerAt(document, marked.indexOf("«"));
    expect(handler).toMatchObject({ kind: "hooks", name: "old" });
    if (handler === null) return;
    const renamed = applyEdits(text, renameInManifest(document, handler, "fresh"));
    expect(readAtOnce(renamed, file).value).toEqual(
      JSON.parse(JSON.stringify(document.value).replaceAll('"handler":"old"', '"handler":"fresh"')),
    );
    expect(renamed.replaceAll("fresh", "old").replaceAll(/\s|>-|"""|"/g, "")).toBe(
      text.replaceAll(/\s|>-|"""|"/g, ""),
    );
  });

  test("a hook and a tool of one name are two", () => {
    const text = "extension: { hooks: [{ handler: a }], tools: [{ handler: a }] }";
    const document = readAtOnce(text, "extension.yaml");
    const tool = handlerAt(document, text.lastIndexOf("a }"));
    expect(tool?.kind).toBe("tools");
    if (tool !== null)
      expect(applyEdits(text, renameInManifest(document, tool, "b"))).toBe(
        "extension: { hooks: [{ handler: a }], tools: [{ handler: b }] }",
      );
  });
});

test("a handler of an action is renamed in the manifest alone by its own kind", () => {
  const text = "extension: { tools: [{ handler: a }], actions: [{ name: a, handler: a }] }";
  const document = readAtOnce(text, "extension.yaml");
  const action = handlerAt(document, text.lastIndexOf("a }"));
  expect(action?.kind).toBe("actions");
  if (action !== null)
    expect(applyEdits(text, renameInManifest(document, action, "b"))).toBe(
      "extension: { tools: [{ handler: a }], actions: [{ name: a, handler: b }] }",
    );
});

describe("in a program", () => {
  test.each<[string, string, string]>([
    [
      "a method",
      "export default { hooks: { async old() {} } };",
      "export default { hooks: { async fresh() {} } };",
    ],
    [
      "a quoted name",
      "export default { hooks: { 'old': () => 1 } };",
      "export default { hooks: { 'fresh': () => 1 } };",
    ],
    [
      "a quoted name in brackets",
      'export default { hooks: { ["old"]() {} } };',
      'export default { hooks: { ["fresh"]() {} } };',
    ],
    [
      "what calls it by its record",
      "const hooks = { old() {}, also: () => hooks.old() };\nexport default { hooks };\nhooks['old']?.();",
      "const hooks = { fresh() {}, also: () => hooks.fresh() };\nexport default { hooks };\nhooks['fresh']?.();",
    ],
    [
      "what calls it by the agent, in TypeScript",
      "const agent = { hooks: { old() {} } } as const;\nagent.hooks!.old();\nagent.hooks?.old();\nexport default agent;",
      "const agent = { hooks: { fresh() {} } } as const;\nagent.hooks!.fresh();\nagent.hooks?.fresh();\nexport default agent;",
    ],
    [
      "what takes it out of its record, which keeps its variable",
      "const hooks = { old() {} };\nconst { old } = hooks, { old: mine } = hooks;\nold(); export default { hooks };",
      "const hooks = { fresh() {} };\nconst { fresh: old } = hooks, { fresh: mine } = hooks;\nold(); export default { hooks };",
    ],
    [
      "what takes it out into a variable that hides another",
      "const old = 1, hooks = { old() {} };\nfunction f() { const { old, ...rest } = hooks; old(); }\nexport default { hooks };",
      "const old = 1, hooks = { fresh() {} };\nfunction f() { const { fresh: old, ...rest } = hooks; old(); }\nexport default { hooks };",
    ],
    [
      "a short form that is read by its record keeps its function",
      "function old() {}\nconst hooks = { old };\nhooks.old(); old();\nexport default { hooks };",
      "function old() {}\nconst hooks = { fresh: old };\nhooks.fresh(); old();\nexport default { hooks };",
    ],
    [
      "one of a record that is spread into it",
      "const base = { old() {} };\nbase.old();\nexport default { hooks: { ...base } };",
      "const base = { fresh() {} };\nbase.fresh();\nexport default { hooks: { ...base } };",
    ],
    [
      "not what another object calls so",
      "const other = { old() {} }, tools = { old() {} };\nother.old(); tools.old();\nexport default { hooks: { old() {} }, tools };",
      "const other = { old() {} }, tools = { old() {} };\nother.old(); tools.old();\nexport default { hooks: { fresh() {} }, tools };",
    ],
    [
      "not of a variable that has the record's name",
      "const hooks = { old() {} };\nfunction f({ hooks }) { hooks.old(); { let hooks; hooks.old(); } }\nexport default { hooks };",
      "const hooks = { fresh() {} };\nfunction f({ hooks }) { hooks.old(); { let hooks; hooks.old(); } }\nexport default { hooks };",
    ],
    [
      "another's name",
      "const f = () => 1; export default { hooks: { old: f } };",
      "const f = () => 1; export default { hooks: { fresh: f } };",
    ],
    [
      "a function and all that calls it",
      "function old() { old(); }\nexport default { hooks: { old } };",
      "function fresh() { fresh(); }\nexport default { hooks: { fresh } };",
    ],
    [
      "a function that a type speaks of keeps its name",
      "function old() {}\ntype F = typeof old;\nexport default { hooks: { old } };",
      "function old() {}\ntype F = typeof old;\nexport default { hooks: { fresh: old } };",
    ],
    [
      "so does one where the new name means something already",
      "const fresh = 1; function old() {}\nexport default { hooks: { old } };",
      "const fresh = 1; function old() {}\nexport default { hooks: { fresh: old } };",
    ],
    [
      "and one of another file",
      'import { old } from "./old.ts";\nexport default { hooks: { old }, tools: { old } };',
      'import { old } from "./old.ts";\nexport default { hooks: { fresh: old }, tools: { old } };',
    ],
    [
      "nothing where it is not",
      "export default { hooks: { other() {} } };",
      "export default { hooks: { other() {} } };",
    ],
  ])("%s", async (_name, source, expected) => {
    const outline = await readProgram(source, await compiledForTests(source));
    const edits = renameInProgram(outline, source, { kind: "hooks", name: "old" }, "fresh");
    const lines = readAtOnce(source, "x.yaml").lines;
    expect(
      applyEdits(
        source,
        edits.map(({ start, end, newText }) => ({ range: lines.range(start, end), newText })),
      ),
    ).toBe(expected);
  });

  test("a function never gets a name that only a property may have", async () => {
    const source = "function old() {}\nexport default { hooks: { old } };";
    const outline = await readProgram(source, await compiledForTests(source));
    expect(renameInProgram(outline, source, { kind: "hooks", name: "old" }, "delete")).toMatchObject([
      { newText: "delete: old" },
    ]);
  });
});

test.each(["a", "_a", "$a1", "é", "delete", "a".repeat(128)])("%s is a name", (name) => {
  expect(() => checkHandlerName(name)).not.toThrow();
});

test.each(["", "1a", "a b", "a-b", "a.b", "constructor", "a\n", "a".repeat(129), "💥"])(
  "%j is none",
  (name) => {
    expect(() => checkHandlerName(name)).toThrow(/is not a name for a handler/);
  },
);
