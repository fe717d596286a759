import { readFile, rm, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Agent } from "../../kernel/src/base/vocabulary/agent.ts";
import { call, PROBE_PROGRAM, probe } from "../support/agents.ts";
import { agent, Bench, inState } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

type Position = { line: number; character: number };
type Diagnostic = {
  range: { start: Position; end: Position };
  severity: number;
  code: string;
  message: string;
};
type Published = { uri: string; version?: number; diagnostics: Diagnostic[] };

const PROBE = "test.probe";
let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({ extensions: [probe({ id: PROBE })] });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

let cases = 0;

/** Opens the text as a document of this name in a folder of its own, and returns the diagnostics that are published. */
async function diagnose(name: string, text: string): Promise<Diagnostic[]> {
  const folder = `case-${++cases}`;
  await bench.write(`${folder}/agent.ts`, PROBE_PROGRAM);
  const uri = bench.uri(`${folder}/${name}`);
  const languageId = name.endsWith(".toml") ? "toml" : "yaml";
  client.notify("textDocument/didOpen", { textDocument: { uri, languageId, version: 1, text } });
  const published = await client.notification<Published>(
    "textDocument/publishDiagnostics",
    (each) => each.uri === uri,
  );
  return published.diagnostics;
}

const MANIFEST_YAML = "extension:\n  id: test.shown\n  name: Shown\n  version: 1.0.0\n";
const MANIFEST_TOML = '[extension]\nid = "test.shown"\nname = "Shown"\nversion = "1.0.0"\n';

/** `«…»` marks the offending node: the diagnostic has to begin within it. */
const faults: [string, string, string, RegExp?][] = [
  ["lares.yaml", "an unknown field", "version: 1\n«extensoins»: []\n", /extensions/],
  ["lares.yaml", "a wrong type", "version: 1\napprovals:\n  auto_approve_below: «often»\n"],
  ["lares.yaml", "a value out of range", "version: 1\napprovals: { auto_approve_below: «7» }\n"],
  ["lares.yaml", "a bad duration", "version: 1\nkernel:\n  linger: «soon»\n"],
  ["lares.yaml", "an extension that is not found", "version: 1\nextensions:\n  - «path: ./nowhere»\n"],
  [
    "lares.yaml",
    "a location outside",
    "version: 1\nextensions:\n  - path: ../ext\n    grants:\n      locations: [«../up»]\n",
  ],
  ["lares.yaml", "a duplicate key", "version: 1\n«version»: 1\n"],
  ["lares.yaml", "__proto__", "version: 1\n«__proto__»: { a: 1 }\n"],
  ["lares.yaml", "an unclosed list", "version: 1\nextensions: «[1\n»"],
  [
    "lares.yaml",
    "a bomb of aliases",
    `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghi"
      .split("")
      .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[index]}`).join()}]`)
      .join("\n")}\n`,
  ],
  ["lares.toml", "an unknown field", "version = 1\n«extensoins» = []\n", /extensions/],
  ["lares.toml", "a wrong type", 'version = 1\n[approvals]\nauto_approve_below = «"often"»\n'],
  ["lares.toml", "no TOML", "version = 1\n[approvals\n"],
  [
    "extension.yaml",
    "an unknown event",
    `${MANIFEST_YAML}  hooks:\n    - on: «EntryCraeted»\n      handler: record\n`,
    /EntryCreated/,
  ],
  [
    "extension.yaml",
    "a misspelt field in a filter",
    `${MANIFEST_YAML}  hooks:\n    - on: EntryCreated\n      filter: «entry.sise» > 1\n      handler: record\n`,
    /sise/,
  ],
  [
    "extension.yaml",
    "a filter of the wrong type",
    `${MANIFEST_YAML}  hooks:\n    - on: EntryCreated\n      filter: «entry.size»\n      handler: record\n`,
  ],
  [
    "extension.yaml",
    "an older spelling",
    `${MANIFEST_YAML}  hooks:\n    - on: EntryCreated\n      filter: «entry.is_image()»\n      handler: record\n`,
    /isImage/,
  ],
  [
    "extension.yaml",
    "an invalid schedule",
    `${MANIFEST_YAML}  hooks:\n    - schedule: «"0 25 * * *"»\n      handler: record\n`,
  ],
  ["extension.yaml", "an invalid id", "extension:\n  id: «Not An Id»\n  name: x\n  version: 1.0.0\n"],
  ["extension.yaml", "a missing field", "«extension»:\n  id: test.shown\n  name: x\n", /version/],
  [
    "extension.toml",
    "an unknown event",
    `${MANIFEST_TOML}[[extension.hooks]]\non = «"EntryCraeted"»\nhandler = "record"\n`,
    /EntryCreated/,
  ],
  [
    "extension.toml",
    "a misspelt field in a filter",
    `${MANIFEST_TOML}[[extension.hooks]]\non = "EntryCreated"\nfilter = «"entry.sise» > 1"\nhandler = "record"\n`,
    /sise/,
  ],
  [
    "extension.toml",
    "an invalid schedule",
    `${MANIFEST_TOML}[[extension.hooks]]\nschedule = «"never"»\nhandler = "record"\n`,
  ],
];

function positionOf(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}
const before = (a: Position, b: Position): boolean =>
  a.line < b.line || (a.line === b.line && a.character <= b.character);

test.each([
  ["extension.toml", 'id = "gleam"\nname = "Gleam"\nversion = "0.0.1"\nschema_version = 1\n'],
  ["extension.yaml", "name: resize-images\nversion: 0.2.0\nspecVersion: v1beta\n"],
])("of another product's %s nothing is said, until it is meant to be ours", async (name, text) => {
  expect(await diagnose(name, text)).toEqual([]);
  const ours = name.endsWith(".toml") ? "[extension]\n" : "extension: {}\n";
  const codes = (await diagnose(name, text + ours)).map(({ code }) => code);
  expect(new Set(codes)).toEqual(new Set(["missing-field", "unknown-field"]));
});

describe("a fault is pushed on open, at its place, with a code and a sentence", () => {
  test.each(faults)("%s: %s", async (path, _name, marked, message) => {
    const text = marked.replace(/[«»]/g, "");
    const diagnostics = await diagnose(path, text);
    expect(diagnostics).not.toEqual([]);
    for (const each of diagnostics) {
      expect(each.code).toMatch(/^[a-z][a-z0-9-]+$/);
      expect(each.message).toMatch(/\w+ \w+/);
      expect(before(each.range.start, each.range.end)).toBe(true);
    }
    if (message !== undefined) expect(diagnostics.map((each) => each.message).join("\n")).toMatch(message);
    if (!marked.includes("«")) return;
    const from = positionOf(text, marked.indexOf("«"));
    const to = positionOf(text, marked.indexOf("»") - 1);
    const placed = diagnostics.filter(({ range }) => before(from, range.start) && before(range.start, to));
    expect({ placed: placed.length > 0, from, diagnostics }).toMatchObject({ placed: true });
  });
});

describe("a valid document", () => {
  test.each([
    ["lares.yaml", "# yaml-language-server: $schema=x\nversion: 1\nextensions: []\n"],
    ["lares.toml", "version = 1\n[approvals]\nauto_approve_below = 0.2\n"],
    [
      "extension.yaml",
      `${MANIFEST_YAML}  main: agent.ts\n  hooks:\n    - on: EntryCreated\n      filter: entry.isImage()\n      handler: record\n  permissions: { read_entries: true }\n`,
    ],
    ["extension.toml", MANIFEST_TOML],
  ])("%s pushes the empty list", async (path, text) => {
    expect((await diagnose(path, text)).filter(({ severity }) => severity === 1)).toEqual([]);
  });
});

test("typed text is diagnosed at each change, whole or in pieces, and the list is empty once it is fixed", async () => {
  const uri = bench.uri("lares.toml");
  const published = (): Published[] =>
    client.notifications<Published>("textDocument/publishDiagnostics").filter((each) => each.uri === uri);
  const next = async (send: () => void): Promise<Diagnostic[]> => {
    const count = published().length;
    send();
    return (await until("diagnostics", () => published()[count])).diagnostics;
  };
  const change = (version: number, contentChanges: object[]) => () =>
    client.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges });
  const textDocument = { uri, languageId: "toml", version: 1, text: "version = 1\n" };
  expect(await next(() => client.notify("textDocument/didOpen", { textDocument }))).toEqual([]);
  expect(await next(change(2, [{ text: "version = 1\nwrong = 1\n" }]))).toHaveLength(1);
  const range = { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } };
  expect(await next(change(3, [{ range, text: "" }]))).toEqual([]);
  client.notify("textDocument/didClose", { textDocument: { uri } });
});

test("a document that is too large gets a diagnostic at each change, and is checked once its text fits", async () => {
  const uri = bench.uri("large/lares.yaml");
  const text = `version: 1\n# ${"x".repeat(5 * 1024 * 1024)}\n`;
  const next = async (method: string, params: object): Promise<Diagnostic[]> => {
    const count = client.notifications("textDocument/publishDiagnostics").length;
    client.notify(method, params);
    const published = await until("diagnostics", () =>
      client
        .notifications<Published>("textDocument/publishDiagnostics")
        .slice(count)
        .find((each) => each.uri === uri),
    );
    return published.diagnostics;
  };
  const textDocument = { uri, languageId: "yaml", version: 1, text };
  const tooLarge = [expect.objectContaining({ code: "document-too-large" })];
  expect(await next("textDocument/didOpen", { textDocument })).toEqual(tooLarge);
  const start = { line: 0, character: 0 };
  const piece = { range: { start, end: start }, text: "# " };
  const change = (contentChanges: object[]) => ({ textDocument: { uri, version: 2 }, contentChanges });
  expect(await next("textDocument/didChange", change([piece]))).toEqual(tooLarge);
  expect(await next("textDocument/didChange", change([{ text: "version: 1\n" }]))).toEqual([]);
});

test.each([true, false])(
  "diagnostics name their version for a client that understands it: %s",
  async (versionSupport) => {
    const capabilities = { textDocument: { publishDiagnostics: { versionSupport } } };
    await using own = await bench.connect({ capabilities });
    const uri = bench.uri("lares.yaml");
    const textDocument = { uri, languageId: "yaml", version: 41, text: "version: 1\n" };
    own.notify("textDocument/didOpen", { textDocument });
    own.notify("textDocument/didChange", {
      textDocument: { uri, version: 42 },
      contentChanges: [{ text: "version: 2\n" }],
    });
    const { version } = await own.notification<Published>(
      "textDocument/publishDiagnostics",
      (published) => published.diagnostics.length > 0,
    );
    expect(version).toBe(versionSupport ? 42 : undefined);
  },
);

for (const [name, other, isShadowed] of [
  ["lares.toml", "lares.yaml", true],
  ["lares.yaml", "lares.toml", false],
  ["extension.toml", "extension.yaml", true],
] as const) {
  test(`${name} beside ${other} is ${isShadowed ? "reported as ignored" : "the one that is read"}`, async () => {
    await bench.write(`case-${cases + 1}/${other}`, "");
    const text = name.startsWith("lares") ? "" : MANIFEST_TOML;
    await bench.write(`case-${cases + 1}/${name}`, text);
    const found = (await diagnose(name, text)).filter(({ code }) => code === "shadowed-document");
    expect(found.map(({ message, severity }) => [message.startsWith(other), severity])).toEqual(
      isShadowed ? [[true, 2]] : [],
    );
  });
}

test("a document of another name is ignored", async () => {
  const uri = bench.uri("other.yaml");
  client.notify("textDocument/didOpen", {
    textDocument: { uri, languageId: "yaml", version: 1, text: "a: [" },
  });
  await diagnose("lares.yaml", "version: 1\n"); // published after any diagnostics of the other one
  const pushed = client.notifications<Published>("textDocument/publishDiagnostics");
  expect(pushed.filter((each) => each.uri === uri)).toEqual([]);
});

test("a lares.yaml that stops parsing while the kernel runs: agents continue; once fixed, it counts again", async () => {
  await call(client, PROBE, "vdfs.count", {});
  const { pid } = await bench.status(client);
  await bench.write("lares.yaml", "version: [1\n");
  await bench.write("after-the-fault.txt", "x");
  await until(
    "the file in the index",
    async () => (await call(client, PROBE, "vdfs.get", "after-the-fault.txt")) !== null,
  );
  expect((await agent(client, PROBE)).state).toBe("Active");
  await bench.writeLares({ grants: { [PROBE]: { deny: ["write_tags"] } } });
  await until(
    "the mended document",
    async () => !(await agent(client, PROBE)).permissions.includes("write_tags"),
  );
  expect((await bench.status(client)).pid).toBe(pid);
});

test.each([["lares.yaml"], [`../extensions/${PROBE}/extension.yaml`]])(
  "race: %s that is repeatedly emptied and written in place never loses its agent",
  async (name) => {
    await using own = await Bench.create({ extensions: [probe({ id: PROBE })] });
    await using connection = await own.open();
    await call(connection, PROBE, "vdfs.count", {});
    const text = await readFile(own.path(name), "utf8");
    for (let round = 0; round < 20; round++) {
      await writeFile(own.path(name), "");
      // The empty file is being read, or has been read.
      expect(await connection.request("lares/agents/list")).toMatchObject([{ id: PROBE }]);
      await writeFile(own.path(name), text);
    }
    await own.write("last.txt", "x");
    await until(
      "the last file",
      async () => (await call(connection, PROBE, "vdfs.get", "last.txt")) !== null,
    );
    const states = connection.notifications<Agent>("lares/agents/changed").map(({ state }) => state);
    expect(states).not.toContain("Error");
  },
);

test("a lares.yaml that stays empty loses its agents", async () => {
  await using own = await Bench.create({ extensions: [probe({ id: PROBE })] });
  await using connection = await own.open();
  await call(connection, PROBE, "vdfs.count", {});
  await writeFile(own.path("lares.yaml"), "");
  await until(
    "no agent",
    async () => (await connection.request<readonly Agent[]>("lares/agents/list")).length === 0,
  );
});

test.each([
  ["does not parse", "version: [1\n"],
  ["does not validate", "version: 1\nextensions: 7\n"],
  ["is ten megabytes", `version: 1\n# ${"x".repeat(10 * 1024 * 1024)}\n`],
  ["is missing", null],
  ["names a broken manifest beside a good one", "good"],
])("a lares.yaml that %s does not keep the kernel from being ready", async (_name, text) => {
  await using own = await Bench.create({ extensions: [probe({ id: PROBE })] });
  if (text === null) await rm(own.path("lares.yaml"));
  else if (text !== "good") await own.write("lares.yaml", text);
  else {
    await own.write("../extensions/test.broken/extension.yaml", "extension: [");
    const extensions = ["test.broken", PROBE].map((id) => ({
      path: `../extensions/${id}`,
      grants: { locations: ["."] },
    }));
    await own.write("lares.yaml", JSON.stringify({ version: 1, kernel: { linger: "1s" }, extensions }));
  }
  await using connection = await own.open();
  expect(await own.status(connection)).toMatchObject({ ready: true });
  if (text === "good") {
    await call(connection, PROBE, "vdfs.count", {});
    await inState(connection, PROBE, "Active");
  }
});
