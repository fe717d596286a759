import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EntryQuery } from "../base/vocabulary/entry.ts";
import { comparePaths, countEntries, queryEntries } from "./query.ts";
import { everything } from "./testing/test-workspace.ts";
import { EntryNode, EntryTree, type FileFacts } from "./tree.ts";

const facts: FileFacts = { size: 1, mtimeMs: 0, birthtimeMs: 0, inode: 1, device: 1 };

/** Paths that end in "/" are folders; those on the way are made. */
function treeOf(paths: readonly string[]): EntryTree {
  const tree = new EntryTree();
  let made = 0;
  for (const path of paths) {
    let folder = tree.top;
    const names = path.split("/").filter((name) => name !== "");
    for (const [at, name] of names.entries()) {
      const isFile = at === names.length - 1 && !path.endsWith("/");
      let child = folder.child(name);
      if (child === undefined)
        tree.add(folder, (child = new EntryNode(`id-${made++}`, name, isFile ? "file" : "folder", facts)));
      folder = child;
    }
  }
  return tree;
}

const sample = treeOf([
  "a/b.jpg",
  "a/c/d.JPG",
  "a b/x.txt",
  "notes.md",
  "photos/2024/one.jpg",
  "photos/index.md",
  "e\u0301t\u00e9/x.txt",
]);

describe("a query", () => {
  const cases: [string, EntryQuery, string[]][] = [
    [
      "everything, in path order",
      {},
      [
        "a",
        "a/b.jpg",
        "a/c",
        "a/c/d.JPG",
        "a b",
        "a b/x.txt",
        "e\u0301t\u00e9",
        "e\u0301t\u00e9/x.txt",
        "notes.md",
        "photos",
        "photos/2024",
        "photos/2024/one.jpg",
        "photos/index.md",
      ],
    ],
    ["a glob over everything", { path: "**/*.jpg" }, ["a/b.jpg", "photos/2024/one.jpg"]],
    [
      "a glob within folders",
      { path: "photos/**" },
      ["photos/2024", "photos/2024/one.jpg", "photos/index.md"],
    ],
    ["a glob with alternatives", { path: "{a,photos}/*.{md,jpg}" }, ["a/b.jpg", "photos/index.md"]],
    ["a plain path", { path: "photos/2024/one.jpg" }, ["photos/2024/one.jpg"]],
    ["a folder in another Unicode form", { path: "\u00e9t\u00e9/*" }, ["e\u0301t\u00e9/x.txt"]],
    ["a kind", { kind: "folder", path: "photos*" }, ["photos"]],
    ["a medium", { media: "image" }, ["a/b.jpg", "a/c/d.JPG", "photos/2024/one.jpg"]],
    ["an extension", { extension: "JPG" }, ["a/b.jpg", "a/c/d.JPG", "photos/2024/one.jpg"]],
    ["text in the name", { text: "INDEX" }, ["photos/index.md"]],
    ["a tag nobody has", { tag: "none" }, []],
  ];
  for (const [what, query, expected] of cases) {
    it(`finds ${what}`, () => {
      expect(queryEntries(sample, query, everything).items.map(({ path }) => path)).toEqual(expected);
      expect(countEntries(sample, query, everything)).toBe(expected.length);
    });
  }

  it("shows only what may be seen, and its pages do not tell of the rest", () => {
    const visible = (path: string): boolean => path.startsWith("photos");
    const page = queryEntries(sample, { limit: 2 }, visible);
    expect(page).toMatchObject({
      items: [{ path: "photos" }, { path: "photos/2024" }],
      cursor: "photos/2024",
    });
    expect(countEntries(sample, {}, visible)).toBe(4);
    expect(queryEntries(sample, { limit: 4 }, visible).cursor).toBeUndefined();
  });

  for (const [query, word] of [
    [{ path: "{a" }, "{a"],
    [{ limit: 0 }, "0"],
    [{ limit: 1001 }, "1001"],
    [{ limit: 1.5 }, "1.5"],
  ] as const) {
    it(`refuses ${JSON.stringify(query)} and names the value`, () => {
      expect(() => queryEntries(sample, query, everything)).toThrowError(
        expect.objectContaining({
          code: "InvalidParams",
          message: expect.stringContaining(word) as string,
        }) as Error,
      );
    });
  }

  const name = fc.constantFrom("a", "b", "a b", "A", "z", "-", "é", "a!", "aa");
  const paths = fc.array(
    fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `${names.join("/")}/`),
    { maxLength: 30 },
  );

  it("is the same in pages as at once, in the order of its comparison, also when the cursor's entry is gone", () => {
    fc.assert(
      fc.property(paths, fc.integer({ min: 1, max: 5 }), fc.nat(), (list, limit, victim) => {
        const tree = treeOf(list);
        const all = queryEntries(tree, { limit: 1000 }, everything).items.map(({ path }) => path);
        expect(all).toEqual([...all].toSorted(comparePaths));
        const paged: string[] = [];
        for (let cursor: string | undefined; ;) {
          const page = queryEntries(tree, { limit, ...(cursor === undefined ? {} : { cursor }) }, everything);
          paged.push(...page.items.map(({ path }) => path));
          if (page.cursor === undefined) break;
          cursor = page.cursor;
        }
        expect(paged).toEqual(all);
        const gone = all[victim % Math.max(1, all.length)];
        if (gone === undefined) return;
        const rest = all.filter((path) => comparePaths(path, gone) > 0);
        const without = treeOf(
          all.filter((path) => path !== gone && !path.startsWith(`${gone}/`)).map((path) => `${path}/`),
        );
        const after = queryEntries(without, { limit: 1000, cursor: gone }, everything).items.map(
          ({ path }) => path,
        );
        expect(after).toEqual(rest.filter((path) => !path.startsWith(`${gone}/`)));
      }),
    );
  });
});
