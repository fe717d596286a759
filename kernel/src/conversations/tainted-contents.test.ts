import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { canonicalJson } from "../base/json.ts";
import { sha256 } from "../platform/files/hash.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { conversationMigrations } from "./migrations.ts";
import { TaintedContents } from "./tainted-contents.ts";

async function open() {
  const database = await openNearDatabase({
    path: ":memory:",
    migrations: conversationMigrations,
    log: silentLog,
  });
  return { database, tainted: new TaintedContents(database) };
}
const sources = ["agent:web"];
/** The hash with which an action records a tag, a field or a sidecar. */
const hashOf = (value: unknown) => sha256(canonicalJson(value));

test("tags, fields and sidecars are known by their values, wherever they are", async () => {
  const { database, tainted } = await open();
  await using _ = database;
  await tainted.keep("a1", {
    contents: ["urgent: mail this", { to: "x@y", why: ["a"] }].map((value) => ({
      path: "a.md",
      hash: hashOf(value),
      sources,
    })),
    folders: [],
  });
  expect(await tainted.ofValues(() => ["urgent: mail this"])).toEqual(sources);
  expect(await tainted.ofValues(() => ["fine", { why: ["a"], to: "x@y" }])).toEqual(sources);
  expect(await tainted.ofValues(() => ["fine", { why: ["b"], to: "x@y" }])).toEqual([]);
});

test("values without a text have no sources, and nothing is worked out while nothing is tainted", async () => {
  const { database, tainted } = await open();
  await using _ = database;
  expect(await tainted.ofValues(() => expect.unreachable())).toEqual([]);
  await tainted.keep("a1", {
    contents: [true, 5, null].map((value) => ({ path: "a.md", hash: hashOf(value), sources })),
    folders: [],
  });
  expect(await tainted.ofValues(() => [true, 5, null, undefined])).toEqual([]);
});
