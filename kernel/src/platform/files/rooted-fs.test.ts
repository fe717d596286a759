import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isLaresError } from "../../base/errors.ts";
import { codeOf } from "../../base/testing/code-of.ts";
import { openRootedFs, type RootedFs } from "./rooted-fs.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

// The second way is what systems other than Linux take.
describe.each([{ descriptors: process.platform === "linux" }, { descriptors: false }])(
  "RootedFs %j",
  (options) => {
    let folder: string;
    let root: string;
    let fs: RootedFs;

    beforeEach(async () => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), "lares-rooted-")));
      root = join(folder, "root");
      mkdirSync(join(root, "a/b"), { recursive: true });
      mkdirSync(join(folder, "outside"));
      writeFileSync(join(folder, "outside/secret"), "secret");
      writeFileSync(join(root, "a/b/file"), "hello");
      fs = await openRootedFs(root, options);
    });
    afterEach(() => {
      fs[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    });
    const at = (path: string): string => join(root, path);

    test("reads, in one piece and in ranges", async () => {
      expect(text(await fs.readFile("a/b/file", { maxBytes: 5 }))).toBe("hello");
      expect(await fs.readRange("a/b/file", 1, 3)).toEqual({ bytes: bytes("ell"), eof: false });
      expect(await fs.readRange("a/b/file", 3, 100)).toEqual({ bytes: bytes("lo"), eof: true });
      expect(await fs.readRange("a/b/file", 100, 1)).toEqual({ bytes: bytes(""), eof: true });
      expect(await fs.hashFile("a/b/file")).toBe(
        "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
      );
      expect(await codeOf(fs.readFile("a/b/file", { maxBytes: 4 }))).toBe("LimitExceeded");
    });

    test("reports what exists and what does not", async () => {
      expect(await fs.stat("a/b/file")).toMatchObject({ kind: "file", size: 5 });
      expect(await fs.stat(".")).toMatchObject({ kind: "folder" });
      expect(await fs.stat("a/b")).toMatchObject({ kind: "folder" });
      for (const path of ["nothing", "no/thing", "a/b/file/x", "x".repeat(300)]) {
        expect(await fs.stat(path)).toBe(null);
        expect(await fs.hashFile(path)).toBe(null);
      }
      expect(await codeOf(fs.readFile("nothing", { maxBytes: 1 }))).toBe("NotFound");
      expect(await codeOf(fs.readFile("a/b", { maxBytes: 1 }))).toBe("NotFound");
      expect(await fs.hashFile("a")).toBe(null);
      expect(await codeOf(fs.list("nothing"))).toBe("NotFound");
      expect(await fs.list("a")).toEqual([{ name: "b", kind: "folder" }]);
    });

    test.each([
      "../outside/secret",
      "a/../../outside/secret",
      "/etc/passwd",
      "",
      "a//b",
      "./a",
      "a/./b",
      "a\0",
    ])("the path %j that is not canonical is refused", async (path) => {
      expect(await codeOf(fs.stat(path))).toBe("ScopeViolation");
      expect(await codeOf(fs.readFile(path, { maxBytes: 10 }))).toBe("ScopeViolation");
      expect(await codeOf(fs.writeNew(path, bytes("x")))).toBe("ScopeViolation");
    });

    test.each([".git", ".git/config", "a/.GIT/x", "GIT~1/x"])(
      "%j is never entered, but listed",
      async (path) => {
        mkdirSync(at(".git"));
        writeFileSync(at(".git/config"), "x");
        for (const running of [
          fs.stat(path),
          fs.readFile(path, { maxBytes: 10 }),
          fs.writeNew(path, bytes("x")),
          fs.mkdir(path),
          fs.unlink(path),
          fs.rename("a/b/file", path),
          fs.rename(path, "a/x"),
          fs.link("a/b/file", path),
          fs.replace("a/b/file", path),
        ]) {
          expect(await codeOf(running)).toBe("ScopeViolation");
        }
        expect((await fs.list(".")).map((entry) => entry.name).toSorted()).toEqual([".git", "a"]);
      },
    );

    test("follows no link: neither out of the root nor within it, in the middle or at the end", async () => {
      symlinkSync(join(folder, "outside"), at("out"));
      symlinkSync("a", at("in"));
      symlinkSync(join(folder, "outside/secret"), at("a/leaf"));
      symlinkSync("nowhere", at("dangling"));
      expect(await fs.stat("out")).toMatchObject({ kind: "link" });
      for (const path of ["out/secret", "in/b/file"]) {
        for (const running of [
          fs.stat(path),
          fs.readFile(path, { maxBytes: 10 }),
          fs.readRange(path, 0, 10),
          fs.hashFile(path),
          fs.writeNew(`${path}2`, bytes("x")),
          fs.mkdir(`${path}2`),
          fs.rename("a/b/file", `${path}2`),
          fs.rename(path, "stolen"),
          fs.link(path, "stolen"),
          fs.replace("a/b/file", path),
          fs.unlink(path),
        ]) {
          expect(await codeOf(running)).toBe("ScopeViolation");
        }
        // What was asked for, not where on the way the link stands.
        await expect(fs.stat(path)).rejects.toMatchObject({ facts: { path } });
      }
      for (const path of ["a/leaf", "dangling"]) {
        expect(await codeOf(fs.readFile(path, { maxBytes: 10 }))).toBe("ScopeViolation");
        expect(await fs.hashFile(path)).toBe(null);
        expect(await codeOf(fs.writeNew(path, bytes("x")))).toBe("Stale");
      }
      expect(await codeOf(fs.list("out"))).toBe("ScopeViolation");
      expect(readdirSync(join(folder, "outside"))).toEqual(["secret"]);
      expect(readFileSync(at("a/b/file"), "utf8")).toBe("hello");
    });

    test("a pipe is not read and does not block", async () => {
      const { execFileSync } = await import("node:child_process");
      execFileSync("mkfifo", [at("pipe")]);
      expect(await fs.stat("pipe")).toMatchObject({ kind: "other" });
      expect(await codeOf(fs.readFile("pipe", { maxBytes: 10 }))).toBe("NotFound");
    });

    test("a new file gets exactly the given bytes, mode and time, and replaces no other", async () => {
      async function* pieces() {
        yield bytes("one ");
        yield bytes("two");
      }
      await fs.writeNew("a/new", pieces(), { mode: 0o751, mtimeMs: 1_234_567_890_123.25 });
      expect(readFileSync(at("a/new"), "utf8")).toBe("one two");
      expect(lstatSync(at("a/new")).mode & 0o7777).toBe(0o751);
      expect(await codeOf(fs.writeNew("a/new", bytes("x")))).toBe("Stale");
      expect(await codeOf(fs.writeNew("no/such/folder", bytes("x")))).toBe("NotFound");
      for (let count = 0; count < 50; count++) {
        writeFileSync(at("clock"), String(count));
        const { mtimeMs } = lstatSync(at("clock"));
        const stat = await fs.writeNew(`copy${count}`, bytes("x"), { mtimeMs });
        expect(stat.mtimeMs).toBe(mtimeMs);
        expect(lstatSync(at(`copy${count}`)).mtimeMs).toBe(mtimeMs);
      }
    });

    test("rename keeps the file's identity and refuses a name that is taken", async () => {
      const before = await fs.stat("a/b/file");
      writeFileSync(at("taken"), "taken");
      expect(await codeOf(fs.rename("a/b/file", "taken"))).toBe("Stale");
      expect(await codeOf(fs.rename("a/b", "taken"))).toBe("Stale");
      expect(await codeOf(fs.rename("nothing", "x"))).toBe("NotFound");
      await fs.rename("a/b/file", "moved");
      expect(await fs.stat("moved")).toMatchObject({ inode: before?.inode, mtimeMs: before?.mtimeMs });
      expect(await fs.stat("a/b/file")).toBe(null);
      await fs.rename("a", "c");
      expect(await fs.stat("c/b")).toMatchObject({ kind: "folder" });
      expect(readFileSync(at("taken"), "utf8")).toBe("taken");
    });

    test("replace renames in one step; link creates a second name", async () => {
      expect(await fs.link("a/b/file", "backup")).toBe(true);
      expect(await codeOf(fs.link("a/b/file", "backup"))).toBe("Stale");
      await fs.writeNew("a/b/new", bytes("new"));
      await fs.replace("a/b/new", "a/b/file");
      expect(readFileSync(at("a/b/file"), "utf8")).toBe("new");
      expect(readFileSync(at("backup"), "utf8")).toBe("hello");
      await fs.unlink("backup");
      await fs.syncFolder("a/b");
      await fs.syncFolder(".");
    });

    test("rmdir leaves a folder that is not empty", async () => {
      expect(await fs.rmdir("a")).toBe(false);
      await fs.mkdir("a/empty");
      expect(await codeOf(fs.mkdir("a/empty"))).toBe("Stale");
      expect(await fs.rmdir("a/empty")).toBe(true);
      expect(await codeOf(fs.rmdir("a/empty"))).toBe("NotFound");
    });

    const odd = [
      "with space",
      "new\nline",
      "😀",
      "-rf",
      "é",
      "e\u0301",
      "x".repeat(255),
      "back\\slash",
      "~",
      "$HOME",
      "*?[]",
    ];
    test.skipIf(process.platform === "win32")("odd names are names", async () => {
      for (const name of odd) {
        await fs.writeNew(`a/${name}`, bytes(name));
        expect(text(await fs.readFile(`a/${name}`, { maxBytes: 1000 }))).toBe(name);
      }
      const names = (await fs.list("a")).map((entry) => entry.name);
      expect(names.filter((name) => name !== "b").toSorted()).toEqual(odd.toSorted());
    });

    test.runIf(process.platform === "linux")(
      "a name that is not UTF-8 is left out and reported",
      async () => {
        writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff, 0xfe])]), "x");
        const reports: unknown[] = [];
        using other = await openRootedFs(root, {
          ...options,
          report: (_message, fields) => reports.push(fields.folder),
        });
        expect((await other.list(".")).map((entry) => entry.name)).toEqual(["a"]);
        expect(reports).toEqual(["."]);
      },
    );

    test("a root that is missing or a file is a StorageError", async () => {
      expect(await codeOf(openRootedFs(join(folder, "missing"), options))).toBe("StorageError");
      expect(await codeOf(openRootedFs(at("a/b/file"), options))).toBe("StorageError");
    });

    test("another folder in the root's place becomes the root; a missing folder or a link does not", async () => {
      const stream = fs.readStream("a/b/file");
      renameSync(root, join(folder, "old"));
      expect(await fs.stat("a/b/file")).toBe(null);
      expect(await codeOf(fs.writeNew("new", bytes("x")))).toBe("NotFound");
      symlinkSync(join(folder, "outside"), root);
      expect(await fs.stat("secret")).toBe(null);
      expect(await codeOf(fs.writeNew("new", bytes("x")))).toBe("NotFound");
      unlinkSync(root);
      mkdirSync(join(root, "a"), { recursive: true });
      expect(await fs.stat("a/b")).toBe(null);
      await fs.writeNew("a/new", bytes("x"));
      await fs.syncFolder(".");
      expect(readdirSync(at("a"))).toEqual(["new"]);
      expect(readdirSync(join(folder, "old/a"))).toEqual(["b"]);
      expect(readdirSync(join(folder, "outside"))).toEqual(["secret"]);
      expect(await codeOf(stream.next())).toBe("NotFound");
    });

    test("a root behind a link is the folder it leads to", async () => {
      symlinkSync(root, join(folder, "alias"));
      using other = await openRootedFs(join(folder, "alias"), options);
      expect(other.root).toBe(root);
      expect(await other.stat("a/b/file")).not.toBe(null);
    });

    test("a file without permission is a StorageError that names it", async () => {
      chmodSync(at("a/b/file"), 0o000);
      const readable = process.getuid?.() === 0;
      expect(await codeOf(fs.readFile("a/b/file", { maxBytes: 10 }))).toBe(
        readable ? "fulfilled" : "StorageError",
      );
      linkSync(at("a/b/file"), at("second"));
      utimesSync(at("second"), 1, 1);
      expect(statSync(at("a/b/file")).mtimeMs).toBe(1000);
    });
  },
);

describe.runIf(process.platform === "linux")(
  "a folder swapped for a link, over and over, while it is used",
  () => {
    test("nothing outside is ever read, written, moved or deleted", async () => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), "lares-swap-")));
      const root = join(folder, "root");
      const outside = join(folder, "outside");
      mkdirSync(join(root, "d"), { recursive: true });
      mkdirSync(outside);
      for (const place of [join(root, "d"), outside]) {
        writeFileSync(join(place, "file"), place === outside ? "OUTSIDE" : "inside");
      }
      const flips = new Int32Array(new SharedArrayBuffer(8));
      const worker = new Worker(flipper, { eval: true, workerData: { root, outside, flips } });
      const fs = await openRootedFs(root);
      const seen = { inside: 0, refused: 0 };
      try {
        const deadline = performance.now() + 1500;
        for (let count = 0; performance.now() < deadline; count++) {
          for (const run of [
            async () => expect(text(await fs.readFile("d/file", { maxBytes: 100 }))).toBe("inside"),
            async () => expect(text((await fs.readRange("d/file", 0, 100)).bytes)).toBe("inside"),
            async () => expect((await fs.list("d")).length).toBeGreaterThan(0),
            async () => void (await fs.writeNew(`d/new${count}`, bytes("new"))),
            async () => fs.rename(`d/new${count}`, `d/moved${count}`),
            async () => void (await fs.link("d/file", `d/link${count}`)),
            async () => fs.replace(`d/link${count}`, `d/moved${count}`),
            async () => fs.unlink(`d/moved${count}`),
            async () => fs.mkdir(`d/folder${count}`),
            async () => void (await fs.rmdir(`d/folder${count}`)),
          ]) {
            try {
              await run();
              seen.inside++;
            } catch (error) {
              if (!isLaresError(error)) throw error;
              expect(["ScopeViolation", "NotFound", "Stale"]).toContain(error.code);
              seen.refused++;
            }
          }
        }
      } finally {
        Atomics.store(flips, 1, 1);
        await new Promise((resolve) => worker.once("exit", resolve));
        fs[Symbol.dispose]();
      }
      expect(readdirSync(outside)).toEqual(["file"]);
      expect(readFileSync(join(outside, "file"), "utf8")).toBe("OUTSIDE");
      expect(lstatSync(join(outside, "file")).nlink).toBe(1);
      // Both sides of the swap were really met.
      expect(Atomics.load(flips, 0)).toBeGreaterThan(100);
      expect(seen.inside).toBeGreaterThan(0);
      expect(seen.refused).toBeGreaterThan(0);
      rmSync(folder, { recursive: true, force: true });
    });
  },
);

const flipper = `
  const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
  const { root, outside, flips } = require("node:worker_threads").workerData;
  while (Atomics.load(flips, 1) === 0) {
    renameSync(root + "/d", root + "/hidden");
    symlinkSync(outside, root + "/d");
    Atomics.add(flips, 0, 1);
    unlinkSync(root + "/d");
    renameSync(root + "/hidden", root + "/d");
  }
`;
