import { mkdir, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type {
  DocumentSymbol,
  LocationLink,
  Position,
  Range,
  SymbolInformation,
  TextEdit,
  WorkspaceEdit,
} from "vscode-languageserver-types";
import { probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { LanguageClient } from "../support/language-client.ts";

const PROBE = "test.probe";
const PROGRAM = `import { defineAgent } from "@lares/sdk";
import { removed } from "./removed.ts";

async function photoAdded() {}

export default defineAgent({
  hooks: { photoAdded, removed, async shifted() {}, maintenance: async () => {} },
  tools: { async search(_args: unknown, _ctx) {} },
});
`;
const REMOVED = "/** Gone. */\nexport async function removed() {}\n";

const HOOKS: readonly (readonly [string, string])[] = [
  ["EntryCreated", "photoAdded"],
  ["EntryModified", "photoAdded"],
  ["EntryDeleted", "removed"],
  ["EntryMoved", "shifted"],
];
const manifests = {
  "extension.yaml": `extension:
  id: test.shown
  name: Shown
  version: 1.0.0
  permissions: { read_entries: true }
  hooks:
${HOOKS.map(([on, handler]) => `    - { on: ${on}, handler: "${handler}" }\n`).join("")}  tools:
    - name: find
      description: Finds
      handler: search
`,
  "extension.toml": `[extension]
id = "test.shown"
name = "Shown"
version = "1.0.0"
permissions = { read_entries = true }
${HOOKS.map(([on, handler]) => `\n[[extension.hooks]]\non = "${on}"\nhandler = '${handler}'\n`).join("")}
[[extension.tools]]
name = "find"
description = "Finds"
handler = "search"
`,
};

let bench: Bench;
let client: Client;
let editor: LanguageClient;
let plain: LanguageClient;
beforeAll(async () => {
  bench = await Bench.create({ extensions: [probe({ id: PROBE })] });
  client = await bench.open({ capabilities: LanguageClient.capabilities });
  editor = new LanguageClient(client);
  // Another editor, without optional capabilities and in an untrusted workspace.
  plain = new LanguageClient(await bench.connect({ trusted: false }));
});
afterAll(() => bench[Symbol.asyncDispose]());

let cases = 0;

/** Creates a manifest with its program in a folder of its own, open in both editors. */
async function opened(name: keyof typeof manifests, text: string = manifests[name]): Promise<string> {
  const folder = `case-${++cases}`;
  await bench.write(`${folder}/agent.ts`, PROGRAM);
  await bench.write(`${folder}/removed.ts`, REMOVED);
  const uri = bench.uri(`${folder}/${name}`);
  for (const each of [editor, plain]) each.open(uri, text);
  return uri;
}

const names = (symbols: readonly DocumentSymbol[], depth = 0): string[] =>
  symbols.flatMap(({ name, children = [] }) => [
    `${"  ".repeat(depth)}${name}`,
    ...names(children, depth + 1),
  ]);

describe.each(Object.keys(manifests) as (keyof typeof manifests)[])("%s", (file) => {
  const text = manifests[file];

  test("the outline is a tree, or a list for an editor that has no trees", async () => {
    const uri = await opened(file);
    const tree = await editor.ask<DocumentSymbol[]>("textDocument/documentSymbol", uri);
    expect(names(tree)).toEqual([
      "Shown",
      "  id",
      "  name",
      "  version",
      "  permissions",
      "    read_entries",
      "  hooks",
      ...HOOKS.map(([on, handler]) => `    on ${on} → ${handler}`),
      "  tools",
      "    find",
    ]);
    const check = (symbol: DocumentSymbol): void => {
      expect(contains(symbol.range, symbol.selectionRange), symbol.name).toBe(true);
      for (const child of symbol.children ?? []) check(child);
    };
    for (const symbol of tree) check(symbol);
    const list = await plain.ask<SymbolInformation[]>("textDocument/documentSymbol", uri);
    expect(list.find(({ name }) => name === "find")).toMatchObject({
      containerName: "tools",
      location: { uri },
    });
  });

  test("the outline stays while a line is only half typed", async () => {
    const half = file.endsWith("yaml")
      ? `${text}  agent: { enable_m`
      : `${text}\n[extension.agent]\nenable_m`;
    const uri = await opened(file, half);
    const tree = await editor.ask<DocumentSymbol[]>("textDocument/documentSymbol", uri);
    expect(names(tree)).toContain("    on EntryDeleted → removed");
  });

  test.each([
    ["photoAdded", "agent.ts", PROGRAM.indexOf("photoAdded()")],
    ["removed", "removed.ts", REMOVED.indexOf("removed()")],
    ["shifted", "agent.ts", PROGRAM.indexOf("shifted()")],
    ["search", "agent.ts", PROGRAM.indexOf("search(")],
  ])("a handler's name leads to its function: %s", async (handler, target, offset) => {
    const uri = await opened(file);
    const at = text.indexOf(handler) + 2;
    const [link] = await editor.askAt<LocationLink[]>("textDocument/definition", uri, at);
    const source = target === "agent.ts" ? PROGRAM : REMOVED;
    expect(link).toMatchObject({
      targetUri: new URL(target, uri).href,
      targetSelectionRange: { start: positionOf(source, offset) },
    });
    expect(link?.originSelectionRange?.start.line).toBe(positionOf(text, at).line);
    const [location] = await plain.askAt<object[]>("textDocument/definition", uri, at);
    expect(location).toEqual({ uri: link?.targetUri, range: link?.targetSelectionRange });
  });

  test("a handler is renamed in the manifest, at each place, and in the program", async () => {
    const uri = await opened(file);
    const at = text.indexOf("photoAdded") + 3;
    expect(await editor.askAt("textDocument/prepareRename", uri, at)).toEqual({
      range: rangeOf(text, text.indexOf("photoAdded"), "photoAdded".length),
      placeholder: "photoAdded",
    });
    const edit = await editor.askAt<WorkspaceEdit>("textDocument/rename", uri, at, {
      newName: "pictureCame",
    });
    const program = new URL("agent.ts", uri).href;
    expect(edited(text, edit, uri)).toBe(text.replaceAll("photoAdded", "pictureCame"));
    expect(edited(PROGRAM, edit, program)).toBe(PROGRAM.replaceAll("photoAdded", "pictureCame"));
    expect(edit.documentChanges).toMatchObject([
      { textDocument: { uri, version: 1 } },
      { textDocument: { uri: program, version: null } },
    ]);
    const old = await plain.askAt<WorkspaceEdit>("textDocument/rename", uri, at, { newName: "pictureCame" });
    expect(Object.keys(old.changes ?? {})).toEqual([uri, program]);
  });

  test("a handler is renamed from its program as well, including unsaved changes of the manifest", async () => {
    const uri = await opened(file);
    const program = new URL("agent.ts", uri).href;
    for (const each of [editor, plain]) each.open(program, PROGRAM, 3);
    for (const handler of ["photoAdded, removed", "shifted()"]) {
      const name = handler.match(/\w+/)?.[0] ?? "";
      const at = PROGRAM.indexOf(handler);
      for (const offset of [at, at + name.length])
        expect(await editor.askAt("textDocument/prepareRename", program, offset)).toEqual({
          range: rangeOf(PROGRAM, at, name.length),
          placeholder: name,
        });
      const edit = await editor.askAt<WorkspaceEdit>("textDocument/rename", program, at, {
        newName: "another",
      });
      expect(edited(text, edit, uri)).toBe(text.replaceAll(name, "another"));
      expect(edited(PROGRAM, edit, program)).toBe(PROGRAM.replaceAll(name, "another"));
      expect(edit.documentChanges).toMatchObject([
        { textDocument: { uri, version: 1 } },
        { textDocument: { uri: program, version: 3 } },
      ]);
      const old = await plain.askAt<WorkspaceEdit>("textDocument/rename", program, at, {
        newName: "another",
      });
      expect(Object.keys(old.changes ?? {})).toEqual([uri, program]);
    }
    const taken = editor.askAt("textDocument/rename", program, PROGRAM.indexOf("shifted()"), {
      newName: "removed",
    });
    await expect(taken).rejects.toThrow(/names a handler "removed" already/);
  });

  test.each([
    ["a function's own name", "function photoAdded", 11],
    ["a handler that no hook names", "maintenance:", 2],
    ["a parameter", "_ctx", 1],
    ["a keyword", "export default", 2],
    ["an import", "removed.ts", 2],
  ])("all else in a program is its own server's: %s", async (_name, piece, within) => {
    const uri = await opened(file);
    const program = new URL("agent.ts", uri).href;
    editor.open(program, PROGRAM);
    const at = PROGRAM.indexOf(piece) + within;
    expect(await editor.askAt("textDocument/prepareRename", program, at)).toBeNull();
    expect(await editor.askAt("textDocument/rename", program, at, { newName: "another" })).toBeNull();
  });

  test("open unsaved documents count", async () => {
    const uri = await opened(file);
    const program = new URL("agent.ts", uri).href;
    const typed = `// not saved\n${PROGRAM}`;
    editor.open(program, typed, 7);
    const at = text.indexOf("shifted") + 1;
    const [link] = await editor.askAt<LocationLink[]>("textDocument/definition", uri, at);
    expect(link?.targetSelectionRange.start).toEqual(positionOf(typed, typed.indexOf("shifted()")));
    const edit = await editor.askAt<WorkspaceEdit>("textDocument/rename", uri, at, {
      newName: "wentElsewhere",
    });
    expect(edited(typed, edit, program)).toBe(typed.replace("shifted()", "wentElsewhere()"));
    expect(edit.documentChanges).toContainEqual(
      expect.objectContaining({ textDocument: { uri: program, version: 7 } }),
    );
  });

  test.each([
    ["no name at all", "", /is not a name/],
    ["no identifier", "photo added", /is not a name/],
    ["a key that means something else", "__proto__", /is not a name/],
    ["the manifest's own", "removed", /names a handler "removed" already/],
    ["the program's own", "maintenance", /has a handler "maintenance" among its hooks already/],
  ])("a new name is refused: %s", async (_name, newName, message) => {
    const uri = await opened(file);
    const at = text.indexOf("shifted");
    await expect(editor.askAt("textDocument/rename", uri, at, { newName })).rejects.toThrow(message);
  });

  test("a place without a name is refused with a reason", async () => {
    const uri = await opened(file);
    expect(await editor.askAt("textDocument/prepareRename", uri, 0)).toBeNull();
    await expect(editor.askAt("textDocument/rename", uri, 0, { newName: "a" })).rejects.toThrow(
      /nothing to rename/,
    );
  });
});

test.each([
  ["lares.yaml", `version: 1\nextensions:\n  - path: ../../extensions/${PROBE}\n`],
  ["lares.toml", `version = 1\n[[extensions]]\npath = "../../extensions/${PROBE}"\n`],
])("%s: an extension leads to its manifest", async (name, text) => {
  const uri = bench.uri(`documents/${name}`);
  for (const each of [editor, plain]) each.open(uri, text);
  const at = text.indexOf("extensions/test") + 2;
  const [link] = await editor.askAt<LocationLink[]>("textDocument/definition", uri, at);
  expect(link?.targetUri).toBe(new URL(`../../extensions/${PROBE}/extension.yaml`, uri).href);
  expect(link?.targetSelectionRange.start.line).toBe(2);
  expect(await plain.askAt<object[]>("textDocument/definition", uri, at)).toHaveLength(1);
  expect(await editor.askAt("textDocument/definition", uri, 0)).toEqual([]);
});

test("an extension that is named by its id leads to its manifest; main leads to the program", async () => {
  const folder = ".lares/extensions/dropped";
  const manifest = "extension:\n  id: test.dropped\n  name: Dropped\n  version: 1.0.0\n  main: agent.ts\n";
  await bench.write(`${folder}/extension.yaml`, manifest);
  await bench.write(`${folder}/agent.ts`, PROGRAM);
  const uri = bench.uri("by-id/lares.yaml");
  const text = "extensions:\n  - id: test.dropped\n";
  plain.open(uri, text);
  const at = text.indexOf("dropped");
  expect(await plain.askAt("textDocument/definition", uri, at)).toEqual([
    { uri: bench.uri(`${folder}/extension.yaml`), range: rangeOf(manifest, manifest.indexOf("test."), 12) },
  ]);
  plain.open(bench.uri(`${folder}/extension.yaml`), manifest);
  expect(
    await plain.askAt(
      "textDocument/definition",
      bench.uri(`${folder}/extension.yaml`),
      manifest.indexOf("agent"),
    ),
  ).toMatchObject([{ uri: bench.uri(`${folder}/agent.ts`) }]);
});

test("a program that cannot be read is not renamed halfway", async () => {
  const uri = await opened("extension.yaml");
  editor.open(new URL("agent.ts", uri).href, "export default {");
  const at = manifests["extension.yaml"].indexOf("shifted");
  await expect(editor.askAt("textDocument/rename", uri, at, { newName: "b" })).rejects.toThrow(
    /agent\.ts cannot be read: line 1/,
  );
});

test.each([
  ["a file beside the program", "other.ts", PROGRAM],
  ["a program that cannot be read", "agent.ts", "export default { hooks: { shifted"],
  ["a file of no extension", "../lonely.ts", PROGRAM],
  ["a file of another language", "agent.py", "shifted()"],
])("nothing is renamed in %s", async (_name, path, program) => {
  const uri = new URL(path, await opened("extension.yaml")).href;
  await mkdir(new URL(".", uri), { recursive: true });
  await writeFile(new URL(uri), program);
  editor.open(uri, program);
  const at = program.indexOf("shifted");
  expect(await editor.askAt("textDocument/prepareRename", uri, at)).toBeNull();
  expect(await editor.askAt("textDocument/rename", uri, at, { newName: "another" })).toBeNull();
});

test("a manifest on the disk is rewritten, and its program may be in a subfolder", async () => {
  const manifest = manifests["extension.yaml"].replace(
    "version: 1.0.0",
    "version: 1.0.0\n  main: src/program.js",
  );
  const program = "export default { hooks: { 'shifted': async () => {} } };\n";
  await bench.write("deep/extension.yaml", manifest);
  await bench.write("deep/src/program.js", program);
  const uri = bench.uri("deep/src/program.js");
  editor.open(uri, program);
  const at = program.indexOf("shifted");
  expect(await editor.askAt("textDocument/prepareRename", uri, at)).toEqual({
    range: rangeOf(program, at, "shifted".length),
    placeholder: "shifted",
  });
  const edit = await editor.askAt<WorkspaceEdit>("textDocument/rename", uri, at, { newName: "went" });
  expect(edited(manifest, edit, bench.uri("deep/extension.yaml"))).toBe(manifest.replace("shifted", "went"));
  expect(edited(program, edit, uri)).toMatch(/\{ ['"]?went['"]?: async/);
});

test("the program's handlers are offered where one is named", async () => {
  const text = manifests["extension.yaml"].replace("handler: search", "handler: ");
  const uri = await opened("extension.yaml", text);
  const complete = async (at: number): Promise<string[]> => {
    const { items } = await plain.askAt<{ items: { label: string }[] }>("textDocument/completion", uri, at);
    return items.map(({ label }) => label).toSorted();
  };
  const hooks = ["maintenance", "photoAdded", "removed", "shifted"];
  expect(await complete(text.indexOf("photoAdded"))).toEqual(hooks);
  expect(await complete(text.lastIndexOf("handler: ") + "handler: ".length)).toEqual(["search"]);
});

test("a program outside the extension's folder is not read", async () => {
  const text = manifests["extension.yaml"].replace("version: 1.0.0", "version: 1.0.0\n  main: ../secret.ts");
  await bench.write("secret.ts", "export default { hooks: { shifted() {} } };");
  const uri = await opened("extension.yaml", text);
  expect(await editor.askAt("textDocument/definition", uri, text.indexOf("shifted"))).toEqual([]);
});

test("a document of another name, or one that is not open, gets no answers", async () => {
  const other = bench.uri("other.yaml");
  editor.open(other, manifests["extension.yaml"]);
  for (const uri of [other, bench.uri("not-open/extension.yaml")]) {
    expect(await editor.ask("textDocument/documentSymbol", uri)).toBeNull();
    expect(await editor.askAt("textDocument/definition", uri, 5)).toBeNull();
    expect(await editor.askAt("textDocument/prepareRename", uri, 5)).toBeNull();
    expect(await editor.ask("textDocument/codeLens", uri)).toEqual([]);
  }
});

test.each(["documentSymbol", "definition", "prepareRename", "rename", "codeLens", "codeAction"])(
  "textDocument/%s with malformed params is answered",
  async (method) => {
    for (const params of [
      null,
      {},
      [],
      { textDocument: { uri: 7 } },
      { textDocument: { uri: "x" }, position: -1 },
    ])
      expect([null, []]).toContainEqual(await client.request(`textDocument/${method}`, params));
  },
);

function positionOf(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}

function rangeOf(text: string, offset: number, length: number): Range {
  return { start: positionOf(text, offset), end: positionOf(text, offset + length) };
}

function contains(outer: Range, inner: Range): boolean {
  const before = (a: Position, b: Position): boolean =>
    a.line < b.line || (a.line === b.line && a.character <= b.character);
  return before(outer.start, inner.start) && before(inner.end, outer.end);
}

function edited(text: string, edit: WorkspaceEdit, uri: string): string {
  const change = edit.documentChanges?.find((each) => "edits" in each && each.textDocument.uri === uri);
  return LanguageClient.applied(
    text,
    change !== undefined && "edits" in change ? (change.edits as TextEdit[]) : [],
  );
}
