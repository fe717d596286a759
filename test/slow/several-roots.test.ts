import { readFile } from "node:fs/promises";
import { afterEach, expect, test } from "vitest";
import { ALL_PERMISSIONS, call, PROBE_PROGRAM, probe } from "../support/agents.ts";
import { Bench, inState } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { Action, Status } from "../support/types.ts";
import { until } from "../support/until.ts";

interface Diagnostics {
  readonly uri: string;
  readonly diagnostics: readonly { readonly code: string; readonly message: string }[];
}

let bench: Bench;
afterEach(() => bench[Symbol.asyncDispose]());

/** The probe as an extension in a folder of the workspace. */
function probeIn(root: string, id: string): Record<string, string> {
  const { manifest } = probe({ id, permissions: ALL_PERMISSIONS });
  const folder = `${root}/.lares/extensions/${id}`;
  return {
    [`${folder}/extension.yaml`]: JSON.stringify({
      extension: { id, name: id, version: "1.0.0", ...manifest },
    }),
    [`${folder}/agent.ts`]: PROBE_PROGRAM,
  };
}

const documentWith = (...extensions: { id: string; grants: object }[]): string =>
  JSON.stringify({ version: 1, extensions, kernel: { linger: "1s" } }, null, 2);

/** Connects a trusted client to the workspace of these folders, and waits until its kernel is ready. */
async function open(...roots: readonly string[]): Promise<Client> {
  const client = bench.spawn();
  await client.request("initialize", {
    ...bench.initializeParams({ trusted: true }),
    rootUri: null,
    workspaceFolders: roots.map((name) => ({ uri: bench.uri(name), name })),
  });
  client.notify("initialized", {});
  await bench.ready(client);
  return client;
}

/** Returns the diagnostics of a document on the disk. */
async function faults(client: Client, path: string): Promise<Diagnostics["diagnostics"]> {
  const uri = bench.uri(path);
  const text = await readFile(bench.path(path), "utf8");
  const before = client.notifications("textDocument/publishDiagnostics").length;
  client.notify("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version: 1, text } });
  return until("its diagnostics", () =>
    client
      .notifications<Diagnostics>("textDocument/publishDiagnostics")
      .slice(before)
      .findLast((published) => published.uri === uri),
  ).then(({ diagnostics }) => diagnostics);
}

async function changed(client: Client, agent: string, path: string): Promise<string> {
  const effects = [{ kind: "file.write", path, content: "changed\n" }];
  const { id, digest } = await call<Action>(client, agent, "actions.propose", effects, {
    title: "Change",
    reason: "",
  });
  return (await client.request<Action>("lares/actions/approve", { id, digest })).state;
}

test("agents of two folders run; the first folder's document names them, and where each may be", async () => {
  bench = await Bench.create({
    files: {
      ...probeIn("one", "test.one"),
      ...probeIn("two", "test.two"),
      "one/notes/a.txt": "a\n",
      "two/notes/b.txt": "b\n",
      "one/lares.yaml": documentWith(
        { id: "test.one", grants: { locations: ["one/notes"] } },
        { id: "test.two", grants: { locations: ["two/notes"] } },
      ),
      "two/lares.yaml": documentWith({ id: "test.two", grants: { locations: ["."] } }),
    },
  });
  const client = await open("one", "two");

  // Every question names the folder of each extension.
  const { trust } = await bench.status(client);
  for (const root of ["one", "two"])
    expect(trust.asks.join("\n")).toContain(`from this workspace's ${root}/.lares/extensions/test.${root})`);
  expect(await faults(client, "one/lares.yaml")).toEqual([]);
  expect(await faults(client, "two/lares.yaml")).toMatchObject([
    { code: "document-not-counted", message: expect.stringContaining(bench.path("one")) },
  ]);
  expect(await changed(client, "test.one", "one/notes/a.txt")).toBe("Committed");
  expect(await changed(client, "test.two", "two/notes/b.txt")).toBe("Committed");
  expect(await readFile(bench.path("two/notes/b.txt"), "utf8")).toBe("changed\n");
  // Grants of the second folder's document have no effect.
  await expect(changed(client, "test.two", "one/notes/a.txt")).rejects.toThrow();
  expect(await readFile(bench.path("one/notes/a.txt"), "utf8")).toBe("changed\n");
});

test("the second folder's document counts if the first has none", async () => {
  bench = await Bench.create({
    files: {
      ...probeIn("two", "test.two"),
      "one/a.txt": "a\n",
      "two/lares.yaml": documentWith({ id: "test.two", grants: { locations: ["one"] } }),
    },
  });
  const client = await open("one", "two");
  expect(await faults(client, "two/lares.yaml")).toEqual([]);
  expect(await changed(client, "test.two", "one/a.txt")).toBe("Committed");
  // Once the first folder has a document, that one counts, and nobody has accepted it.
  const { trust } = await bench.status(client);
  await bench.write("one/lares.yaml", documentWith());
  await until("another digest", async () => (await bench.status(client)).trust.digest !== trust.digest);
  expect((await faults(client, "two/lares.yaml"))[0]?.code).toBe("document-not-counted");
});

test("two folders with the same name are distinguished consistently, in any order of opening", async () => {
  bench = await Bench.create({
    files: {
      ...probeIn("b/notes", "test.probe"),
      "a/notes/file.txt": "of a\n",
      "b/notes/file.txt": "of b\n",
      "b/notes/lares.yaml": documentWith({ id: "test.probe", grants: { locations: ["."] } }),
    },
  });
  const client = await open("b/notes", "a/notes");
  const other = await open("a/notes", "b/notes");
  const pids = await Promise.all([client, other].map(async (each) => (await bench.status(each)).pid));
  expect(new Set(pids).size).toBe(1);
  await inState(other, "test.probe", "Active", "Unloaded");
  expect(await changed(other, "test.probe", "notes-2/file.txt")).toBe("Committed");
  expect(await readFile(bench.path("b/notes/file.txt"), "utf8")).toBe("changed\n");
  expect(await readFile(bench.path("a/notes/file.txt"), "utf8")).toBe("of a\n");
  const status = await client.request<Status>("lares/status");
  expect(status.index.complete).toBe(true);
});
