import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EntryQuery } from "../base/vocabulary/entry.ts";
import { systemClock } from "../platform/clock.ts";
import { workspaceTimes } from "./limits.ts";
import { comparePaths, countEntries, countFiles, queryEntries } from "./query.ts";
import { Slices } from "../base/slices.ts";
import { countTurns } from "../base/testing/count-turns.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { createSight } from "../policy/sight.ts";
import { everything } from "./testing/test-workspace.ts";
import { EntryNode, EntryTree, type FileFacts } from "./tree.ts";

const facts: FileFacts = { size: 1, mtimeMs: 0, birthtimeMs: 0, inode: 1, device: 1 };

/** Builds a tree. Paths that end in "/" are folders; folders on the way are created. */
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

const slices = new Slices(systemClock, 8);
/** Each call of this clock takes a millisecond. */
const slowClock = () => {
  let nowMs = 0;
  return { monotonic: () => nowMs++ };
};

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
    ["a plain path of a folder", { path: "photos" }, ["photos"]],
    ["a plain path in another Unicode form", { path: "\u00e9t\u00e9/x.txt" }, ["e\u0301t\u00e9/x.txt"]],
    ["no deeper than the path", { path: "photos/*" }, ["photos/2024", "photos/index.md"]],
    [
      "a path through an alternative with a slash",
      { path: "{a/c,photos}/*" },
      ["a/c/d.JPG", "photos/2024", "photos/index.md"],
    ],
    ["nothing beneath a file", { path: "notes.md/*" }, []],
    ["a folder in another Unicode form", { path: "\u00e9t\u00e9/*" }, ["e\u0301t\u00e9/x.txt"]],
    ["a kind", { kind: "folder", path: "photos*" }, ["photos"]],
    ["a medium", { media: "image" }, ["a/b.jpg", "a/c/d.JPG", "photos/2024/one.jpg"]],
    ["a medium as the kind", { kind: "image" }, ["a/b.jpg", "a/c/d.JPG", "photos/2024/one.jpg"]],
    ["two media, which nothing is", { kind: "image", media: "text" }, []],
    ["a folder of a medium, which none has", { kind: "folder", media: "image" }, []],
    ["an extension", { extension: "JPG" }, ["a/b.jpg", "a/c/d.JPG", "photos/2024/one.jpg"]],
    ["text in the name", { text: "INDEX" }, ["photos/index.md"]],
    ["a tag nobody has", { tag: "none" }, []],
  ];
  for (const [what, query, expected] of cases) {
    it(`finds ${what}`, async () => {
      const page = await queryEntries(sample, query, everything, slices);
      expect(page.items.map(({ path }) => path)).toEqual(expected);
      expect(await countEntries(sample, query, everything, slices)).toBe(expected.length);
    });
  }

  it("shows only visible entries, and its pages do not reveal the others", async () => {
    const visible = (path: string): boolean => path.startsWith("photos");
    const page = await queryEntries(sample, { limit: 2 }, visible, slices);
    expect(page).toMatchObject({
      items: [{ path: "photos" }, { path: "photos/2024" }],
      cursor: "photos/2024",
    });
    expect(await countEntries(sample, {}, visible, slices)).toBe(4);
    expect((await queryEntries(sample, { limit: 4 }, visible, slices)).cursor).toBeUndefined();
  });

  for (const [query, word] of [
    [{ path: "{a" }, "{a"],
    [{ limit: 0 }, "0"],
    [{ limit: 1001 }, "1001"],
    [{ limit: 1.5 }, "1.5"],
  ] as const) {
    it(`refuses ${JSON.stringify(query)} and names the value`, async () => {
      await expect(queryEntries(sample, query, everything, slices)).rejects.toMatchObject({
        code: "InvalidParams",
        message: expect.stringContaining(word) as string,
      });
    });
  }

  const name = fc.constantFrom("a", "b", "a b", "A", "z", "-", "é", "a!", "aa");
  const paths = fc.array(
    fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `${names.join("/")}/`),
    { maxLength: 30 },
  );

  it("gives the same in pages and in slices as at once, in order, also when the cursor's entry is gone", async () => {
    await fc.assert(
      fc.asyncProperty(paths, fc.integer({ min: 1, max: 5 }), fc.nat(), async (list, limit, victim) => {
        const tree = treeOf(list);
        const whole = await queryEntries(tree, { limit: 1000 }, everything, slices);
        const all = whole.items.map(({ path }) => path);
        const tiny = new Slices(slowClock(), limit);
        expect(await queryEntries(tree, { limit: 1000 }, everything, tiny)).toEqual(whole);
        expect(all).toEqual([...all].toSorted(comparePaths));
        const paged: string[] = [];
        for (let cursor: string | undefined; ;) {
          const query = { limit, ...(cursor === undefined ? {} : { cursor }) };
          const page = await queryEntries(tree, query, everything, slices);
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
        const rest1000 = await queryEntries(without, { limit: 1000, cursor: gone }, everything, slices);
        const after = rest1000.items.map(({ path }) => path);
        expect(after).toEqual(rest.filter((path) => !path.startsWith(`${gone}/`)));
      }),
    );
  });
});

describe("a long query lets others run", () => {
  const many = treeOf(Array.from({ length: 200 }, (_, at) => `${at % 7}/${at}/file.md`));

  it("many concurrent ones together block the loop for no longer than one slice, and each completes", async () => {
    const sliced = new Slices(slowClock(), 8);
    let [inThisTurn, most] = [0, 0];
    const visible = (): boolean => {
      most = Math.max(most, ++inThisTurn);
      return true;
    };
    const { result: counts, turns } = await countTurns(
      () =>
        Promise.all(Array.from({ length: 20 }, () => countEntries(many, { path: "**" }, visible, sliced))),
      () => (inThisTurn = 0),
    );
    expect(counts).toEqual(Array.from({ length: 20 }, () => many.size));
    expect(most).toBeLessThanOrEqual(8);
    expect(turns).toBeGreaterThan((20 * many.size) / 8);
  });

  it("one that takes too much of the kernel's time ends with an error that says what to do; others complete", async () => {
    let nowMs = 0;
    const sliced = new Slices({ monotonic: () => nowMs }, 8);
    const costly = (costMs: number) => (): boolean => {
      nowMs += costMs;
      return true;
    };
    const query = { path: "**" };
    const [refused, done] = await Promise.allSettled([
      countEntries(many, query, costly(1 + workspaceTimes.queryMs / 100), sliced),
      countEntries(many, query, costly(1), sliced),
    ]);
    expect(refused).toMatchObject({
      status: "rejected",
      reason: { code: "LimitExceeded", message: expect.stringContaining("Use a simpler pattern") as string },
    });
    expect(done).toEqual({ status: "fulfilled", value: many.size });
  });

  it("reports no entry at a path that it lost during a pause, and unchanged entries once", async () => {
    const tree = treeOf(Array.from({ length: 40 }, (_, at) => `open/${String(at).padStart(2, "0")}`));
    const closed = new EntryNode("closed", "closed", "folder", facts);
    tree.add(tree.top, closed);
    const stays = [...tree.nodes()].filter(({ name }) => /^[0-3][02468]$/.test(name)).map(({ name }) => name);
    const finding = queryEntries(tree, { path: "open/*" }, everything, new Slices(slowClock(), 8));
    // The first slice has begun, and ends in the folder.
    await Promise.resolve();
    for (const node of tree.nodes()) {
      if (node.name !== "closed" && /^[0-3][13579]$/.test(node.name)) tree.move(node, closed, node.name);
    }
    const names = (await finding).items.map(({ name }) => name);
    expect(names.filter((name) => stays.includes(name))).toEqual(stays);
    expect(names.at(-1)).toBe("38");
  });

  it("race: one that is cancelled in a pause examines nothing more, and rejects with the reason", async () => {
    const many = treeOf(Array.from({ length: 200 }, (_, at) => `f/${at}`));
    const aborter = new AbortController();
    let looked = 0;
    const visible = (): boolean => {
      looked += 1;
      if (looked === 20) aborter.abort(new Error("enough"));
      return true;
    };
    const counting = countEntries(many, {}, visible, new Slices(slowClock(), 8), undefined, aborter.signal);
    await expect(counting).rejects.toThrow("enough");
    expect(looked).toBeLessThan(40);
  });

  it("examines only the way to a plain path, and no more entries than have the tag", async () => {
    let looks = 0;
    const counting = { monotonic: () => looks++ };
    for (const [query, most] of [
      [{ path: "3/10/file.md" }, 3],
      [{ path: "3/*" }, 40],
      [{ tag: "none" }, 0],
    ] as const) {
      looks = 0;
      await countEntries(many, query, everything, new Slices(counting, 1e9));
      // One test for each entry, and a few more at the beginning.
      expect(looks).toBeLessThanOrEqual(most + 3);
    }
  });
});

it.each([
  [".", 1000, 7],
  ["photos", 1000, 2],
  ["photos", 1, 1],
  ["notes.md", 1000, 1],
  ["nothing", 1000, 0],
])("%s contains this number of files, counted up to %i", async (folder, atMost, files) => {
  expect(await countFiles(sample, folder, slices, atMost)).toBe(files);
});

describe("an agent that sees a part", () => {
  const index = {
    lists: () => true,
    hides: () => false,
    isRules: () => false,
    showsBeneath: async () => true,
  };
  const sightOf = (locations: readonly string[], filter?: string) => {
    const authority: Authority = {
      extension: "test.agent",
      requested: {},
      effective: { read_entries: filter === undefined ? true : { filter } },
      denied: [],
      locations: [...locations],
      protectedPaths: [],
      forbiddenPaths: [],
      memory: true,
      namespaces: {},
    };
    return createSight(authority, index);
  };

  const hiddenPlaces: readonly [
    what: string,
    sight: ReturnType<typeof sightOf>,
    hidden: (at: number) => string,
  ][] = [
    ["outside of its folders", sightOf(["open/here", "open/there"]), (at) => `open/${at % 7}/${at}.md`],
    ["with other endings", sightOf(["."], "*.md"), (at) => `open/${at % 7}/${at}.txt`],
    ["with other endings than two", sightOf(["."], "**/*.{MD,jpg}"), (at) => `open/here/${at}.txt`],
  ];
  const queries: readonly EntryQuery[] = [
    {},
    { path: "**/*.md" },
    { text: "note" },
    { extension: "md" },
    { tag: "none" },
  ];
  it.each(hiddenPlaces)(
    "takes no longer because of hidden entries %s",
    async (_where, { seesEntry, reach }, hidden) => {
      const visible = Array.from({ length: 10 }, (_, at) => `open/here/note-${at}.md`);
      const looksFor = async (query: EntryQuery, count: number): Promise<number> => {
        const tree = treeOf([...visible, ...Array.from({ length: count }, (_, at) => hidden(at))]);
        let looks = 0;
        const counting = new Slices({ monotonic: () => looks++ }, 1e9);
        const { items } = await queryEntries(tree, query, seesEntry, counting, reach);
        expect(items.filter(({ kind }) => kind === "file")).toHaveLength(query.tag === undefined ? 10 : 0);
        return looks;
      };
      for (const query of queries) expect(await looksFor(query, 3000)).toBe(await looksFor(query, 100));
    },
  );

  it("finds the same as an examination of everything, in the same pages", async () => {
    const name = fc.constantFrom(
      "a",
      "b",
      "a.md",
      "A.MD",
      "a.tar.gz",
      ".md",
      "b.m\u212a",
      "\u017f.m\u017f",
      "md",
      "e\u0301",
    );
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    const filters = fc.constantFrom(
      undefined,
      "*.md",
      "**/*.{md,gz}",
      "*.mk",
      "*.ms",
      "{a.md,b}",
      "a/**",
      "*.\\md",
      "a\\.md",
      "*.m?",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(path, { maxLength: 20 }),
        fc.oneof(fc.constant(["."]), fc.array(path, { maxLength: 3 })),
        filters,
        fc.oneof(fc.constant(undefined), path),
        fc.integer({ min: 1, max: 5 }),
        async (paths, locations, filter, within, limit) => {
          const tree = treeOf(paths.map((each) => `${each}/`));
          const { seesEntry, reach } = sightOf(locations, filter);
          const query = { limit, ...(within === undefined ? {} : { path: within }) };
          expect(await queryEntries(tree, query, seesEntry, slices, reach)).toEqual(
            await queryEntries(tree, query, seesEntry, slices),
          );
          const cursor = within === undefined ? {} : { cursor: within };
          expect(await queryEntries(tree, { limit, ...cursor }, seesEntry, slices, reach)).toEqual(
            await queryEntries(tree, { limit, ...cursor }, seesEntry, slices),
          );
        },
      ),
      { numRuns: 1000 },
    );
  });
});
