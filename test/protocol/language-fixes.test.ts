import { afterAll, beforeAll, expect, test } from "vitest";
import type { CodeAction, Diagnostic, Range, TextEdit } from "vscode-languageserver-types";
import { probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { LanguageClient } from "../support/language-client.ts";
import { until } from "../support/until.ts";

type Published = { uri: string; diagnostics: Diagnostic[] };

const PROBE = "test.probe";
const PROGRAM = "export default { hooks: { async record() {} } };";
let bench: Bench;
let client: Client;
let editor: LanguageClient;
beforeAll(async () => {
  bench = await Bench.create({ extensions: [probe({ id: PROBE })] });
  client = await bench.open({ capabilities: LanguageClient.capabilities });
  editor = new LanguageClient(client);
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Returns the diagnostics that are published for the document after `send`. */
async function published(uri: string, send: () => void): Promise<Diagnostic[]> {
  const all = () =>
    client.notifications<Published>("textDocument/publishDiagnostics").filter((each) => each.uri === uri);
  const count = all().length;
  send();
  return (await until("diagnostics", () => all()[count])).diagnostics;
}

const everything: Range = { start: { line: 0, character: 0 }, end: { line: 1000, character: 0 } };

function actionsAt(uri: string, range: Range, context: object = { diagnostics: [] }): Promise<CodeAction[]> {
  return editor.ask<CodeAction[]>("textDocument/codeAction", uri, { range, context });
}

function editsOf(action: CodeAction): TextEdit[] {
  const [change] = action.edit?.documentChanges ?? [];
  return change !== undefined && "edits" in change ? (change.edits as TextEdit[]) : [];
}

const yaml = "extension:\n  id: test.shown\n  name: Shown\n  version: 1.0.0\n";
const toml = '[extension]\nid = "test.shown"\nname = "Shown"\nversion = "1.0.0"\n';

let cases = 0;

test.each<[string, string, string, string]>([
  ["lares.yaml", "unknown-field", 'Write "extensions"', "version: 1\nextensoins: []\n"],
  ["lares.toml", "invalid-value", 'Write "warn"', 'version = 1\n[trace]\nlevel = "wran"\n'],
  [
    "lares.yaml",
    "location-not-found",
    'Remove "nowhere"',
    `extensions:\n  - path: ../../extensions/${PROBE}\n    grants: { locations: [., nowhere] }\n`,
  ],
  [
    "lares.toml",
    "permission-not-granted",
    "Allow write_sidecars",
    `[[extensions]]\npath = "../../extensions/${PROBE}"\ngrants = { allow = ["read_entries"] }\n`,
  ],
  [
    "lares.yaml",
    "extension-not-found",
    `Write "../../extensions/${PROBE}"`,
    "extensions:\n  - path: ../../extensions/test.porbe\n",
  ],
  [
    "lares.toml",
    "extension-not-found",
    'Write "dev.lares.storage"',
    '[[extensions]]\nid = "dev.lares.stroage"\n',
  ],
  ["extension.yaml", "missing-field", 'Add "version"', "extension:\n  id: test.shown\n  name: Shown\n"],
  [
    "extension.toml",
    "unknown-event",
    'Write "EntryCreated"',
    `${toml}[[extension.hooks]]\non = "EntryCraeted"\nhandler = "record"\n`,
  ],
  [
    "extension.yaml",
    "old-spelling",
    'Write "isImage"',
    `${yaml}  hooks:\n    - on: EntryCreated\n      filter: "entry.is_image()"\n      handler: record\n`,
  ],
  [
    "extension.yaml",
    "handler-not-exported",
    'Write "record"',
    `${yaml}  hooks:\n    - on: EntryCreated\n      handler: recrd\n`,
  ],
])("%s: %s is fixed by %s", async (name, code, title, text) => {
  const folder = `case-${++cases}`;
  await bench.write(`${folder}/agent.ts`, PROGRAM);
  const uri = bench.uri(`${folder}/${name}`);
  const before = await published(uri, () => editor.open(uri, text));
  const fault = before.find((each) => each.code === code);
  if (fault === undefined) throw new Error(`there is no ${code}: ${JSON.stringify(before)}`);
  const action = (await actionsAt(uri, fault.range, { diagnostics: [fault] })).find(
    (each) => each.title === title,
  );
  if (action === undefined) throw new Error(`there is no fix "${title}"`);
  expect(action.kind).toBe("quickfix");
  expect(action.diagnostics).toEqual([fault]);
  expect(action.edit?.documentChanges).toMatchObject([{ textDocument: { uri, version: 1 } }]);
  const mended = LanguageClient.applied(text, editsOf(action));
  const contentChanges = [{ text: mended }];
  const after = await published(uri, () =>
    client.notify("textDocument/didChange", { textDocument: { uri, version: 2 }, contentChanges }),
  );
  const count = (found: readonly Diagnostic[]) => found.filter((each) => each.code === code).length;
  expect(count(after), mended).toBe(count(before) - 1);
});

test("a change or save of a program checks its manifest again", async () => {
  await bench.write("saved/agent.ts", "export default { hooks: {} };");
  const uri = bench.uri("saved/extension.yaml");
  const text = `${yaml}  hooks:\n    - { on: EntryCreated, handler: record }\n`;
  const before = await published(uri, () => editor.open(uri, text));
  expect(before.map(({ code }) => code)).toEqual(["handler-not-exported"]);
  const program = bench.uri("saved/agent.ts");
  editor.open(program, PROGRAM);
  // The editor's text counts, saved or not; the manifest is checked when it is shown.
  const after = await published(uri, () =>
    client.notify("textDocument/didSave", { textDocument: { uri: program } }),
  );
  expect(after).toEqual([]);
});

test("fixes refer to the current text, whatever diagnostics the client still has", async () => {
  const uri = bench.uri("moved/lares.yaml");
  editor.open(uri, "version: 1\n");
  const stale = { range: everything, message: "gone", code: "unknown-field", data: { fix: "rm -rf" } };
  expect(await actionsAt(uri, everything, { diagnostics: [stale] })).toEqual([]);
});

test("only fixes in the range, and only if quick fixes are requested", async () => {
  const uri = bench.uri("ranges/lares.yaml");
  editor.open(uri, "versoin: 1\nextensoins: []\n");
  const second = { start: { line: 1, character: 3 }, end: { line: 1, character: 3 } };
  expect((await actionsAt(uri, second)).map(({ title }) => title)).toEqual([
    'Write "extensions"',
    "Remove extensoins",
  ]);
  const only = (...kinds: string[]) => actionsAt(uri, everything, { diagnostics: [], only: kinds });
  expect(await only("refactor", "source.organizeImports")).toEqual([]);
  expect(await only("quickfix")).toHaveLength(4);
});

test("an editor without versioned edits gets plain ones; one without code actions gets none", async () => {
  const text = "versoin: 1\n";
  const uri = bench.uri("plain/lares.yaml");
  const ask = async (capabilities: object): Promise<CodeAction[]> => {
    await using other = await bench.connect({ trusted: false, capabilities });
    const plain = new LanguageClient(other);
    plain.open(uri, text);
    return await plain.ask("textDocument/codeAction", uri, {
      range: everything,
      context: { diagnostics: [] },
    });
  };
  const { codeAction } = LanguageClient.capabilities.textDocument;
  const [action] = await ask({ textDocument: { codeAction } });
  expect(LanguageClient.applied(text, action?.edit?.changes?.[uri] ?? [])).toBe("version: 1\n");
  expect(await ask({})).toEqual([]);
});
