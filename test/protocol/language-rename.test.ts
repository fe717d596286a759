import { symlink } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocationLink, TextEdit, WorkspaceEdit } from "vscode-languageserver-types";
import { Bench } from "../support/bench.ts";
import { LanguageClient } from "../support/language-client.ts";

const MANIFEST = `extension:
  id: test.renamed
  name: Renamed
  version: 1.0.0
  hooks:
    - { on: EntryCreated, handler: onSave }
`;

let bench: Bench;
let editor: LanguageClient;
beforeAll(async () => {
  bench = await Bench.create();
  editor = new LanguageClient(
    await bench.connect({ trusted: false, capabilities: LanguageClient.capabilities }),
  );
});
afterAll(() => bench[Symbol.asyncDispose]());

let cases = 0;
type Files = Readonly<Record<string, string>>;

/** Creates an extension of these files in a folder of its own, with its manifest open. */
async function written(files: Files): Promise<{ manifest: string; uriOf: (path: string) => string }> {
  const folder = `case-${++cases}/ext`;
  const all: Files = { "extension.yaml": MANIFEST, ...files };
  for (const [path, text] of Object.entries(all)) await bench.write(`${folder}/${path}`, text);
  const uriOf = (path: string): string => bench.uri(`${folder}/${path}`);
  editor.open(uriOf("extension.yaml"), MANIFEST);
  return { manifest: uriOf("extension.yaml"), uriOf };
}

/** Returns the changed files, by path, after "onSave" was renamed in the manifest. */
async function renamed(files: Files, newName = "fresh"): Promise<Record<string, string>> {
  const { manifest } = await written(files);
  const edit = await editor.askAt<WorkspaceEdit>(
    "textDocument/rename",
    manifest,
    MANIFEST.indexOf("onSave"),
    {
      newName,
    },
  );
  return Object.fromEntries(
    (edit.documentChanges ?? []).map((change) => {
      if (!("edits" in change)) throw new Error("not a change of a text");
      const path = decodeURI(change.textDocument.uri).split("/ext/")[1] ?? change.textDocument.uri;
      const text = { "extension.yaml": MANIFEST, ...files }[path] ?? "";
      return [path, LanguageClient.applied(text, change.edits as TextEdit[])];
    }),
  );
}

const MENDED = MANIFEST.replace("onSave", "fresh");

/** `«»` marks where "onSave" is renamed; elsewhere it stays. */
const before = (files: Files): Files =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, text.replaceAll(/«[^»]*»/g, "onSave")]),
  );
const after = (files: Files): Files =>
  Object.fromEntries(
    Object.entries(files)
      .filter(([, text]) => text.includes("«"))
      .map(([path, text]) => [path, text.replaceAll("«»", "fresh").replaceAll(/«([^»]*)»/g, "$1")]),
  );

const program = (head: string, hooks = "{ «» }"): string => `${head}\nexport default { hooks: ${hooks} };\n`;

describe("a handler's function is followed to where it is", () => {
  test.each<[string, Files]>([
    [
      "in another file",
      {
        "agent.ts": program('import { «» } from "./handlers.ts";'),
        "handlers.ts": "export async function «»() {\n  await «»();\n}\n",
      },
    ],
    [
      "through a file that passes it on",
      {
        "agent.ts": program('import { «» } from "./lib";'),
        "lib/index.ts": 'export { «» } from "./deep/save.ts";\n',
        "lib/deep/save.ts": "const «» = () => 1;\nexport { «» };\n",
      },
    ],
    [
      "through a file that passes everything on",
      {
        "agent.ts": program('import { «» } from "./lib/all.js";'),
        "lib/all.ts": 'export * from "./other.ts";\nexport * from "./save.ts";\n',
        "lib/other.ts": "export const other = 1;\n",
        "lib/save.ts": "export const «» = () => 1;\n",
      },
    ],
    [
      "through a file that imports and exports it",
      {
        "agent.ts": program('import { «» } from "./middle.ts";'),
        "middle.ts": 'import { «» } from "./save.ts";\nexport { «», «» as other };\n',
        "save.ts": "export function «»() {}\n",
      },
    ],
    [
      "as far as it has the name, where it is exported under another",
      {
        "agent.ts": program('import { «» } from "./save.ts";'),
        "save.ts": "function saved() {}\nexport { saved as «» };\n",
      },
    ],
    [
      "as far as it has the name, where it is imported under another",
      {
        "agent.ts": program('import { saved as «» } from "./save.ts";'),
        "save.ts": "export function saved() {}\n",
      },
    ],
    [
      "not at all where it has another name",
      { "agent.ts": program("const saved = () => 1;", "{ «»: saved }") },
    ],
    [
      "not at all where it is given at length",
      {
        "agent.ts": program('import { saved } from "./save.ts";', "{ «»: saved }"),
        "save.ts": "export function saved() {}\n",
      },
    ],
  ])("%s", async (_name, files) => {
    expect(await renamed(before(files))).toEqual({ "extension.yaml": MENDED, ...after(files) });
  });
});

describe("a function keeps its name if not all of its uses are known", () => {
  const kept = program('import { onSave } from "./save.ts";', "{ «fresh: onSave» }");
  const files = (save: string, more: Files = {}): Files => ({ "agent.ts": kept, "save.ts": save, ...more });
  test.each<[string, Files]>([
    [
      "another file imports it",
      files("export function onSave() {}\n", { "x.ts": 'import { onSave } from "./save";' }),
    ],
    ["a comment speaks of it", files("/** onSave */\nexport function onSave() {}\n")],
    ["a type speaks of it", files("export function onSave() {}\nexport type F = typeof onSave;\n")],
    ["the new name is something there", files("const fresh = 1;\nexport function onSave() {}\n")],
    ["it is a property as well", files("export function onSave() {}\nexport const all = { onSave };\n")],
    ["the file does not have it", files("export const other = 1;\n")],
    ["the file cannot be read", files("export function {\n")],
    [
      "two files pass it on",
      files('export * from "./a.ts";\nexport * from "./b.ts";\n', {
        "a.ts": "export const onSave = 1;\n",
        "b.ts": "export const onSave = 2;\n",
      }),
    ],
    [
      "it leads in a circle",
      files('export { onSave } from "./a.ts";\n', { "a.ts": 'export { onSave } from "./save.ts";\n' }),
    ],
    ["it is outside the extension", { "agent.ts": kept.replace("./save.ts", "../outside.ts") }],
    ["it is a package's", { "agent.ts": kept.replace("./save.ts", "saver") }],
  ])("%s", async (_name, marked) => {
    await bench.write(`case-${cases + 1}/outside.ts`, "export function onSave() {}\n");
    const source = Object.fromEntries(
      Object.entries(marked).map(([path, text]) => [path, text.replaceAll(/«[^»]*»/g, "onSave")]),
    );
    expect(await renamed(source)).toEqual({
      "extension.yaml": MENDED,
      ...after({ "agent.ts": marked["agent.ts"] ?? "" }),
    });
  });

  test.each(["fresh", "delete"])(
    "a name that is only valid for a property renames only the property: %s",
    async (newName) => {
      const source = {
        "agent.ts": program('import { onSave } from "./save.ts";', "{ onSave }"),
        "save.ts": "export function onSave() {}\n",
      };
      const all = await renamed(source, newName);
      expect(Object.keys(all)).toHaveLength(newName === "delete" ? 2 : 3);
    },
  );

  test("the file is reached through a link, out of the extension or within it", async () => {
    for (const target of ["../../outside.ts", "real.ts"]) {
      const files = {
        "agent.ts": program('import { onSave } from "./save.ts";', "{ onSave }"),
        "real.ts": "export function onSave() {}\n",
      };
      await bench.write("outside.ts", "export function onSave() {}\n");
      const { manifest, uriOf } = await written(files);
      await symlink(target, new URL(uriOf("save.ts")));
      const edit = await editor.askAt<WorkspaceEdit>(
        "textDocument/rename",
        manifest,
        MANIFEST.indexOf("onSave"),
        { newName: "fresh" },
      );
      expect(
        edit.documentChanges?.map((change) => ("textDocument" in change ? change.textDocument.uri : "")),
      ).toEqual([manifest, uriOf("agent.ts")]);
    }
  });
});

describe("handlers in another file", () => {
  test.each<[string, Files]>([
    [
      "a record",
      {
        "agent.ts": program('import { hooks } from "./h.ts";', "hooks"),
        "h.ts": "export const hooks = { async «»() {}, other: () => hooks.«»() };\n",
      },
    ],
    [
      "one that is spread",
      {
        "agent.ts": program('import { more } from "./h.ts";', "{ other() {}, ...more }"),
        "h.ts": "const more = { '«»': () => 1 };\nexport { more };\n",
      },
    ],
    [
      "the whole agent",
      {
        "agent.ts": 'export { default } from "./real.ts";\n',
        "real.ts": "export default { hooks: { «»() {} } };\n",
      },
    ],
    [
      "a record whose function is in a third",
      {
        "agent.ts": program('import { hooks } from "./h.ts";', "hooks"),
        "h.ts": 'import { «» } from "./save.ts";\nexport const hooks = { «» };\n',
        "save.ts": "export function «»() {}\n",
      },
    ],
  ])("%s: renamed there", async (_name, files) => {
    expect(await renamed(before(files))).toEqual({ "extension.yaml": MENDED, ...after(files) });
  });

  test("are renamed from there as well, and other names are left to TypeScript", async () => {
    const text = "export const hooks = { onSave() {}, other() {} };\n";
    const { manifest, uriOf } = await written({
      "agent.ts": program('import { hooks } from "./h.ts";', "hooks"),
      "h.ts": text,
    });
    editor.open(uriOf("h.ts"), text);
    const edit = await editor.askAt<WorkspaceEdit>(
      "textDocument/rename",
      uriOf("h.ts"),
      text.indexOf("onSave"),
      { newName: "fresh" },
    );
    expect(edit.documentChanges).toMatchObject([
      { textDocument: { uri: manifest } },
      { textDocument: { uri: uriOf("h.ts") } },
    ]);
    expect(await editor.askAt("textDocument/prepareRename", uriOf("h.ts"), text.indexOf("other"))).toBeNull();
  });

  test.each<[string, Files, RegExp]>([
    [
      "computed",
      { "agent.ts": program("const make = () => ({});", "make()") },
      /cannot be told where agent\.ts has "onSave"/,
    ],
    [
      "of a package",
      { "agent.ts": program('import { hooks } from "some-hooks";', "hooks") },
      /come from outside the extension/,
    ],
    [
      "outside",
      { "agent.ts": program('import { hooks } from "../hooks.ts";', "hooks") },
      /come from outside the extension/,
    ],
    [
      "read from another file",
      {
        "agent.ts": `import { hooks } from "./h.ts";\nhooks.onSave();\nexport default { hooks };\n`,
        "h.ts": "export const hooks = { onSave() {} };\n",
      },
      /agent\.ts may use "onSave" of h\.ts too/,
    ],
    [
      "with the new name among them",
      {
        "agent.ts": program('import { more } from "./h.ts";', "{ onSave() {}, ...more }"),
        "h.ts": "export const more = { fresh() {} };\n",
      },
      /has a handler "fresh" among its hooks already/,
    ],
  ])("%s: refused, with the reason", async (_name, files, message) => {
    await bench.write(`case-${cases + 1}/hooks.ts`, "export const hooks = { onSave() {} };\n");
    await expect(renamed(files)).rejects.toThrow(message);
  });
});

describe("a handler's name leads to its function", () => {
  test.each<[string, Files, string]>([
    [
      "through a second name",
      { "agent.ts": "function real() {}\nconst onSave = real;\nexport default { hooks: { onSave } };\n" },
      "agent.ts",
    ],
    [
      "through files that pass it on",
      {
        "agent.ts": program('import { onSave } from "./a.ts";', "{ onSave }"),
        "a.ts": 'export { b as onSave } from "./b.ts";\n',
        "b.ts": 'import { real as c } from "./c.ts";\nexport const b = c;\n',
        "c.ts": "export function real() {}\n",
      },
      "c.ts",
    ],
    [
      "through a file that passes everything on",
      {
        "agent.ts": program('import { onSave } from "./a.ts";', "{ onSave }"),
        "a.ts": 'export * from "./b.ts";\n',
        "b.ts": "function real() {}\nexport { real as onSave };\n",
      },
      "b.ts",
    ],
    [
      "in a record of another file",
      {
        "agent.ts": program('import { hooks } from "./a.ts";', "hooks"),
        "a.ts": "function real() {}\nexport const hooks = { onSave: real };\n",
      },
      "a.ts",
    ],
  ])("%s", async (_name, files, target) => {
    const { manifest, uriOf } = await written(files);
    const [link] = await editor.askAt<LocationLink[]>(
      "textDocument/definition",
      manifest,
      MANIFEST.indexOf("onSave"),
    );
    expect(link?.targetUri).toBe(uriOf(target));
    const { start, end } = link?.targetSelectionRange ?? {
      start: { line: 0, character: 0 },
      end: { line: 0, character: 0 },
    };
    expect((files[target] ?? "").split("\n")[start.line]?.slice(start.character, end.character)).toBe("real");
  });
});
