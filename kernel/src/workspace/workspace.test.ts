import {
  appendFileSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { everything, openTestWorkspace, pathsOf } from "./testing/test-workspace.ts";

describe("the first run", () => {
  it("reports every file and folder once, parents first, as found by the index", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        write("a.txt", "hello", { old: true });
        write("photos/2024/summer.JPG", "x");
        write(".hidden/secret.txt");
        write(".git/config");
        write(".lares/extensions/x/agent.ts");
        write("state/ledger.sqlite");
      },
    });
    expect([...test.lines].toSorted()).toEqual([
      "created a.txt",
      "created photos",
      "created photos/2024",
      "created photos/2024/summer.JPG",
    ]);
    expect(test.lines.indexOf("created photos")).toBeLessThan(test.lines.indexOf("created photos/2024"));
    expect(test.changes.every((change) => change.origin === "index")).toBe(true);
    expect(test.runs).toEqual([{ entries: 4, durationMs: expect.any(Number) as number }]);
    expect(test.workspace.status()).toEqual({ entries: 4, complete: true });
    await test.workspace.idle();
    expect(test.workspace.get({ path: "photos/2024/summer.JPG" }, everything)).toMatchObject({
      name: "summer.JPG",
      kind: "file",
      media: "image",
      mime: "image/jpeg",
      extension: "jpg",
      size: 1,
      content_id: "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
      tags: [],
      fields: {},
      sidecars: [],
      location: ".",
    });
  });

  it("lists hidden names when told to, but never .git, .lares and the state folder", async () => {
    await using test = await openTestWorkspace({
      index: { hidden: true },
      prepare: (write) => {
        write(".env");
        write(".git/config");
        write(".lares/x");
        write("state/ledger.sqlite");
      },
    });
    expect(test.lines).toEqual(["created .env"]);
  });

  it("keeps several roots apart by name", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        write("one/a.txt");
        write("two/a.txt");
      },
      roots: (root) => [
        { name: "first", path: join(root, "one") },
        { name: "second", path: join(root, "two") },
      ],
    });
    expect(await pathsOf(test.workspace)).toEqual(["first/a.txt", "second/a.txt"]);
    test.write("two/b.txt");
    await test.until(() => test.lines.includes("created second/b.txt"));
    const { bytes } = await test.workspace.read("second/b.txt", 0, 100, () => true);
    expect(Buffer.from(bytes).toString()).toBe("two/b.txt");
    await test.restart();
    expect(test.lines).toEqual([]);
    expect(await pathsOf(test.workspace)).toEqual(["first/a.txt", "second/a.txt", "second/b.txt"]);
  });
});

describe("live changes", () => {
  it("reports a new file once, with the size it settled at", async () => {
    await using test = await openTestWorkspace();
    for (let piece = 0; piece < 10; piece++) {
      appendFileSync(test.path("grows.txt"), "0123456789");
      await new Promise((resolve) => setImmediate(resolve));
    }
    await test.workspace.idle();
    expect(test.lines).toEqual(["created grows.txt"]);
    expect(test.changes[0]).toMatchObject({ origin: "live", entry: { size: 100 } });
  });

  it("coalesces rapid writes into one change with the last state, and loses none", async () => {
    await using test = await openTestWorkspace({ prepare: (write) => write("a.txt", "", { old: true }) });
    await test.settle();
    for (let piece = 0; piece < 50; piece++) appendFileSync(test.path("a.txt"), "x");
    await test.workspace.idle();
    expect(test.lines).toEqual(["modified a.txt"]);
    expect(test.changes[0]).toMatchObject({
      changed_fields: ["size", "modified", "content_id"],
      entry: { size: 50, content_id: null },
    });
    appendFileSync(test.path("a.txt"), "x");
    await test.workspace.idle();
    expect(test.lines).toEqual(["modified a.txt", "modified a.txt"]);
    expect(test.workspace.get({ path: "a.txt" }, everything)?.size).toBe(51);
  });

  it("sees files in folders that were just created, at any depth", async () => {
    await using test = await openTestWorkspace();
    for (let at = 0; at < 30; at++) test.write(`new-${at}/b/c/d/file.txt`);
    await test.workspace.idle();
    expect(test.lines.filter((line) => line.endsWith("file.txt"))).toHaveLength(30);
    expect(test.lines).toHaveLength(150);
    test.write("new-3/b/c/d/later.txt");
    await test.until(() => test.lines.includes("created new-3/b/c/d/later.txt"));
  });

  it("reports a deleted folder with all its contents, the deepest first", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        write("a/b/one.txt");
        write("a/two.txt");
      },
    });
    await test.settle();
    rmSync(test.path("a"), { recursive: true });
    await test.workspace.idle();
    expect([...test.lines].toSorted()).toEqual([
      "deleted a",
      "deleted a/b",
      "deleted a/b/one.txt",
      "deleted a/two.txt",
    ]);
    expect(test.lines.at(-1)).toBe("deleted a");
    expect(test.workspace.status().entries).toBe(0);
  });

  it("keeps the id of a file that is moved between folders", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        write("from/a.txt");
        write("to/other.txt");
      },
    });
    await test.settle();
    const id = test.workspace.get({ path: "from/a.txt" }, everything)?.id;
    renameSync(test.path("from/a.txt"), test.path("to/b.txt"));
    await test.until(() => test.lines.length > 0);
    expect(test.lines).toEqual(["moved from/a.txt -> to/b.txt"]);
    expect(test.workspace.get({ path: "to/b.txt" }, everything)?.id).toBe(id);
    await test.workspace.idle();
    expect(test.lines).toEqual(["moved from/a.txt -> to/b.txt"]);
  });

  it("follows a moved folder with a change for each entry in it, and continues to watch it", async () => {
    await using test = await openTestWorkspace({ prepare: (write) => write("a/b/c.txt") });
    await test.settle();
    const id = test.workspace.get({ path: "a/b/c.txt" }, everything)?.id;
    renameSync(test.path("a"), test.path("z"));
    await test.workspace.idle();
    expect(test.lines).toEqual(["moved a -> z", "moved a/b -> z/b", "moved a/b/c.txt -> z/b/c.txt"]);
    expect(test.workspace.get({ path: "z/b/c.txt" }, everything)?.id).toBe(id);
    test.write("z/b/d.txt");
    await test.until(() => test.lines.includes("created z/b/d.txt"));
  });

  it("distinguishes a deleted file from a moved one although its inode is reused", async () => {
    await using test = await openTestWorkspace({ prepare: (write) => write("a.txt", "one") });
    await test.settle();
    unlinkSync(test.path("a.txt"));
    test.write("b.txt", "other");
    await test.workspace.idle();
    expect([...test.lines].toSorted()).toEqual(["created b.txt", "deleted a.txt"]);
  });

  const saves: [string, (test: { path(name: string): string }) => void][] = [
    [
      "a temporary file that is renamed over it",
      (test) => {
        writeFileSync(test.path("doc.txt.tmp"), "new content");
        renameSync(test.path("doc.txt.tmp"), test.path("doc.txt"));
      },
    ],
    [
      "moving it aside, writing it new, deleting the old one",
      (test) => {
        renameSync(test.path("doc.txt"), test.path("doc.txt~"));
        writeFileSync(test.path("doc.txt"), "new content");
        unlinkSync(test.path("doc.txt~"));
      },
    ],
    [
      "a hard link as a backup, then a rename over it",
      (test) => {
        linkSync(test.path("doc.txt"), test.path("doc.txt.bak"));
        writeFileSync(test.path("doc.new"), "new content");
        renameSync(test.path("doc.new"), test.path("doc.txt"));
        unlinkSync(test.path("doc.txt.bak"));
      },
    ],
    [
      "deleting it and writing it again",
      (test) => {
        unlinkSync(test.path("doc.txt"));
        writeFileSync(test.path("doc.txt"), "new content");
      },
    ],
  ];
  for (const [how, save] of saves) {
    it(`shows a save by ${how} as one modification of the same entry`, async () => {
      await using test = await openTestWorkspace({
        prepare: (write) => write("doc.txt", "old", { old: true }),
      });
      await test.settle();
      const id = test.workspace.get({ path: "doc.txt" }, everything)?.id;
      save(test);
      await test.workspace.idle();
      expect(test.lines).toEqual(["modified doc.txt"]);
      expect(test.workspace.get({ path: "doc.txt" }, everything)).toMatchObject({ id, size: 11 });
    });
  }

  it("replaces a file by a folder of the same name and back", async () => {
    await using test = await openTestWorkspace({ prepare: (write) => write("x") });
    await test.settle();
    unlinkSync(test.path("x"));
    test.write("x/inner.txt");
    await test.workspace.idle();
    expect(test.lines).toEqual(["deleted x", "created x", "created x/inner.txt"]);
    rmSync(test.path("x"), { recursive: true });
    writeFileSync(test.path("x"), "file");
    await test.workspace.idle();
    expect(test.workspace.get({ path: "x" }, everything)?.kind).toBe("file");
    expect(await pathsOf(test.workspace)).toEqual(["x"]);
  });

  it("watches a folder that replaced another one", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        write("a/old.txt");
        write("b/new.txt");
      },
    });
    await test.settle();
    rmSync(test.path("a"), { recursive: true });
    renameSync(test.path("b"), test.path("a"));
    await test.workspace.idle();
    expect(await pathsOf(test.workspace)).toEqual(["a", "a/new.txt"]);
    test.write("a/later.txt");
    await test.until(() => test.lines.includes("created a/later.txt"));
  });

  it("produces the events of touched paths before it resolves, and none of them again", async () => {
    await using test = await openTestWorkspace({ prepare: (write) => write("a.txt") });
    await test.settle();
    test.write("new/deep/b.txt");
    await test.workspace.touched(["new/deep/b.txt"]);
    expect(test.lines).toEqual(["created new", "created new/deep", "created new/deep/b.txt"]);
    renameSync(test.path("a.txt"), test.path("new/a.txt"));
    await test.workspace.touched(["new/a.txt", "a.txt"]);
    expect(test.lines.at(-1)).toBe("moved a.txt -> new/a.txt");
    rmSync(test.path("new/a.txt"));
    await test.workspace.touched(["new/a.txt"]);
    expect(test.lines.at(-1)).toBe("deleted new/a.txt");
    await test.workspace.idle();
    expect(test.lines).toHaveLength(5);
  });
});

describe("names and links", () => {
  const names = [
    "with space.txt",
    "🏛️ lares.txt",
    "new\nline.txt",
    "cafe\u0301.txt",
    "-dash",
    "a;b&c",
    "%20.txt",
    "tab\t.txt",
    "back\\slash",
  ];
  it("lists and watches odd names as they are", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => names.slice(0, 4).forEach((name) => write(name)),
    });
    for (const name of names.slice(4)) test.write(name);
    await test.until(() => test.workspace.status().entries === names.length);
    expect((await pathsOf(test.workspace)).toSorted()).toEqual([...names].toSorted());
    await test.workspace.idle();
    for (const name of names) {
      const { bytes } = await test.workspace.read(name, 0, 100, () => true);
      expect(Buffer.from(bytes).toString()).toBe(name);
    }
    expect(test.workspace.get({ path: "caf\u00e9.txt" }, everything)?.name).toBe("cafe\u0301.txt");
  });

  it("ignores names that are not valid UTF-8, and logs it", async () => {
    await using test = await openTestWorkspace({
      prepare: (write, root) => {
        write("valid \uFFFD.txt");
        writeFileSync(Buffer.concat([Buffer.from(`${root}/bad`), Buffer.from([0xff, 0xfe])]), "x");
      },
    });
    expect(await pathsOf(test.workspace)).toEqual(["valid \uFFFD.txt"]);
    expect(test.warnings).toEqual(["A name is not valid UTF-8 and is ignored."]);
  });

  it("neither follows nor lists links: to a file, to a folder outside, in a loop", async () => {
    await using test = await openTestWorkspace({
      prepare: (write, root) => {
        write("real/file.txt");
        symlinkSync("/etc", join(root, "outside"));
        symlinkSync(join(root, "real/file.txt"), join(root, "link.txt"));
        symlinkSync(root, join(root, "real/loop"));
      },
    });
    expect(await pathsOf(test.workspace)).toEqual(["real", "real/file.txt"]);
    symlinkSync("/etc/hostname", test.path("live-link"));
    test.write("marker.txt");
    await test.until(() => test.lines.includes("created marker.txt"));
    expect(test.workspace.get({ path: "live-link" }, everything)).toBeNull();
  });

  it("does not follow a folder that was swapped for a link", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        write("inner/file.txt");
        write("elsewhere/secret.txt");
      },
      roots: (root) => [{ name: "inner", path: join(root, "inner") }],
    });
    test.write("inner/folder/a.txt");
    await test.until(() => test.workspace.status().entries === 3);
    await test.settle();
    rmSync(test.path("inner/folder"), { recursive: true });
    symlinkSync(test.path("elsewhere"), test.path("inner/folder"));
    await test.workspace.touched(["folder/secret.txt", "folder"]);
    await test.workspace.rescan();
    await test.workspace.idle();
    expect(await pathsOf(test.workspace)).toEqual(["file.txt"]);
    await expect(test.workspace.read("folder/secret.txt", 0, 10, () => true)).rejects.toMatchObject({
      code: "NotFound",
    });
  });
});

describe("what is excluded", () => {
  it("is known for every path, by names and rules alone, whether or not it exists", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        write(".gitignore", "cache/\n*.key\nbuild\n!build/\n");
        write("there.key");
        write("notes/a.md");
        write("notes/.gitignore", "drafts\n");
        write("build/out.js");
      },
    });
    await test.until(() => test.workspace.status().complete);
    const { view } = test.workspace;
    const hidden = ["there.key", "missing.key", ".env", "new/.env", "new/a.key", "notes/drafts/a", "cache/x"];
    // Hidden as one kind at least: an ignored folder is not a file of that name, and a path that may be a file has no
    // entries beneath it.
    const ofOneKind = ["cache", "new/cache", "notes/build", "notes/build/x"];
    for (const path of [...hidden, ...ofOneKind]) expect([path, view.hides(path)]).toEqual([path, true]);
    for (const path of [
      ".",
      "notes",
      "notes/a.md",
      "build",
      "build/new.js",
      "new",
      "new/a.md",
      "notes/a.md/x",
    ])
      expect([path, view.hides(path)]).toEqual([path, false]);
    // On some disks these are the same files.
    for (const path of ["THERE.KEY", "there.Key", "notes/Drafts/a", "CACHE/x"])
      expect([path, view.hides(path)]).toEqual([path, true]);
    // A folder that is not in the index yet has its own rules.
    mkdirSync(test.path("fresh/inner"), { recursive: true });
    writeFileSync(test.path("fresh/.gitignore"), "*.log\n");
    expect(view.hides("fresh/inner/a.log")).toBe(true);
    expect(["cafe.GITIGNORE", "a/.gitignore", "a/.GitIgnore"].map((path) => view.isRules(path))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("removes and adds entries when a .gitignore changes, appears and disappears", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => {
        write(".gitignore", "*.tmp\ncache/\n");
        write("a.tmp");
        write("cache/x.txt");
        write("keep.txt");
        write("nested/.gitignore", "!*.tmp\nlocal.txt\n");
        write("nested/b.tmp");
        write("nested/local.txt");
      },
    });
    expect(await pathsOf(test.workspace)).toEqual(["keep.txt", "nested", "nested/b.tmp"]);
    await test.settle();
    test.write(".gitignore", "keep.txt\n");
    await test.workspace.idle();
    expect([...test.lines].toSorted()).toEqual([
      "created a.tmp",
      "created cache",
      "created cache/x.txt",
      "deleted keep.txt",
    ]);
    await test.settle();
    unlinkSync(test.path("nested/.gitignore"));
    await test.workspace.idle();
    expect(test.lines).toEqual(["created nested/local.txt"]);
  });

  it("does not watch excluded folders", async () => {
    await using test = await openTestWorkspace({
      index: { ignore: ["build/**", "*.log"] },
      prepare: (write) => {
        write(".gitignore", "cache/\n");
        write("cache/x");
        write("sub/debug.log");
      },
    });
    expect(await pathsOf(test.workspace)).toEqual(["sub"]);
    await test.settle();
    test.write("cache/y");
    test.write("sub/other.log");
    test.write("sub/seen.txt");
    await test.until(() => test.lines.length > 0);
    await test.workspace.idle();
    expect(test.lines).toEqual(["created sub/seen.txt"]);
  });

  it("refuses an invalid glob", async () => {
    await expect(openTestWorkspace({ index: { ignore: ["{a"] } })).rejects.toMatchObject({
      code: "InvalidDocument",
    });
  });

  it("matches the configured globs with any spelling of a name", async () => {
    await using test = await openTestWorkspace({
      index: { ignore: ["Private/**", "*.PEM"] },
      prepare: (write) => {
        write("private/diary.md");
        write("key.pem");
        write("other.md");
      },
    });
    await test.until(() => test.workspace.status().complete);
    expect(await pathsOf(test.workspace)).toEqual(["other.md", "private"]);
  });

  it("does not read an unsettled file under another spelling of an excluded name", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => write(".gitignore", "secret.txt\n"),
    });
    await test.until(() => test.workspace.status().complete);
    // As a disk that ignores case answers for secret.txt.
    writeFileSync(test.path("SECRET.TXT"), "hidden");
    await expect(test.workspace.read("SECRET.TXT", 0, 10, () => true)).rejects.toMatchObject({
      code: "NotFound",
    });
  });

  it("reads only what it would list, with a limit", async () => {
    await using test = await openTestWorkspace({
      index: { hidden: true },
      prepare: (write) => write(".gitignore", "secret.txt\n"),
    });
    test.write("secret.txt");
    test.write(".git/config");
    test.write("shown.txt", "0123456789");
    expect(Buffer.from((await test.workspace.read("shown.txt", 3, 4, () => true)).bytes).toString()).toBe(
      "3456",
    );
    expect((await test.workspace.read("shown.txt", 3, 100, () => true)).eof).toBe(true);
    for (const path of [
      "secret.txt",
      ".git/config",
      "missing.txt",
      "../ledger.sqlite",
      "..",
      ".",
      "",
      "a//b",
      "/etc/hostname",
      "nul\0",
    ]) {
      await expect(
        test.workspace.read(path, 0, 10, () => true),
        path,
      ).rejects.toMatchObject({ code: "NotFound" });
    }
    await expect(test.workspace.read("shown.txt", 0, 262_145, () => true)).rejects.toMatchObject({
      code: "LimitExceeded",
    });
    mkdirSync(test.path("folder"));
    await expect(test.workspace.read("folder", 0, 10, () => true)).rejects.toMatchObject({
      code: "NotFound",
    });
  });
});
