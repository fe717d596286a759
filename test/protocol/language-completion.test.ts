import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { Editing, graphical } from "../support/language-client.ts";

const PROBE = "test.probe";
let bench: Bench;
/** A client that supports only the protocol's oldest form, in an untrusted workspace. */
let untrusted: Client;
let trusted: Client;
beforeAll(async () => {
  bench = await Bench.create({ extensions: [probe({ id: PROBE })], files: { "photos/a.txt": "a" } });
  untrusted = await bench.connect({ trusted: false });
  trusted = await bench.open({ capabilities: graphical });
});
afterAll(() => bench[Symbol.asyncDispose]());

const YAML = "extension:\n  id: test.shown\n  name: Shown\n  version: 1.0.0\n";
const TOML = '[extension]\nid = "test.shown"\nname = "Shown"\nversion = "1.0.0"\n';

/** Name of the document, typed text, expected proposals, and the text after accepting the first. */
const cases: [string, string, string[], string?][] = [
  ["lares.yaml", "|", ["extensions", "approvals"], "extensions:"],
  ["lares.toml", "|", ["version", "[[extensions]]"], "version = "],
  ["lares.yaml", "version: 1\napp|\n", ["approvals"], "version: 1\napprovals:\n"],
  ["lares.toml", "[kernel]\nlin|", ["linger"], "[kernel]\nlinger = "],
  ["lares.yaml", "trace: { level: wa| }", ["warn"], "trace: { level: warn }"],
  ["lares.toml", "[memory]\nvectors = |", ["auto"], '[memory]\nvectors = "auto"'],
  ["lares.yaml", "extensions:\n  - id: |", ["dev.lares.storage"], "extensions:\n  - id: dev.lares.storage"],
  [
    "lares.toml",
    '[[extensions]]\nid = "dev|',
    ["dev.lares.storage"],
    '[[extensions]]\nid = "dev.lares.storage"',
  ],
  ["lares.yaml", "extensions:\n  - id: dev.lares.storage\n    grants: { locations: [|] }", ["photos/", "."]],
  ["lares.yaml", "extensions:\n  - id: dev.lares.filetypes\n    grants: { deny: [|] }", ["read_entries"]],
  ["lares.yaml", "approvals: { rules: [{ decide: |", ["deny", "ask", "allow"]],
  ["extension.yaml", `${YAML}  |`, ["permissions", "hooks"], `${YAML}  permissions:`],
  [
    "extension.yaml",
    `${YAML}  hooks:\n    - on: |`,
    ["EntryCreated"],
    `${YAML}  hooks:\n    - on: EntryCreated`,
  ],
  [
    "extension.toml",
    `${TOML}[[extension.hooks]]\non = "Ent|"`,
    ["EntryMoved"],
    `${TOML}[[extension.hooks]]\non = "EntryMoved"`,
  ],
  ["extension.toml", `${TOML}[extension.|]`, ["permissions"], `${TOML}[extension.permissions]`],
  [
    "extension.yaml",
    `${YAML}  hooks:\n    - on: EntryMoved\n      filter: entry.isImage() && fr|\n`,
    ["from", "entry"],
    `${YAML}  hooks:\n    - on: EntryMoved\n      filter: entry.isImage() && from\n`,
  ],
  [
    "extension.toml",
    `${TOML}[[extension.hooks]]\non = "EntryCreated"\nfilter = "entry.|`,
    ["isImage", "size"],
    `${TOML}[[extension.hooks]]\non = "EntryCreated"\nfilter = "entry.isImage()`,
  ],
  ["extension.yaml", `${YAML}  hooks:\n    - filter: 'entry.media == "|'`, ["image"]],
];

describe("completion is offered to an untrusted client as well", () => {
  test.each(cases)("%s: %j", async (name, marked, expected, accepted) => {
    for (const client of [untrusted, trusted]) {
      const labels = await new Editing(bench, client, name, marked).labels();
      expect(labels).toEqual(expect.arrayContaining(expected));
    }
    if (accepted === undefined) return;
    const editing = new Editing(bench, untrusted, name, marked);
    expect(await editing.accept(expected[0] ?? "")).toBe(accepted);
  });
});

test.each([
  ["lares.yaml", "# |"],
  ["lares.yaml", "version: 1 # |"],
  ["lares.toml", "# |"],
  ["other.yaml", "|"],
])("nothing is offered in %s: %j", async (name, marked) => {
  expect(await new Editing(bench, untrusted, name, marked).labels()).toEqual([]);
});

test("snippets are sent only to a client that supports them, with text edits on the cursor's line", async () => {
  const marked = `${YAML}  perm|\n  main: agent.ts\n`;
  const plain = await new Editing(bench, untrusted, "extension.yaml", marked).complete();
  expect(plain.filter(({ insertTextFormat }) => insertTextFormat === 2)).toEqual([]);
  const rich = await new Editing(bench, trusted, "extension.yaml", marked).complete();
  const permissions = rich.find(({ label }) => label === "permissions");
  expect(permissions).toMatchObject({
    insertTextFormat: 2,
    insertTextMode: 1,
    textEdit: { newText: "permissions:\n    $0" },
    documentation: { kind: "markdown" },
  });
  expect(plain[0]?.documentation).toMatchObject({ kind: "plaintext" });
});

test("extensions are offered by path, folder by folder", async () => {
  const at = (path: string) =>
    new Editing(bench, untrusted, "lares.yaml", `extensions:\n  - path: ${path}|`, ".");
  expect(await at("../").labels()).toContain("../extensions/");
  const found = (await at("../extensions/").complete()).find(
    ({ label }) => label === `../extensions/${PROBE}`,
  );
  expect(found).toMatchObject({ detail: PROBE });
});

test.each([
  ["extension.yaml", `${YAML}  hooks:\n    - on: EntryCreated\n      handler: |`, "fileSeen"],
  ["extension.toml", `${TOML}[[extension.tools]]\nname = "x"\nhandler = "|"`, "count"],
])("handlers are those of the program as it is being written: %s", async (name, marked, handler) => {
  const folder = `handlers-${name}`;
  await bench.write(
    `${folder}/agent.ts`,
    'import { defineAgent } from "@lares/sdk";\nexport default defineAgent({});\n',
  );
  const text = `import { defineAgent } from "@lares/sdk";
export default defineAgent({ hooks: { async fileSeen() {} }, tools: { async count() { return 1; } } });\n`;
  untrusted.notify("textDocument/didOpen", {
    textDocument: { uri: bench.uri(`${folder}/agent.ts`), languageId: "typescript", version: 1, text },
  });
  expect(await new Editing(bench, untrusted, name, marked, folder).labels()).toContain(handler);
});

test("required fields come first", async () => {
  const labels = await new Editing(bench, untrusted, "extension.yaml", "extension:\n  |\n").labels();
  expect(labels.slice(0, 3).toSorted()).toEqual(["id", "name", "version"]);
});

test("malformed params are answered with null", async () => {
  for (const method of ["textDocument/completion", "textDocument/hover", "textDocument/inlayHint"]) {
    expect(await untrusted.request(method, {})).toBeNull();
    expect(await untrusted.request(method, { textDocument: { uri: 7 }, position: null })).toBeNull();
  }
});
