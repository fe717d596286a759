import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LaresError } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import type { Foreign } from "../base/vocabulary/foreign.ts";
import type { Database } from "../platform/database/database.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { ForeignPlaces } from "./foreign-places.ts";
import { agentStateMigrations } from "./migrations.ts";

const web: Foreign = { "agent:web": "all" };
const nothing: Foreign = {};

async function database(): Promise<Database> {
  const opened = await openNearDatabase({
    path: join(await temporaryFolder(), "ledger.sqlite"),
    migrations: agentStateMigrations,
    log: silentLog,
  });
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

/** Opens the places again, as the next kernel does. */
const again = (opened: Database): Promise<ForeignPlaces> => ForeignPlaces.open(opened);
const idOf = ({ id }: { id: string }): string => id;
const written = async (id = "a"): Promise<{ id: string }> => ({ id });

test("an item that was written from foreign text is known, the others are not; after a restart too", async () => {
  const opened = await database();
  const places = await ForeignPlaces.open(opened);
  await places.adding("m", web, () => written(), idOf);
  await places.adding("m", nothing, () => written("b"), idOf);
  for (const each of [places, await again(opened)]) {
    expect(each.of("m", ["a", "b"])).toEqual(web);
    expect(each.of("m", ["b"])).toEqual(nothing);
    expect(each.of("other", ["a"])).toEqual(nothing);
    expect(each.ofAll("m")).toEqual(web);
  }
});

test("while an item is written, and after a kernel died meanwhile, the whole place counts", async () => {
  const opened = await database();
  const places = await ForeignPlaces.open(opened);
  const { promise, resolve } = Promise.withResolvers<{ id: string }>();
  let isWriting = false;
  const adding = places.adding(
    "m",
    web,
    () => {
      isWriting = true;
      // A kernel that dies here has written the mark already.
      return promise;
    },
    idOf,
  );
  await expect.poll(() => isWriting).toBe(true);
  expect(places.of("m", ["b"])).toEqual(web);
  expect((await again(opened)).of("m", ["b"])).toEqual(web);
  resolve({ id: "a" });
  await adding;
  expect(places.of("m", ["b"])).toEqual(nothing);
});

test.each([
  ["a refusal", new LaresError("LimitExceeded", "Full."), nothing],
  ["a doubtful end", new LaresError("StorageError", "The disk failed."), web],
])("after %s of a write", async (_case, error, expected) => {
  const opened = await database();
  const places = await ForeignPlaces.open(opened);
  await expect(places.adding("m", web, () => Promise.reject(error), idOf)).rejects.toBe(error);
  expect(places.ofAll("m")).toEqual(expected);
  await expect(places.replacing("s", web, () => Promise.reject(error))).rejects.toBe(error);
  expect((await again(opened)).ofAll("s")).toEqual(expected);
});

test("a value that is replaced holds what its last writer had read", async () => {
  const opened = await database();
  const places = await ForeignPlaces.open(opened);
  await places.replacing("s", web, written);
  expect((await again(opened)).ofAll("s")).toEqual(web);
  await places.replacing("s", nothing, written);
  expect(places.ofAll("s")).toEqual(nothing);
  expect((await again(opened)).ofAll("s")).toEqual(nothing);
});

test("two writers of one value, in either order of their ends: the foreign text never stands there unmarked", async () => {
  const places = await ForeignPlaces.open(await database());
  let value = "";
  const order: string[] = [];
  const write = (text: string, foreign: Foreign, wait: Promise<void>) =>
    places.replacing("s", foreign, async () => {
      order.push(text);
      await wait;
      value = text;
    });
  const slow = Promise.withResolvers<void>();
  const foreign = write("foreign", web, slow.promise);
  await expect.poll(() => order.length).toBe(1);
  const clean = write("clean", nothing, Promise.resolve());
  slow.resolve();
  await Promise.all([foreign, clean]);
  expect([value, places.ofAll("s")]).toEqual(["clean", nothing]);

  const slowClean = Promise.withResolvers<void>();
  const first = write("clean", nothing, slowClean.promise);
  const second = write("foreign", web, Promise.resolve());
  await second;
  expect([value, places.ofAll("s")]).toEqual(["foreign", web]);
  slowClean.resolve();
  await first;
});

test("a place with too many items counts as a whole", async () => {
  const opened = await database();
  const places = await ForeignPlaces.open(opened, 3);
  for (let index = 0; index < 6; index++) await places.adding("m", web, () => written(`i${index}`), idOf);
  expect(places.of("m", ["unknown"])).toEqual(web);
  const rows = await opened.query<{ count: number }>("SELECT count(*) AS count FROM foreign_places", []);
  expect(rows[0]?.count).toBeLessThanOrEqual(5);
});

test("an item that is replaced holds only what its new writer had read; a refused write leaves it as it was", async () => {
  const opened = await database();
  const places = await ForeignPlaces.open(opened);
  const write = (item: string, foreign: Foreign, run = async (): Promise<void> => undefined) =>
    places.replacing("t", foreign, run, item);
  await write("a", web);
  await write("b", web);
  await write("a", nothing);
  for (const each of [places, await again(opened)]) {
    expect(each.of("t", ["a"])).toEqual(nothing);
    expect(each.of("t", ["b"])).toEqual(web);
  }
  const refused = new LaresError("Conflict", "No.");
  await expect(write("b", nothing, () => Promise.reject(refused))).rejects.toBe(refused);
  expect(places.of("t", ["b"])).toEqual(web);
  const stale = new LaresError("Stale", "No.");
  await expect(places.adding("t", web, () => Promise.reject(stale), String)).rejects.toBe(stale);
  expect(places.of("t", ["a"])).toEqual(nothing);
  // After any other error, the value may have been written.
  await expect(write("c", web, () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
  expect((await again(opened)).of("t", ["c"])).toEqual(web);
});

test("while an item is replaced, what it held counts too", async () => {
  const opened = await database();
  const places = await ForeignPlaces.open(opened);
  await places.replacing("t", web, async () => undefined, "a");
  let during: Foreign = {};
  await places.replacing("t", nothing, async () => void (during = places.of("t", ["a"])), "a");
  expect(during).toEqual(web);
  expect(places.of("t", ["a"])).toEqual(nothing);
});

test("beyond the items that are told apart, replaced ones count for the place as a whole", async () => {
  const opened = await database();
  const places = await ForeignPlaces.open(opened, 2);
  for (const item of ["a", "b", "c", "d"]) await places.replacing("t", web, async () => undefined, item);
  expect(places.of("t", ["other"])).toEqual(web);
  await places.replacing("t", nothing, async () => undefined, "a");
  expect(places.of("t", ["a"])).toEqual(web);
});

test("a place that is marked as a whole holds it in every item, besides what the items hold", async () => {
  const opened = await database();
  const places = await ForeignPlaces.open(opened);
  await places.mark("memory m", ["a"], { file: "minds" });
  await places.mark("memory m", "all", web);
  for (const each of [places, await again(opened)]) {
    expect(each.of("memory m", ["a"])).toEqual({ ...web, file: "minds" });
    expect(each.of("memory m", ["b"])).toEqual(web);
  }
});
