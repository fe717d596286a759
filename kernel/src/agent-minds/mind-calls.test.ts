import { expect, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { silentLog } from "../base/log.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { ownAccord, type ProcessPrincipal } from "../base/vocabulary/principal.ts";
import { conversationMigrations } from "../conversations/migrations.ts";
import { TaintedContents } from "../conversations/tainted-contents.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { MindCalls } from "./mind-calls.ts";

const caller: ProcessPrincipal = {
  kind: "process",
  agent: "test.mind",
  process: "channel",
  conversation: "c",
  id: "p",
  lineage: ownAccord,
};
const written: Hash = `sha256:${"a".repeat(64)}`;
const other: Hash = `sha256:${"b".repeat(64)}`;
const search = (files: readonly string[]) => ({ matches: files.map((path) => `${path}:1: x`), files });
const listed = (paths: readonly string[]) => ({ entries: paths.map((path) => ({ path, kind: "file" })) });

/** Calls a file tool that returns this, where "web.md" was written from the web's text, with other files as given. */
async function sourcesOf(
  tool: string,
  value: unknown,
  contents: Readonly<Record<string, Hash>>,
): Promise<readonly string[] | undefined> {
  await using database = await openNearDatabase({
    path: ":memory:",
    migrations: conversationMigrations,
    log: silentLog,
  });
  const tainted = new TaintedContents(database);
  await tainted.add([{ path: "web.md", hash: written, sources: ["agent:web"] }]);
  const calls = new MindCalls({
    tools: { call: async () => ({ status: "success", value }) } as never,
    agents: {} as never,
    actions: {} as never,
    asks: {} as never,
    tainted,
    contentOf: (path) => contents[path] ?? null,
    isUntrusted: (path) => path.startsWith("downloads/"),
  });
  const outcome = await calls.call(
    caller,
    tool,
    {},
    {
      key: "k",
      signal: neverAborted,
      offered: [tool],
      foreign: [],
    },
  );
  expect(outcome.isTainted).toBe((outcome.sources ?? []).length > 0);
  return outcome.sources;
}

test.each([
  ["a whole file, under its path", "files/read", { path: "web.md", hash: written }, {}],
  ["a whole file that was moved or copied", "files/read", { path: "moved.md", hash: written }, {}],
  ["lines of a file, under its path", "files/search", search(["clean.md", "web.md"]), {}],
  ["lines of a file that was moved or copied", "files/search", search(["moved.md"]), { "moved.md": written }],
  ["names of files that were moved or copied", "files/list", listed(["moved.md"]), { "moved.md": written }],
])("tainted contents are recognised: %s", async (_case, tool, value, contents) => {
  expect(await sourcesOf(tool, value, contents)).toEqual(["agent:web"]);
});

test("a file at a tainted path whose present content a person wrote is clean when it is read whole", async () => {
  expect(await sourcesOf("files/read", { path: "web.md", hash: other }, {})).toBeUndefined();
});

test("files beneath an untrusted pattern, by every tool; others are clean", async () => {
  for (const value of [
    { path: "downloads/a", hash: other },
    search(["downloads/a"]),
    listed(["downloads/a"]),
  ])
    expect(await sourcesOf("files/search", value, {})).toEqual(["downloads/a"]);
  expect(await sourcesOf("files/search", search(["clean.md"]), { "clean.md": other })).toBeUndefined();
});
