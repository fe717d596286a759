import {
  appendFileSync,
  chmodSync,
  linkSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { sha256 } from "../platform/files/hash.ts";
import { workspaceTimes } from "./limits.ts";
import { openTestWorkspace, type TestWorkspace } from "./testing/test-workspace.ts";

/** Real time, as a busy editor leaves between two writes: too short for the file to settle. */
const pauseMs = workspaceTimes.settleMs / 4;

const final = "The text as it is in the end.\n".repeat(20);

/** Writes the text piece by piece. */
async function writeSlowly(path: string): Promise<void> {
  for (let at = 0; at < final.length; at += 150) {
    await pause(pauseMs);
    appendFileSync(path, final.slice(at, at + 150));
  }
}

const saves: [string, (test: TestWorkspace) => void | Promise<void>][] = [
  [
    "emptied, and written in chunks after a pause",
    async ({ path }) => {
      truncateSync(path("doc.txt"));
      await writeSlowly(path("doc.txt"));
    },
  ],
  [
    "a slow temporary file that is renamed over it",
    async ({ path }) => {
      writeFileSync(path(".doc.txt.tmp"), "");
      await writeSlowly(path(".doc.txt.tmp"));
      renameSync(path(".doc.txt.tmp"), path("doc.txt"));
    },
  ],
  [
    "vim's dance: probe file, backup by rename, written anew, backup deleted",
    async ({ path }) => {
      writeFileSync(path("4913"), "");
      unlinkSync(path("4913"));
      renameSync(path("doc.txt"), path("doc.txt~"));
      writeFileSync(path("doc.txt"), "");
      await writeSlowly(path("doc.txt"));
      unlinkSync(path("doc.txt~"));
    },
  ],
  [
    "Helix's: backup by rename, a while later written again, backup deleted",
    async ({ path }) => {
      renameSync(path("doc.txt"), path("doc.txtAbCdEf.bck"));
      await pause(workspaceTimes.goneMs * 4);
      writeFileSync(path("doc.txt"), "");
      await writeSlowly(path("doc.txt"));
      unlinkSync(path("doc.txtAbCdEf.bck"));
    },
  ],
  [
    "backup by hard link, then a rename over it",
    async ({ path }) => {
      linkSync(path("doc.txt"), path("doc.txt~"));
      writeFileSync(path("doc.new"), "");
      await writeSlowly(path("doc.new"));
      renameSync(path("doc.new"), path("doc.txt"));
      unlinkSync(path("doc.txt~"));
    },
  ],
  [
    "written over in one go, and again at once",
    ({ path }) => {
      writeFileSync(path("doc.txt"), "draft");
      writeFileSync(path("doc.txt"), final);
    },
  ],
  [
    "a draft of the same size, and the text while that is being reported",
    async ({ path }) => {
      writeFileSync(path("doc.txt"), "x".repeat(final.length));
      await pause(pauseMs);
      writeFileSync(path("doc.txt"), final);
    },
  ],
];

describe("a save", () => {
  it.each(saves)("ends with one report of the last state, and nothing after it: %s", async (_how, save) => {
    await using test = await openTestWorkspace({
      prepare: (write) => write("doc.txt", "old", { old: true }),
    });
    await test.settle();
    const before = test.workspace.get({ path: "doc.txt" }, () => true);
    await save(test);
    await test.workspace.idle();
    const told = test.changes.filter(
      (change) => change.kind === "modified" && change.entry.path === "doc.txt",
    );
    expect(told.at(-1)).toMatchObject({ entry: { id: before?.id, size: final.length } });
    const sizes = told.map((change) => (change.kind === "modified" ? change.entry.size : -1));
    expect(sizes).not.toContain(0);
    const count = test.lines.length;
    test.write("marker.txt");
    await test.until(() => test.lines.includes("created marker.txt"));
    expect(test.lines.slice(count)).toEqual(["created marker.txt"]);
    const entry = test.workspace.get({ path: "doc.txt" }, () => true);
    const { bytes } = await test.workspace.read("doc.txt", 0, 10_000, () => true);
    expect(Buffer.from(bytes).toString()).toBe(final);
    expect(entry?.content_id).toBe(sha256(bytes));
  });

  it("keeps what a person added to the file, and a rename to a name like a backup's is a move", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => write("doc.txt", "old", { old: true }),
    });
    await test.settle();
    const before = test.workspace.get({ path: "doc.txt" }, () => true);
    renameSync(test.path("doc.txt"), test.path("doc.txt~"));
    await test.until(() => test.lines.includes("moved doc.txt -> doc.txt~"));
    expect(test.workspace.get({ path: "doc.txt~" }, () => true)?.id).toBe(before?.id);
    expect(test.lines.filter((line) => line.startsWith("deleted"))).toEqual([]);
  });
});

/** Renames in which a waiting kernel must not take the file for one that is being saved, or lose it while it waits. */
describe("a rename to a name that contains the old one", () => {
  it("by an action is a move at once", async () => {
    await using test = await openTestWorkspace({
      prepare: (write) => write("report.txt", "old", { old: true }),
    });
    await test.settle();
    const before = test.workspace.get({ path: "report.txt" }, () => true);
    renameSync(test.path("report.txt"), test.path("2024 report.txt"));
    await test.workspace.touched(["report.txt", "2024 report.txt"]);
    expect(test.workspace.get({ path: "2024 report.txt" }, () => true)?.id).toBe(before?.id);
    await test.workspace.idle();
    expect(test.lines).toEqual(["moved report.txt -> 2024 report.txt"]);
  });

  it("of thousands of files in many folders is a move of each", async () => {
    const [folders, files] = [12, 300];
    const names = Array.from({ length: folders * files }, (_, n) => ({
      folder: `d${n % folders}`,
      name: `img${n}.txt`,
    }));
    await using test = await openTestWorkspace({
      prepare: (write) => {
        for (const { folder, name } of names) write(`${folder}/${name}`, name, { old: true });
      },
    });
    await test.settle();
    for (const { folder, name } of names)
      renameSync(test.path(`${folder}/${name}`), test.path(`${folder}/2024-${name}`));
    await test.until(() => test.lines.length >= names.length);
    await test.workspace.idle();
    expect(test.lines.filter((line) => !line.startsWith("moved"))).toEqual([]);
    expect(test.lines).toHaveLength(names.length);
  });

  it.each<[string, (test: TestWorkspace) => void]>([
    ["its folder's mode changes", ({ path }) => chmodSync(path("d"), 0o750)],
    ["its folder is renamed", ({ path }) => renameSync(path("d"), path("e"))],
  ])("is a move although %s meanwhile", async (_what, change) => {
    await using test = await openTestWorkspace({
      prepare: (write) => write("d/a.txt", "old", { old: true }),
    });
    await test.settle();
    const before = test.workspace.get({ path: "d/a.txt" }, () => true);
    renameSync(test.path("d/a.txt"), test.path("d/a.txt.bak"));
    await pause(workspaceTimes.goneMs * 4);
    change(test);
    await test.until(() => test.lines.some((line) => line.includes("a.txt.bak")));
    await test.workspace.idle();
    expect(test.lines.filter((line) => /^(created|deleted)/.test(line))).toEqual([]);
    const found = ["d", "e"].map((folder) => test.workspace.get({ path: `${folder}/a.txt.bak` }, () => true));
    expect(found.find((entry) => entry !== null)?.id).toBe(before?.id);
  });
});

it("a file that is renamed before its new text was read, whenever that is, is read under its new name", async () => {
  const turns = Array.from({ length: 30 }, (_, turn) => turn);
  await using test = await openTestWorkspace({
    prepare: (write) => {
      for (const turn of turns) write(`a${turn}.txt`, "old", { old: true });
    },
  });
  await test.settle();
  for (const turn of turns) {
    const [from, to] = [`a${turn}.txt`, `b${turn}.txt`];
    test.write(from, final);
    const touched = test.workspace.touched([from]);
    for (let passed = 0; passed < turn; passed++) await Promise.resolve();
    renameSync(test.path(from), test.path(to));
    await touched;
  }
  const present = (turn: number) => test.workspace.get({ path: `b${turn}.txt` }, () => true);
  await test.until(() => turns.every((turn) => present(turn) !== null));
  await test.workspace.idle();
  expect(turns.map((turn) => present(turn)?.content_id)).toEqual(turns.map(() => sha256(Buffer.from(final))));
});
