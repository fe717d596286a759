import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { everything, openTestWorkspace, pathsOf, type TestWorkspace } from "./testing/test-workspace.ts";

const patient = { timeout: 60_000 };

async function opened(): Promise<TestWorkspace> {
  const workspace = await openTestWorkspace({
    prepare: (write) => {
      write("a.txt");
      write("folder/b.txt");
    },
  });
  await workspace.settle();
  return workspace;
}

async function returned(bench: TestWorkspace): Promise<void> {
  const before = bench.returned.length;
  await bench.until(() => bench.returned.length > before);
  await bench.workspace.idle();
}

function contentOf(bench: TestWorkspace, path: string): Promise<string> {
  return bench.workspace.read(path, 0, 1000, () => true).then(({ bytes }) => new TextDecoder().decode(bytes));
}

describe("a root", patient, () => {
  test("deleted and created again is found, watched and read", async () => {
    await using bench = await opened();
    rmSync(bench.root, { recursive: true });
    bench.write("folder/c.txt", "new");
    await returned(bench);
    expect(await pathsOf(bench.workspace)).toEqual(["folder", "folder/c.txt"]);
    expect(await contentOf(bench, "folder/c.txt")).toBe("new");
    await bench.settle();
    bench.write("folder/later.txt");
    await bench.until(() => bench.lines.includes("created folder/later.txt"));
    rmSync(bench.path("folder/c.txt"));
    await bench.until(() => bench.lines.includes("deleted folder/c.txt"));
  });

  test("swapped for another folder: the same paths are the same entries, and differing ones are modified", async () => {
    await using bench = await opened();
    const id = bench.workspace.get({ path: "a.txt" }, everything)?.id;
    const other = join(bench.root, "../other");
    mkdirSync(join(other, "folder"), { recursive: true });
    writeFileSync(join(other, "a.txt"), "another a");
    writeFileSync(join(other, "folder/b.txt"), "another b");
    renameSync(bench.root, `${bench.root}.old`);
    renameSync(other, bench.root);
    await returned(bench);
    await bench.until(() => bench.lines.length === 2);
    expect(bench.lines.toSorted()).toEqual(["modified a.txt", "modified folder/b.txt"]);
    expect(bench.workspace.get({ path: "a.txt" }, everything)?.id).toBe(id);
    expect(await contentOf(bench, "a.txt")).toBe("another a");
    // The former folder is no longer watched.
    writeFileSync(`${bench.root}.old/stray.txt`, "x");
    bench.write("folder/b.txt", "again");
    await bench.until(() => bench.lines.length === 3);
    expect(bench.lines.at(-1)).toBe("modified folder/b.txt");
  });

  test("that is missing for a while deletes nothing, even if a scan is requested, and is watched again", async () => {
    await using bench = await opened();
    renameSync(bench.root, `${bench.root}.away`);
    await bench.until(() => bench.warnings.some((text) => text.includes("is missing")));
    await bench.workspace.rescan();
    await bench.workspace.touched(["a.txt", "folder/b.txt"]);
    expect(await pathsOf(bench.workspace)).toEqual(["a.txt", "folder", "folder/b.txt"]);
    await expect(contentOf(bench, "a.txt")).rejects.toThrow();
    renameSync(`${bench.root}.away`, bench.root);
    await returned(bench);
    expect(bench.lines).toEqual([]);
    expect(await contentOf(bench, "a.txt")).toBe("a.txt");
    bench.write("folder/later.txt");
    await bench.until(() => bench.lines.includes("created folder/later.txt"));
  });

  test("replaced by an empty folder, as when a disk is unmounted, deletes nothing until it has content", async () => {
    await using bench = await opened();
    renameSync(bench.root, `${bench.root}.disk`);
    mkdirSync(join(bench.root, ".lares"), { recursive: true });
    await bench.until(() => bench.warnings.some((text) => text.includes("is missing")));
    await bench.workspace.rescan();
    await bench.workspace.touched(["a.txt"]);
    expect(await pathsOf(bench.workspace)).toEqual(["a.txt", "folder", "folder/b.txt"]);
    rmSync(bench.root, { recursive: true });
    renameSync(`${bench.root}.disk`, bench.root);
    await returned(bench);
    expect(bench.lines).toEqual([]);
    bench.write("a.txt", "changed");
    await bench.until(() => bench.lines.includes("modified a.txt"));
  });

  test("that becomes a file is missing, and nothing is deleted", async () => {
    await using bench = await opened();
    renameSync(bench.root, `${bench.root}.away`);
    writeFileSync(bench.root, "x");
    await bench.until(() => bench.warnings.some((text) => text.includes("is missing")));
    await bench.workspace.rescan();
    expect(await pathsOf(bench.workspace)).toEqual(["a.txt", "folder", "folder/b.txt"]);
    rmSync(bench.root);
    renameSync(`${bench.root}.away`, bench.root);
    await returned(bench);
    expect(bench.lines).toEqual([]);
  });

  test("that was empty and is created again is watched", async () => {
    await using bench = await openTestWorkspace();
    rmSync(bench.root, { recursive: true });
    mkdirSync(bench.root);
    await returned(bench);
    bench.write("a.txt");
    await bench.until(() => bench.lines.includes("created a.txt"));
  });
});

test("one of two roots is created again; the other continues", patient, async () => {
  await using bench = await openTestWorkspace({
    prepare: (write) => {
      write("one/a.txt");
      write("two/b.txt");
    },
    roots: (root) => [
      { name: "first", path: join(root, "one") },
      { name: "second", path: join(root, "two") },
    ],
  });
  await bench.settle();
  rmSync(bench.path("one"), { recursive: true });
  bench.write("one/c.txt");
  await returned(bench);
  expect(await pathsOf(bench.workspace)).toEqual(["first/c.txt", "second/b.txt"]);
  bench.write("two/d.txt");
  bench.write("one/e.txt");
  await bench.until(() =>
    ["created first/e.txt", "created second/d.txt"].every((line) => bench.lines.includes(line)),
  );
});
