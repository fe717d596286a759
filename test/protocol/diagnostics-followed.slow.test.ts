import { mkdir, rename, rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { probe } from "../support/agents.ts";
import { agent, Bench, inState } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { LanguageClient } from "../support/language-client.ts";
import type { Agent } from "../support/types.ts";
import { until } from "../support/until.ts";

type Published = { uri: string; diagnostics: { code: string; message: string }[] };

let bench: Bench;
let client: Client;
let editor: LanguageClient;
beforeAll(async () => {
  bench = await Bench.create();
  // No agent has to run for this, and no trust is needed.
  client = await bench.connect({ trusted: false });
  editor = new LanguageClient(client);
});
afterAll(() => bench[Symbol.asyncDispose]());

let cases = 0;
let folder = "";
const at = (path: string): string => (path.startsWith("/") ? path.slice(1) : `${folder}/${path}`);
const write = (path: string, text: string): Promise<void> => bench.write(at(path), text);

/** Opens the text in a folder of its own; returns a function that waits for these codes to be published, in order. */
function opened(path: string, text: string): (...codes: string[]) => Promise<void> {
  const uri = bench.uri(at(path));
  editor.open(uri, text);
  return async (...codes) => {
    const last = (): string[] | undefined =>
      client
        .notifications<Published>("textDocument/publishDiagnostics")
        .findLast((each) => each.uri === uri)
        ?.diagnostics.map(({ code }) => code);
    await until(`${path} to have [${codes.join(" ")}]`, () => {
      const now = last();
      return now !== undefined && now.join(" ") === codes.join(" ");
    });
  };
}

function begin(): void {
  folder = `case-${++cases}`;
}

const manifest = (id: string, more = ""): string =>
  `extension:\n  id: ${id}\n  name: Name\n  version: 1.0.0\n${more}`;
const BROKEN = "extension:\n  id: 7\n";

test("a manifest that is fixed, broken and fixed in another way: the document that names it is diagnosed each time", async () => {
  begin();
  await write("ext/extension.yaml", BROKEN);
  const shows = opened("lares.yaml", "extensions:\n  - path: ./ext\n");
  await shows("extension-invalid");
  await write("ext/extension.yaml", manifest("test.mended"));
  await shows();
  await write("ext/extension.yaml.new", BROKEN);
  await rename(bench.path(at("ext/extension.yaml.new")), bench.path(at("ext/extension.yaml")));
  await shows("extension-invalid");
  await rm(bench.path(at("ext/extension.yaml")));
  await shows("extension-not-found");
  await write("ext/extension.toml", '[extension]\nid = "test.mended"\nname = "N"\nversion = "1.0.0"\n');
  await shows();
});

test("an open manifest counts with the editor's text until it is closed", async () => {
  begin();
  await write("ext/extension.yaml", BROKEN);
  const shows = opened("lares.yaml", "extensions:\n  - path: ./ext\n");
  await shows("extension-invalid");
  const uri = bench.uri(at("ext/extension.yaml"));
  editor.open(uri, manifest("test.open"));
  await shows();
  const change = (version: number, text: string): void =>
    client.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges: [{ text }] });
  change(2, BROKEN);
  await shows("extension-invalid");
  change(3, manifest("test.open"));
  await shows();
  client.notify("textDocument/didClose", { textDocument: { uri } });
  await shows("extension-invalid");
});

test("a path whose folders are created later, removed and created again", async () => {
  begin();
  const shows = opened("lares.yaml", "extensions:\n  - path: ./deep/down/ext\n");
  await shows("extension-not-found");
  await write("deep/down/ext/extension.yaml", manifest("test.later"));
  await shows();
  await rename(bench.path(at("deep")), bench.path(at("gone")));
  await shows("extension-not-found");
  await rename(bench.path(at("gone")), bench.path(at("deep")));
  await shows();
});

test("a location that is created and removed, alone and with its parent folder", async () => {
  begin();
  await write("ext/extension.yaml", manifest("test.located"));
  const location = `${folder}/places/photos`;
  const shows = opened(
    "lares.yaml",
    `extensions:\n  - path: ./ext\n    grants:\n      locations: [${location}]\n`,
  );
  await shows("location-not-found");
  await mkdir(bench.path(location), { recursive: true });
  await shows();
  await rm(bench.path(location), { recursive: true });
  await shows("location-not-found");
  await bench.write(`${location}/x`, "");
  await shows();
  await rm(bench.path(at("places")), { recursive: true });
  await shows("location-not-found");
});

test("a handler that its program gains and loses, in its file and as it is typed", async () => {
  begin();
  const shows = opened(
    "extension.yaml",
    manifest("test.h", "  hooks: [{ on: EntryCreated, handler: seen }]\n"),
  );
  await shows("no-program");
  const program = (name: string): string => `export default { hooks: { ${name}() {} } };\n`;
  await write("agent.ts", program("other"));
  await shows("handler-not-exported");
  await write("agent.ts", program("seen"));
  await shows();
  const uri = bench.uri(at("agent.ts"));
  editor.open(uri, program("other"));
  await shows("handler-not-exported");
  client.notify("textDocument/didClose", { textDocument: { uri } });
  await shows();
  await rm(bench.path(at("agent.ts")));
  await shows("no-program");
});

test("two manifests that get the same id, and a permission that one adds", async () => {
  begin();
  await write("one/extension.yaml", manifest("test.one"));
  await write("two/extension.yaml", manifest("test.two"));
  const shows = opened(
    "lares.yaml",
    "extensions:\n  - path: ./one\n    grants:\n      allow: [read_entries]\n  - path: ./two\n",
  );
  await shows();
  await write("two/extension.yaml", manifest("test.one"));
  await shows("duplicate-extension");
  await write("two/extension.yaml", manifest("test.two"));
  await shows();
  await write("one/extension.yaml", manifest("test.one", "  permissions: { write_tags: true }\n"));
  await shows("permission-not-granted");
});

test("an extension that is put into the workspace's own folder, and removed", async () => {
  begin();
  const shows = opened("lares.yaml", "extensions:\n  - id: test.dropped\n");
  await shows("extension-not-found");
  await write("/.lares/extensions/dropped/extension.yaml", manifest("test.dropped"));
  await shows();
  await rm(bench.path(".lares"), { recursive: true });
  await shows("extension-not-found");
});

test("a document that appears beside it and is read instead", async () => {
  begin();
  await write("lares.toml", "version = 1\n");
  const shows = opened("lares.toml", "version = 1\n");
  await shows();
  await write("lares.yaml", "version: 1\n");
  await shows("shadowed-document");
  await rm(bench.path(at("lares.yaml")));
  await shows();
});

test("an extension whose folder is created later needs acceptance, and runs once a person accepted it", async () => {
  const late = probe({
    id: "test.late",
    agent: { activation: "eager" },
    hooks: [{ on: "EntryCreated", handler: "record" }],
  });
  await using own = await Bench.create();
  const extensions = [{ path: "./made/later/ext", grants: { locations: ["photos"] } }];
  await own.writeLares({ keys: { extensions } });
  await using person = await own.open();
  const { trust } = await own.status(person);
  expect(await person.request<Agent[]>("lares/agents/list")).toEqual([]);
  await own.writeExtension(late);
  await mkdir(own.path("made/later"), { recursive: true });
  await rename(own.extensionFolder("test.late"), own.path("made/later/ext"));
  const shown = await inState(person, "test.late", "Error");
  expect(shown.awaiting).toBe("acceptance");
  await own.accept(person, trust.digest);
  await inState(person, "test.late", "Active");
  // Its location is created later still.
  await own.write("photos/one.txt", "1");
  await until("the file that was made where it may look", async () => {
    const { metrics } = await agent(person, "test.late");
    return metrics.events_processed > 0;
  });
});
