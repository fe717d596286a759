import {
  chmodSync,
  closeSync,
  copyFileSync,
  futimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { storageError } from "../base/errors.ts";
import type { MetadataChange } from "../base/vocabulary/metadata.ts";
import type { Database } from "../platform/database/database.ts";
import { sha256 } from "../platform/files/hash.ts";
import { everything, openTestWorkspace, pathsOf } from "./testing/test-workspace.ts";

describe("what happened while the kernel was down", () => {
  it("is reported once, with origin index, and not again at the next start", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        for (const name of ["same.txt", "changes.txt", "goes.txt", "moves.txt", "folder/inner.txt"])
          write(name, name, { old: true });
      },
    });
    await test.settle();
    const idOf = (path: string) => test.workspace.get({ path }, everything)?.id;
    const [moved, folder, inner] = [idOf("moves.txt"), idOf("folder"), idOf("folder/inner.txt")];
    await test.restart(() => {
      test.write("changes.txt", "longer than before");
      unlinkSync(test.path("goes.txt"));
      mkdirSync(test.path("made"));
      renameSync(test.path("moves.txt"), test.path("made/moved.txt"));
      renameSync(test.path("folder"), test.path("made/folder"));
      test.write("new.txt");
    });
    expect([...test.lines].toSorted()).toEqual([
      "created made",
      "created new.txt",
      "deleted goes.txt",
      "modified changes.txt",
      "moved folder -> made/folder",
      "moved folder/inner.txt -> made/folder/inner.txt",
      "moved moves.txt -> made/moved.txt",
    ]);
    expect(test.changes.every((change) => change.origin === "index")).toBe(true);
    expect([idOf("made/moved.txt"), idOf("made/folder"), idOf("made/folder/inner.txt")]).toEqual([
      moved,
      folder,
      inner,
    ]);
    await test.workspace.idle();
    await test.restart();
    expect(test.lines).toEqual([]);
    expect(idOf("made/moved.txt")).toBe(moved);
    test.write("made/folder/live.txt");
    await test.until(() => test.lines.includes("created made/folder/live.txt"));
  });

  it("recognizes a file by its content when it was copied and the original deleted, if it is the only match", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        write("unique.txt", "the one and only", { old: true });
        write("twin-1.txt", "double", { old: true });
        write("twin-2.txt", "double", { old: true });
      },
    });
    await test.settle();
    const id = test.workspace.get({ path: "unique.txt" }, everything)?.id;
    await test.restart(() => {
      for (const name of ["unique", "twin-1", "twin-2"]) {
        copyFileSync(test.path(`${name}.txt`), test.path(`${name}-copy.txt`));
        unlinkSync(test.path(`${name}.txt`));
      }
    });
    expect(test.workspace.get({ path: "unique-copy.txt" }, everything)?.id).toBe(id);
    expect([...test.lines].toSorted()).toEqual([
      "created twin-1-copy.txt",
      "created twin-2-copy.txt",
      "deleted twin-1.txt",
      "deleted twin-2.txt",
      "moved unique.txt -> unique-copy.txt",
    ]);
  });

  it("is found again when the kernel died before it was stored", async () => {
    let isFailing = false;
    const broken = (real: Database): Database => ({
      batch: (statements) =>
        isFailing ? Promise.reject(storageError("The disk is full.")) : real.batch(statements),
      query: (sql, params) => real.query(sql, params),
      [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
    });
    await using test = await openTestWorkspace({ database: broken, prepare: (write) => write("a.txt") });
    await test.settle();
    isFailing = true;
    test.write("lost.txt");
    unlinkSync(test.path("a.txt"));
    await test.until(async () => (await pathsOf(test.workspace)).join() === "lost.txt");
    expect(test.lines).toEqual([]);
    await test.restart(() => {
      isFailing = false;
    });
    expect([...test.lines].toSorted()).toEqual(["created lost.txt", "deleted a.txt"]);
    expect((await test.delivered()).toSorted()).toEqual([
      "created a.txt",
      "created lost.txt",
      "deleted a.txt",
    ]);
  });

  it("keeps an unstored change and stores it, once, when the database works again", async () => {
    let failures = 0;
    const flaky = (real: Database): Database => ({
      batch: (statements) =>
        failures-- > 0 ? Promise.reject(storageError("The disk is full.")) : real.batch(statements),
      query: (sql, params) => real.query(sql, params),
      [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
    });
    await using test = await openTestWorkspace({ database: flaky });
    failures = 2;
    test.write("one.txt");
    await test.until(() => test.workspace.status().entries === 1);
    test.write("two.txt");
    await test.workspace.idle();
    expect(test.lines).toEqual(["created one.txt", "created two.txt"]);
    expect(await test.delivered()).toEqual(["created one.txt", "created two.txt"]);
  });

  it("keeps tags, fields, sidecars and content ids, and forgets those of a root that is gone", async () => {
    await using test = await openTestWorkspace({ prepare: (write) => write("a.txt", "x") });
    await test.settle();
    const changes: MetadataChange[] = [
      { kind: "tag", path: "a.txt", tag: "red", present: true },
      { kind: "field", path: "a.txt", namespace: "__proto__", key: "n", value: { deep: [1] } },
      { kind: "sidecar", path: "a.txt", sidecar: "faces", data: { count: 2 } },
    ];
    await test.database.batch(changes.flatMap((change) => test.workspace.metadata.statements(change)));
    for (const change of changes) test.workspace.metadata.applied(change);
    const before = test.workspace.get({ path: "a.txt" }, everything);
    await test.restart();
    const after = test.workspace.get({ path: "a.txt" }, everything);
    expect(after).toEqual(before);
    expect(after).toMatchObject({ tags: ["red"], sidecars: ["faces"] });
    expect(Object.entries(after?.fields ?? {})).toEqual([["__proto__", { n: { deep: [1] } }]]);
    expect(after?.content_id).toMatch(/^sha256:/);
    expect(await test.workspace.readSidecar("a.txt", "faces")).toEqual({ data: { count: 2 } });
    expect((await test.workspace.query({ tag: "red" }, everything)).items).toHaveLength(1);
  });
});

describe("looking at everything again", () => {
  it("finds changes that no watcher reported, including moves", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        write(".gitignore", "cache/\n");
        write("a/one.txt", "1", { old: true });
        write("b/two.txt", "2", { old: true });
      },
    });
    await test.settle();
    // A burst larger than the system's buffer, in one turn of the loop: some of it is dropped. Two files alternate,
    // because equal reports in a row count as one.
    const [one, two] = ["a/noise.txt", "b/noise.txt"].map((name) => openSync(test.path(name), "w"));
    for (let at = 0; at < 20_000; at++) {
      futimesSync(one ?? 0, at, at);
      futimesSync(two ?? 0, at, at);
    }
    closeSync(one ?? 0);
    closeSync(two ?? 0);
    for (let at = 0; at < 50; at++) writeFileSync(test.path(`a/late-${at}.txt`), "x");
    renameSync(test.path("a/one.txt"), test.path("b/one.txt"));
    await test.until(() => test.runs.length === 2);
    await test.workspace.idle();
    expect(test.warnings).toContain("The watcher may have missed changes. Everything is scanned again.");
    expect(test.lines.filter((line) => line.startsWith("created a/late-"))).toHaveLength(50);
    expect(test.lines).toContain("moved a/one.txt -> b/one.txt");
    expect(test.lines).toHaveLength(53);
  });

  it("agrees with the file system after five thousand files were created, moved and deleted", async () => {
    await using test = await openTestWorkspace();
    for (let folder = 0; folder < 50; folder++) {
      mkdirSync(test.path(`f${folder}`));
      for (let at = 0; at < 100; at++) writeFileSync(test.path(`f${folder}/${at}.txt`), `${at}`);
    }
    renameSync(test.path("f0"), test.path("f1/f0"));
    rmSync(test.path("f2"), { recursive: true });
    await test.workspace.rescan();
    await test.workspace.idle();
    const actual = (readdirSync(test.root, { recursive: true }) as string[]).toSorted();
    expect((await pathsOf(test.workspace)).toSorted()).toEqual(actual);
    expect(test.workspace.status().entries).toBe(actual.length);
    const ids = new Set([...test.workspace.allEntries()].map(({ id }) => id));
    expect(ids.size).toBe(actual.length);
    await test.restart();
    expect(test.lines).toEqual([]);
  });

  // The superuser can read every folder.
  it.skipIf(process.getuid?.() === 0)(
    "keeps the entries of a folder that temporarily cannot be read",
    async () => {
      await using test = await openTestWorkspace({ prepare: (write) => write("closed/a.txt") });
      await test.settle();
      chmodSync(test.path("closed"), 0);
      await test.workspace.rescan();
      await test.workspace.idle();
      expect(test.lines).toEqual([]);
      expect(test.warnings).toContain("A folder or file cannot be read and is ignored.");
      chmodSync(test.path("closed"), 0o755);
    },
  );
});

describe("content ids", () => {
  it("follow the content, find copies, and are not events", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        write("a.txt", "same", { old: true });
        write("b/c.txt", "same", { old: true });
        write("other.txt", "other", { old: true });
      },
    });
    expect(test.lines).toHaveLength(4);
    await test.workspace.idle();
    expect(test.lines).toHaveLength(4);
    const contentId = test.workspace.get({ path: "a.txt" }, everything)?.content_id ?? "";
    expect(test.workspace.copies(contentId, everything)).toEqual({ count: 2, paths: ["a.txt", "b/c.txt"] });
    expect(test.workspace.copies(contentId, (path) => path !== "a.txt")).toEqual({
      count: 1,
      paths: ["b/c.txt"],
    });
    await test.settle();
    // Same size, so only the time differs.
    writeFileSync(test.path("a.txt"), "SAME");
    await test.workspace.idle();
    expect(test.lines).toEqual(["modified a.txt"]);
    expect(test.workspace.copies(contentId, everything).count).toBe(1);
    utimesSync(test.path("a.txt"), 1, 1);
    renameSync(test.path("b/c.txt"), test.path("c.txt"));
    await test.workspace.idle();
    expect(test.workspace.copies(contentId, everything)).toEqual({ count: 1, paths: ["c.txt"] });
    expect(
      [...test.workspace.allEntries()].every(({ kind, content_id: id }) => kind === "folder" || id !== null),
    ).toBe(true);
  });

  it("stay null for a file that is too large to read, and nothing waits for it", async () => {
    await using test = await openTestWorkspace({
      prepare: (write, root) => {
        write("huge.bin", "", { old: true });
        truncateSync(join(root, "huge.bin"), 3e12);
        write("small.txt", "small", { old: true });
      },
    });
    await test.workspace.idle();
    const idOf = (path: string) => test.workspace.get({ path }, everything)?.content_id;
    expect([idOf("huge.bin"), idOf("small.txt")]).toEqual([null, sha256("small")]);
    truncateSync(test.path("huge.bin"), 5);
    await test.workspace.idle();
    expect(idOf("huge.bin")).toBe(sha256("\0".repeat(5)));
  });

  it("race: the workspace is closed while a large file is read, and does not wait for its end", async () => {
    const reading = Promise.withResolvers<AbortSignal | undefined>();
    await using test = await openTestWorkspace({
      prepare: (write) => write("large.bin", "x".repeat(100_000), { old: true }),
      reads: (real) => ({
        readRange: (...range) => real.readRange(...range),
        [Symbol.dispose]: () => real[Symbol.dispose](),
        hashFile: (_path, signal) => {
          reading.resolve(signal);
          return new Promise((_resolve, reject) => {
            signal?.addEventListener("abort", () => reject(signal.reason as Error));
          });
        },
      }),
    });
    const signal = await reading.promise;
    await test.restart();
    expect(signal?.aborted).toBe(true);
  });
});
