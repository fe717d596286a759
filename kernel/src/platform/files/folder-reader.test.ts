import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFolderReader, steadyAfterMs, type FolderReader } from "./folder-reader.ts";

/** Real time: the disk says when a folder changed. */
const growOld = (): Promise<void> => setTimeout(2 * steadyAfterMs);

let home: string;
let reader: FolderReader;
const unreadable: string[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lares-reader-"));
  for (const folder of ["root/a/b", "outside"]) mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(join(home, "root/a/b/file.txt"), "inside");
  writeFileSync(join(home, "outside/secret.txt"), "secret");
  unreadable.length = 0;
  reader = openFolderReader(join(home, "root"), (path, reason) => void unreadable.push(`${reason} ${path}`));
});
afterEach(() => {
  reader.release();
  rmSync(home, { recursive: true });
});

describe("a folder reader", () => {
  it("opens nothing while another folder is in the root's place, until that one becomes the root", () => {
    expect(reader.rootState()).toBe("root");
    renameSync(join(home, "root"), join(home, "old"));
    expect(reader.rootState()).toBe("missing");
    expect(reader.namesAtRoot()).toEqual([]);
    expect(reader.open(["a"])).toBeNull();
    reader.renew();
    mkdirSync(join(home, "root/c"), { recursive: true });
    expect(reader.rootState()).toBe("other");
    expect(reader.namesAtRoot()).toEqual(["c"]);
    expect(reader.open([])).toBeNull();
    reader.renew();
    expect(reader.rootState()).toBe("root");
    expect(reader.open([])?.names()).toEqual(["c"]);
    reader.release();
    rmSync(join(home, "root"), { recursive: true });
    symlinkSync(join(home, "old"), join(home, "root"));
    expect(reader.rootState()).toBe("missing");
    expect(reader.namesAtRoot()).toEqual([]);
    reader.renew();
    expect(reader.open(["a"])).toBeNull();
  });

  it("opens, lists, observes and reads", () => {
    const folder = reader.open(["a", "b"]);
    expect(folder?.names()).toEqual(["file.txt"]);
    expect(folder?.observe("file.txt")).toMatchObject({ kind: "file", size: 6 });
    expect(folder?.observe("missing")).toBeNull();
    expect(Buffer.from(folder?.readBytes("file.txt", 100) ?? []).toString()).toBe("inside");
    expect(folder?.readBytes("file.txt", 5)).toBe("unreadable");
    expect(reader.open(["a"])?.names()).toEqual(["b"]);
    expect(reader.open([])?.names()).toEqual(["a"]);
    expect(reader.open(["a", "missing"])).toBeNull();
    expect(reader.open(["a", "b", "file.txt"])).toBeNull();
    expect(unreadable).toEqual([]);
  });

  it("observes many names at once as it does one by one, of old folders and of young ones", async () => {
    writeFileSync(join(home, "root/a/b/other.txt"), "four");
    symlinkSync(join(home, "outside"), join(home, "root/a/b/link"));
    const names = ["file.txt", "missing", "link", "other.txt"];
    for (const isOld of [false, true]) {
      if (isOld) await growOld();
      const folder = reader.open(["a", "b"]);
      const all = reader.observeAll(names);
      expect(all).toEqual(names.map((name) => folder?.observe(name)));
      expect(all).toMatchObject([
        { kind: "file", size: 6 },
        null,
        { kind: "other" },
        { kind: "file", size: 4 },
      ]);
    }
  });

  it("observes many names in the folder that was opened, whatever took its place since", async () => {
    await growOld();
    writeFileSync(join(home, "outside/file.txt"), "something else");
    reader.open(["a", "b"]);
    renameSync(join(home, "root/a"), join(home, "root/aside"));
    symlinkSync(home, join(home, "root/a"));
    symlinkSync(join(home, "outside"), join(home, "b"));
    expect(reader.observeAll(["file.txt"])).toMatchObject([{ kind: "file", size: 6 }]);
  });

  it("opens and reads nothing through a link, anywhere on the path", () => {
    symlinkSync(join(home, "outside"), join(home, "root/link"));
    symlinkSync(join(home, "outside/secret.txt"), join(home, "root/secret.txt"));
    symlinkSync(join(home, "root/a"), join(home, "root/same"));
    expect(reader.open(["link"])).toBeNull();
    expect(reader.open(["same", "b"])).toBeNull();
    const root = reader.open([]);
    expect(root?.observe("link")).toMatchObject({ kind: "other" });
    expect(root?.observe("secret.txt")).toMatchObject({ kind: "other", size: 0 });
    expect(root?.readBytes("secret.txt", 100)).toBe("unreadable");
  });

  it.runIf(process.platform === "linux")(
    "stays in the folder it opened when that is swapped for a link",
    () => {
      const folder = reader.open(["a", "b"]);
      renameSync(join(home, "root/a"), join(home, "root/was-a"));
      symlinkSync(join(home, "outside"), join(home, "root/a"));
      expect(folder?.names()).toEqual(["file.txt"]);
      expect(folder?.observe("secret.txt")).toBeNull();
      reader.release();
      expect(reader.open(["a"])).toBeNull();
    },
  );

  it("says why a root cannot be opened", () => {
    expect(() => openFolderReader(join(home, "none"), () => {})).toThrowError(
      expect.objectContaining({
        code: "StorageError",
        message: expect.stringContaining("none") as string,
      }) as Error,
    );
  });
});
