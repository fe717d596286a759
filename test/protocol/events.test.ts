import { closeSync, openSync, writeSync } from "node:fs";
import { mkdir, rename, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, event, events, probe, type SeenEvent } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { TemporaryFolder } from "../support/temporary-folder.ts";
import type { Entry } from "../support/types.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const FILTERS = "test.filters";
const ALL = [
  "EntryCreated",
  "EntryModified",
  "EntryMoved",
  "EntryDeleted",
  "TagAdded",
  "TagRemoved",
  "IndexComplete",
];

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "old/one.txt": "1\n", "old/two.jpg": "2" },
    extensions: [
      probe({
        id: PROBE,
        hooks: ALL.map((on) => ({ on, handler: "record" })),
        manifest: { resources: { max_events_per_second: 10_000 } },
      }),
      probe({
        id: FILTERS,
        hooks: [
          { on: "EntryCreated", handler: "first", filter: "entry.isImage() && inGrantedScope(entry.path)" },
          { on: "EntryCreated", handler: "second", filter: 'entry.path.starts_with("f/") && entry.size > 3' },
          { on: "EntryCreated", handler: "third", filter: 'entry.name.matches("^[a-c]+[.]md$")' },
          { on: "EntryModified", handler: "fourth", filter: '"size" in changed_fields' },
          { on: "EntryDeleted", handler: "fifth", filter: 'path.endsWith(".md")' },
          { on: "TagAdded", handler: "sixth", filter: 'tag == "#wanted" && entry.isText()' },
        ],
      }),
    ],
  });
  client = await bench.open();
  await event(client, PROBE, "IndexComplete", ({ name }) => name === "IndexComplete");
});
afterAll(() => bench[Symbol.asyncDispose]());

const entryOf = (seen: SeenEvent): Entry => seen["entry"] as Entry;
const of = (name: string, path: string) => (seen: SeenEvent) =>
  seen.name === name && (seen.name === "EntryDeleted" ? seen["path"] : entryOf(seen).path) === path;

test("every event has a name, an id of its own and a time", async () => {
  const all = await events(client, PROBE);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  for (const { timestamp } of all) expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
});

test("the first index delivers EntryCreated of every entry before its location's IndexComplete", async () => {
  const all = await events(client, PROBE);
  const complete = all.findIndex(({ name }) => name === "IndexComplete");
  const created = all.flatMap((seen, index) =>
    seen.name === "EntryCreated" ? [[entryOf(seen).path, index]] : [],
  );
  const found = new Map(created as [string, number][]);
  for (const path of ["old", "old/one.txt", "old/two.jpg", "lares.yaml"]) {
    expect(found.get(path), path).toBeLessThan(complete);
  }
  expect(found.size).toBe(created.length);
  expect(all[complete]).toMatchObject({
    location: expect.any(String),
    entries_processed: 4,
    duration_ms: expect.any(Number),
  });
});

test("EntryCreated carries the whole entry", async () => {
  // Moved into place complete: a file whose writer is delayed between creation and writing would settle empty.
  const staged = join(bench.base, "Holiday.JPG");
  await writeFile(staged, "not really a photo");
  await mkdir(bench.path("new"), { recursive: true });
  await rename(staged, bench.path("new/Holiday.JPG"));
  const seen = await event(client, PROBE, "EntryCreated", of("EntryCreated", "new/Holiday.JPG"));
  expect(seen).toMatchObject({ location: expect.any(String) });
  expect(entryOf(seen)).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    path: "new/Holiday.JPG",
    name: "Holiday.JPG",
    kind: "file",
    media: "image",
    extension: "jpg",
    mime: "image/jpeg",
    size: 18,
    created: expect.any(String),
    modified: expect.stringMatching(/Z$/),
    content_id: null,
    tags: [],
    fields: {},
    sidecars: [],
    location: seen["location"],
  } satisfies Record<keyof Entry, unknown>);
});

test("a new file's EntryCreated is sent once it has settled, with the size it then has", async () => {
  // A pause of 20 ms counts as settled, and a busy machine may cause one; such an attempt proves nothing.
  let name = "";
  let longestPauseMs = Infinity;
  for (let attempt = 0; longestPauseMs > 10 && attempt < 20; attempt++) {
    name = `pieces-${attempt}.txt`;
    longestPauseMs = 0;
    let last = performance.now();
    const file = openSync(bench.path(name), "wx");
    for (let piece = 0; piece < 5; piece++) {
      writeSync(file, "0123456789");
      const now = performance.now();
      longestPauseMs = Math.max(longestPauseMs, now - last);
      last = now;
    }
    closeSync(file);
  }
  const seen = await event(client, PROBE, "EntryCreated", of("EntryCreated", name));
  expect(entryOf(seen).size).toBe(50);
  expect((await events(client, PROBE)).filter(of("EntryCreated", name))).toHaveLength(1);
});

test("EntryModified names what changed, EntryMoved keeps the id, EntryDeleted names id and path, in this order", async () => {
  await bench.write("life.txt", "1\n");
  const born = await event(client, PROBE, "EntryCreated", of("EntryCreated", "life.txt"));
  const { id } = entryOf(born);

  await bench.write("life.txt", "longer than before\n");
  // A file that was first seen empty is modified twice.
  const modified = await event(
    client,
    PROBE,
    "EntryModified",
    (seen) => of("EntryModified", "life.txt")(seen) && entryOf(seen).size === 19,
  );
  expect(modified["changed_fields"]).toEqual(expect.arrayContaining(["size"]));
  expect(entryOf(modified).id).toBe(id);

  await utimes(bench.path("life.txt"), new Date(), new Date("2020-01-01T00:00:00Z"));
  await event(
    client,
    PROBE,
    "EntryModified by time",
    (seen) => of("EntryModified", "life.txt")(seen) && entryOf(seen).modified === "2020-01-01T00:00:00.000Z",
  );

  await rename(bench.path("life.txt"), bench.path("new/afterlife.txt"));
  const moved = await event(client, PROBE, "EntryMoved", of("EntryMoved", "new/afterlife.txt"));
  expect(moved).toMatchObject({ from: "life.txt", entry: { id, name: "afterlife.txt" } });

  await unlink(bench.path("new/afterlife.txt"));
  const deleted = await event(client, PROBE, "EntryDeleted", of("EntryDeleted", "new/afterlife.txt"));
  expect(deleted).toMatchObject({ entry_id: id, path: "new/afterlife.txt" });

  const own = (await events(client, PROBE)).filter(
    (seen) => seen["entry_id"] === id || (seen["entry"] as Entry | undefined)?.id === id,
  );
  const order = own.map(({ name }) => name).filter((name, index, names) => name !== names[index - 1]);
  expect(order).toEqual(["EntryCreated", "EntryModified", "EntryMoved", "EntryDeleted"]);
});

test("TagAdded and TagRemoved carry the entry and the tag", async () => {
  await call(client, PROBE, "vdfs.tags.add", "old/one.txt", "#kept");
  const added = await event(client, PROBE, "TagAdded", of("TagAdded", "old/one.txt"));
  expect(added).toMatchObject({ tag: "#kept", entry: { tags: ["#kept"] } });
  await call(client, PROBE, "vdfs.tags.remove", "old/one.txt", "#kept");
  const removed = await event(client, PROBE, "TagRemoved", of("TagRemoved", "old/one.txt"));
  expect(removed).toMatchObject({ tag: "#kept", entry: { tags: [] } });
});

test("filters select by the event's fields, each hook separately", async () => {
  const seen = async (via: string): Promise<string[]> =>
    (await events(client, FILTERS))
      .filter((each) => each.via === via)
      .map((each) => (each["path"] as string | undefined) ?? entryOf(each).path);

  // Moved in complete: the first event of a file that is being written may describe an empty one.
  await using outside = await TemporaryFolder.create("lares-events-");
  await mkdir(bench.path("f"));
  const place = async (path: string, content: string): Promise<void> => {
    await writeFile(join(outside.path, "whole"), content);
    await rename(join(outside.path, "whole"), bench.path(path));
  };
  await place("f/a.png", "pixels"); // first, second
  await place("f/b.md", "12"); // third
  await place("f/abc.md", "1234"); // second, third
  await place("f/x.md", "1234567"); // second
  await place("abc.mdx", "1234567"); // none
  await until("the filtered events", async () => (await seen("second")).includes("f/x.md"));
  expect((await seen("first")).filter((path) => path.startsWith("f/"))).toEqual(["f/a.png"]);
  expect(await seen("first")).toContain("old/two.jpg");
  expect((await seen("second")).toSorted()).toEqual(["f/a.png", "f/abc.md", "f/x.md"]);
  await until("the third hook", async () => (await seen("third")).length >= 2);
  expect((await seen("third")).toSorted()).toEqual(["f/abc.md", "f/b.md"]);

  await utimes(bench.path("f/x.md"), new Date(), new Date(0)); // no change of size
  await bench.write("f/b.md", "123456789");
  await until("EntryModified", async () => (await seen("fourth")).includes("f/b.md"));
  expect(await seen("fourth")).not.toContain("f/x.md");

  await unlink(bench.path("f/a.png"));
  await unlink(bench.path("f/b.md"));
  await until("EntryDeleted", async () => (await seen("fifth")).length > 0);
  expect(await seen("fifth")).toEqual(["f/b.md"]);

  await call(client, FILTERS, "vdfs.tags.add", "f/abc.md", "#other");
  await call(client, FILTERS, "vdfs.tags.add", "old/two.jpg", "#wanted");
  await call(client, FILTERS, "vdfs.tags.add", "f/abc.md", "#wanted");
  await until("TagAdded", async () => (await seen("sixth")).length > 0);
  expect(await seen("sixth")).toEqual(["f/abc.md"]);
});

test("two hundred files at once: each is created once, none is lost", async () => {
  const names = Array.from({ length: 200 }, (_, index) => `many/${String(index).padStart(3, "0")}.txt`);
  await Promise.all(names.map((name) => bench.write(name, name)));
  const created = (): Promise<string[]> =>
    events(client, PROBE).then((all) =>
      all
        .filter(({ name }) => name === "EntryCreated")
        .map((seen) => entryOf(seen).path)
        .filter((path) => path.startsWith("many/"))
        .toSorted(),
    );
  await until("all of them", async () => (await created()).length >= names.length);
  expect(await created()).toEqual(names);
});
