import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, host, probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { Entry } from "../support/types.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const NARROW = "test.narrow";
const FILES = {
  ".gitignore": "ignored/\n*.tmp\n",
  "readme.md": "# readme\n",
  "docs/guide.md": "# guide\n",
  "docs/deep/notes.txt": "same content\n",
  "docs/copy.txt": "same content\n",
  "photos/Beach.JPG": "jpg",
  "photos/sea.png": "png",
  "photos/clip.mp4": "mp4",
  "music/song.mp3": "mp3",
  "papers/paper.pdf": "pdf",
  "data.bin": "\0\x01",
  "ignored/secret.txt": "x",
  "junk.tmp": "x",
};

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: FILES,
    extensions: [
      probe({ id: PROBE }),
      probe({
        id: NARROW,
        permissions: { read_entries: { filter: "*.{jpg,png}" } },
        grants: { locations: ["photos/", "docs/"] },
      }),
    ],
  });
  client = await bench.open();
  await call(client, PROBE, "vdfs.tags.add", "readme.md", "#important");
});
afterAll(() => bench[Symbol.asyncDispose]());

type Page = { items: Entry[]; cursor?: string };
const query = (params: object): Promise<Page> => client.request<Page>("lares/entries/query", params);
const paths = (page: Page): string[] => page.items.map(({ path }) => path).toSorted();

describe("lares/entries/query", () => {
  const table: [object, string[]][] = [
    [{ path: "docs/*" }, ["docs/copy.txt", "docs/deep", "docs/guide.md"]],
    [{ path: "docs/**" }, ["docs/copy.txt", "docs/deep", "docs/deep/notes.txt", "docs/guide.md"]],
    [{ path: "**/*.{png,pdf}" }, ["papers/paper.pdf", "photos/sea.png"]],
    [{ path: "photos/sea.png" }, ["photos/sea.png"]],
    [{ path: "nowhere/**" }, []],
    [{ tag: "#important" }, ["readme.md"]],
    [{ kind: "folder" }, ["docs", "docs/deep", "music", "papers", "photos"]],
    [{ media: "image" }, ["photos/Beach.JPG", "photos/sea.png"]],
    [{ media: "video" }, ["photos/clip.mp4"]],
    [{ media: "audio" }, ["music/song.mp3"]],
    [{ media: "document" }, ["papers/paper.pdf"]],
    [{ extension: "jpg" }, ["photos/Beach.JPG"]],
    [{ extension: "md" }, ["docs/guide.md", "readme.md"]],
    [{ text: "beach" }, ["photos/Beach.JPG"]],
    [{ text: "copy", kind: "file" }, ["docs/copy.txt"]],
    [
      { kind: "file", media: "text", path: "docs/**", extension: "txt" },
      ["docs/copy.txt", "docs/deep/notes.txt"],
    ],
  ];
  test.each(table)("%j", async (params, expected) => {
    expect(paths(await query(params))).toEqual(expected);
  });

  test("shows complete entries; ignored files and .git are not entries", async () => {
    const all = paths(await query({ limit: 1000 }));
    expect(all).toEqual(expect.arrayContaining(["readme.md", "photos", "data.bin"]));
    expect(all.filter((path) => /ignored|\.tmp$/.test(path))).toEqual([]);
    const [entry] = (await query({ path: "photos/Beach.JPG" })).items;
    expect(Object.keys(entry ?? {}).toSorted()).toEqual(
      "content_id created extension fields id kind location media mime modified name path sidecars size tags".split(
        " ",
      ),
    );
  });

  test("pages by limit and cursor: every entry once, in a stable order", async () => {
    const all = (await query({ limit: 1000 })).items.map(({ path }) => path);
    const walked: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await query({ limit: 4, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.items.length).toBeLessThanOrEqual(4);
      walked.push(...page.items.map(({ path }) => path));
      cursor = page.cursor;
    } while (cursor !== undefined && ++pages < 20);
    expect(walked).toEqual(all);
  });

  test.each([
    [{ limit: 1001 }],
    [{ limit: 0 }],
    [{ limit: -1 }],
    [{ kind: "device" }],
    [{ path: "{".repeat(100) }],
  ])("%j is a clear error", async (params) => {
    const { error } = await client.raw("lares/entries/query", params);
    expect(error).toMatchObject({ message: expect.stringMatching(/\w+ \w+/) });
  });

  test("content ids are the SHA-256 of the bytes, filled in the background", async () => {
    const expected = `sha256:${createHash("sha256").update("same content\n").digest("hex")}`;
    await until(
      "content ids",
      async () => (await query({ path: "docs/copy.txt" })).items[0]?.content_id === expected,
    );
    await until("both copies", async () => {
      const copies = await call<{ count: number; paths: string[] }>(client, PROBE, "vdfs.copies", expected);
      return copies.count === 2 && copies.paths.toSorted().join() === "docs/copy.txt,docs/deep/notes.txt";
    });
  });
});

describe("an agent's view", () => {
  test("query, count and get agree with the client's", async () => {
    expect(await call(client, PROBE, "vdfs.count", { media: "image" })).toBe(2);
    expect(await call(client, PROBE, "vdfs.get", "readme.md")).toMatchObject({
      path: "readme.md",
      tags: ["#important"],
    });
    expect(await call(client, PROBE, "vdfs.get", "absent.md")).toBeNull();
    expect(await call(client, PROBE, "vdfs.readText", "readme.md")).toBe("# readme\n");
    expect(await call(client, PROBE, "vdfs.read", "readme.md", { offset: 2, length: 4 })).toEqual({
      bytes: [...Buffer.from("read")],
    });
  });

  test("nothing outside its locations or its read filter is visible, by any call", async () => {
    expect(await call(client, NARROW, "vdfs.count", { kind: "file" })).toBe(2);
    const page = await call<Page | Entry[]>(client, NARROW, "vdfs.query", { kind: "file" });
    const items = Array.isArray(page) ? page : page.items;
    expect(items.map(({ path }) => path).toSorted()).toEqual(["photos/Beach.JPG", "photos/sea.png"]);
    const copies = `sha256:${createHash("sha256").update("same content\n").digest("hex")}`;
    expect(await call(client, NARROW, "vdfs.copies", copies)).toEqual({ count: 0, paths: [] });
    for (const method of ["vdfs.get", "vdfs.readText"]) {
      expect((await host(client, NARROW, method, "readme.md")).error?.code).toBe("ScopeViolation");
      expect((await host(client, NARROW, method, "docs/guide.md")).error?.code).toBe("PermissionDenied");
    }
  });
});
