import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openFolderReader } from "./folder-reader.ts";
import { watchFolders } from "./folder-watch.ts";

it.runIf(process.platform === "linux")("reports only the folders that it was told to watch", async () => {
  const home = mkdtempSync(join(tmpdir(), "lares-watch-"));
  try {
    for (const folder of ["watched", "other"]) mkdirSync(join(home, folder));
    const reader = openFolderReader(home, () => {});
    const hints: [object | null, string | null][] = [];
    using watch = watchFolders(home, {
      hint: (key, name) => void hints.push([key, name]),
      lost: () => {},
      refused: () => {},
    });
    const key = { folder: "watched" };
    const add = (name: string): boolean => {
      const folder = reader.open([name]);
      return folder !== null && watch.add(key, folder);
    };
    expect(add("watched")).toBe(true);
    reader.release();
    writeFileSync(join(home, "other/b.txt"), "x");
    writeFileSync(join(home, "watched/a.txt"), "x");
    while (hints.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(new Set(hints.map(([, name]) => name))).toEqual(new Set(["a.txt"]));
    expect(hints.every(([from]) => from === key)).toBe(true);
    watch.remove(key);
    hints.length = 0;
    expect(add("other")).toBe(true);
    writeFileSync(join(home, "watched/later.txt"), "x");
    writeFileSync(join(home, "other/c.txt"), "x");
    while (hints.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(new Set(hints.map(([, name]) => name))).toEqual(new Set(["c.txt"]));
    reader.release();
  } finally {
    rmSync(home, { recursive: true });
  }
});
