import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  watch,
} from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import type { TestWorkspace } from "./testing/test-workspace.ts";
import { openTestWorkspace } from "./testing/test-workspace.ts";

const folders = 20;
const filesInFolder = 40;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Returns path and size of everything on the disk, in the form in which the index is compared. */
function onDisk(root: string, folder = ""): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of readdirSync(`${root}/${folder}`)) {
    const path = folder === "" ? name : `${folder}/${name}`;
    const stats = lstatSync(`${root}/${path}`);
    found.set(path, stats.isDirectory() ? 0 : stats.size);
    if (stats.isDirectory()) for (const [inner, size] of onDisk(root, path)) found.set(inner, size);
  }
  return found;
}

function inIndex({ workspace }: TestWorkspace): Map<string, number> {
  return new Map([...workspace.allEntries()].map(({ path, size }) => [path, size]));
}

const sorted = (entries: Map<string, number>): [string, number][] =>
  [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));

const prepare = (write: TestWorkspace["write"]): void => {
  for (let folder = 0; folder < folders; folder++)
    for (let file = 0; file < filesInFolder; file++)
      write(`f${folder}/sub/file-${file}.txt`, `${folder} ${file}`, { old: true });
};

/** Deterministic, so that a failure can be reproduced. */
function changeSomething(test: TestWorkspace, step: number): void {
  const file = test.path(`f${(step * 7) % folders}/sub/file-${(step * 13) % filesInFolder}.txt`);
  const kind = step % 6;
  try {
    if (kind === 0) appendFileSync(file, "more");
    else if (kind === 1) unlinkSync(file);
    else if (kind === 2) renameSync(file, test.path(`f${(step * 3) % folders}/moved-${step}.txt`));
    else if (kind === 3) test.write(`f${step % folders}/sub/new-${step}.txt`);
    else if (kind === 4)
      renameSync(test.path(`f${step % folders}/sub`), test.path(`f${step % folders}/sub-${step}`));
    else {
      mkdirSync(dirname(test.path(`made-${step}/inner/x`)), { recursive: true });
      rmSync(test.path(`f${(step + 3) % folders}/sub-${step - 1}`), { recursive: true, force: true });
    }
  } catch (error) {
    // The file was moved or deleted by an earlier step.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

describe("a scan while everything moves", () => {
  it("ends with the index equal to the disk, and reports nothing twice", async () => {
    await using test = await openTestWorkspace({ prepare });
    await test.settle();
    const state = { isScanning: true };
    const scanning = (async () => {
      for (let round = 0; round < 3; round++) await test.workspace.rescan();
      state.isScanning = false;
    })();
    for (let step = 0; state.isScanning || step < 60; step++) {
      changeSomething(test, step);
      await turn();
    }
    await scanning;
    await test.workspace.idle();
    await test.until(
      () => JSON.stringify(sorted(inIndex(test))) === JSON.stringify(sorted(onDisk(test.root))),
    );
    const alive = new Set<string>();
    for (const line of test.lines) {
      const [, what, path = ""] = /^(\w+) (\S+)/.exec(line) ?? [];
      if (what === "created") expect(alive.has(path), line).toBe(false);
      if (what === "created") alive.add(path);
      if (what === "deleted" || what === "moved") alive.delete(path);
    }
  });

  it("sees at a start what happened before it and while the stored index was loaded", async () => {
    await using test = await openTestWorkspace({ prepare });
    await test.restart(() => {
      for (let step = 0; step < 30; step++) changeSomething(test, step);
    });
    await test.until(
      () => JSON.stringify(sorted(inIndex(test))) === JSON.stringify(sorted(onDisk(test.root))),
    );
  });
});

describe("a scan whose listings are older than later hints", () => {
  it("trusts the hints about files deleted, created and written while the stored index is loaded", async () => {
    const gate = Promise.withResolvers<void>();
    let isGated = false;
    await using test = await openTestWorkspace({
      prepare,
      database: (real) => ({
        batch: (statements, options) => real.batch(statements, options),
        query: async (sql, params) => {
          if (isGated && params?.[1] === "file") await gate.promise;
          return await real.query(sql, params);
        },
        [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
      }),
    });
    await test.settle();
    let listed = 0;
    // The only thread that a restart starts, because the database is in this one.
    process.once("worker", (lister) =>
      lister.on("message", ({ pieces }) => void (listed += pieces?.length ?? 0)),
    );
    isGated = true;
    const restarted = test.restart();
    // The root, and in it folders with one folder each.
    await test.until(() => listed >= 1 + 2 * folders);
    const heard = Promise.withResolvers<void>();
    const watcher = watch(test.path("f1/sub"), (_event, name) => name === "last.txt" && heard.resolve());
    unlinkSync(test.path("f1/sub/file-1.txt"));
    appendFileSync(test.path("f1/sub/file-2.txt"), "more");
    test.write("f1/sub/new.txt", "new", { old: true });
    test.write("f1/sub/last.txt", "last", { old: true });
    await heard.promise;
    watcher.close();
    gate.resolve();
    await restarted;
    await test.workspace.idle();
    expect(sorted(inIndex(test))).toEqual(sorted(onDisk(test.root)));
    expect(test.lines.toSorted()).toEqual([
      "created f1/sub/last.txt",
      "created f1/sub/new.txt",
      "deleted f1/sub/file-1.txt",
      "modified f1/sub/file-2.txt",
    ]);
  });
});

describe("a scan whose thread dies", () => {
  it.each(["at once", "after it has begun"])("continues without it: %s", async (when) => {
    await using test = await openTestWorkspace({ prepare });
    await test.settle();
    for (let step = 0; step < 12; step++) test.write(`f${step}/later.txt`, "later", { old: true });
    let died = 0;
    const kill = (worker: { once(event: "online", then: () => void): void; terminate(): void }): void => {
      died++;
      if (when === "at once") worker.terminate();
      else worker.once("online", () => worker.terminate());
    };
    process.once("worker", kill);
    await test.workspace.rescan();
    await test.workspace.idle();
    expect(died).toBe(1);
    expect(test.warnings).toContain(
      "The thread that lists folders has ended; folders are listed in the main thread.",
    );
    expect(sorted(inIndex(test))).toEqual(sorted(onDisk(test.root)));
  });
});
