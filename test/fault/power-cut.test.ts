import { copyFile, mkdir, open, readdir, readFile, rm, stat, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { isAlive } from "../support/until.ts";
import { type DiskEvent, recordingVariable } from "./support/disk-recorder.ts";
import { Died } from "./support/load.ts";
import { seeded, seedOfThisRun } from "../support/seed.ts";
import { Session } from "./support/session.ts";
import { WORKER } from "./support/worker-agent.ts";

/*
 * A simulated power cut: kernel and front are killed, then every file is put back to what was certainly on the disk.
 * The ledger becomes what it was at the last commit that waited for the disk; of the journal, the synced part stays,
 * and the rest is missing, zeros, or in pieces.
 */

const seed = seedOfThisRun();
const random = seeded(seed);
const pageBytes = 4096;
const recorder = fileURLToPath(new URL("support/disk-recorder.ts", import.meta.url));

let session: Session;
let recording: string;
let tails = 0;
beforeAll(async () => {
  console.log(`power cuts: LARES_SEED=${seed}`);
  session = await Session.create();
  recording = join(session.bench.base, "recording");
});
afterAll(() => session[Symbol.asyncDispose]());

async function events(): Promise<DiskEvent[]> {
  const lines = (await readFile(join(recording, "events"), "utf8")).split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as DiskEvent);
}

/** Opens a session with a new recorder. */
async function openRecorded(): Promise<void> {
  await rm(recording, { recursive: true, force: true });
  await mkdir(recording);
  await session.open([], { NODE_OPTIONS: `--import=${recorder}`, [recordingVariable]: recording });
  await session.load.status();
}

async function cutPower(): Promise<void> {
  const { load } = session;
  const { pid } = await load.status();
  await session.observe();
  // Neither may notice that the other is gone.
  load.client.process.kill("SIGSTOP");
  process.kill(pid, "SIGKILL");
  load.client.process.kill("SIGKILL");
  await load.client.exited;
  await until("the kernel to be gone", () => !isAlive(pid));
}

/** The fate of the part of a file that was never synced. */
const fates: Record<string, (path: string, synced: number, size: number) => Promise<void>> = {
  "is missing": (path, synced) => truncate(path, synced),
  "is zeros": async (path, synced, size) => {
    await truncate(path, synced);
    await truncate(path, size);
  },
  "has lost some of its pages": async (path, synced, size) => {
    await using file = await open(path, "r+");
    for (let page = Math.floor(synced / pageBytes); page * pageBytes < size; page++) {
      const from = Math.max(synced, page * pageBytes);
      const bytes = Math.min(size, (page + 1) * pageBytes) - from;
      if (random() < 0.5 && bytes > 0) await file.write(Buffer.alloc(bytes), 0, bytes, from);
    }
  },
};

/** Puts the state folder back to what is certainly on the disk. */
async function loseUnsynced(fate: keyof typeof fates): Promise<void> {
  const { stateFolder } = session;
  for (const suffix of ["-wal", "-shm"])
    await rm(join(stateFolder, `ledger.sqlite${suffix}`), { force: true });
  for (const name of await readdir(recording))
    if (name.startsWith("ledger.")) await copyFile(join(recording, name), join(stateFolder, name));
  const journal = join(stateFolder, "extensions", WORKER, "memory/journal/000001.ndjson");
  const synced = (await events()).findLast((event) => event.op === "sync" && event.path === journal);
  const { size } = await stat(journal);
  // What an earlier kernel left was synced when it ended.
  const syncedBytes = synced?.op === "sync" ? synced.size : size;
  if (syncedBytes < size) tails += 1;
  await fates[fate]?.(journal, syncedBytes, size);
}

describe("a power cut", () => {
  const cuts = Object.keys(fates).flatMap((fate) => [1, 2, 3].map((round) => ({ fate, round })));
  test.for(cuts)("in which unsynced data $fate ($round): all synced data is there", async ({ fate }) => {
    const { load } = session;
    const { witness } = load;
    await openRecorded();
    await load.round();
    await load.note(true);
    const waitedFor = new Set(witness.notes);
    const unwaited = (async () => {
      for (;;) await load.note(false);
    })().catch((error: unknown) => {
      if (!(error instanceof Died)) throw error;
    });
    const wanted = waitedFor.size + 5 + Math.floor(random() * 20);
    await until("some notes", () => witness.notes.size >= wanted);
    await cutPower();
    await unwaited;
    await loseUnsynced(fate);
    for (const note of witness.notes) if (!waitedFor.has(note)) witness.uncertainNotes.add(note);
    witness.notes.clear();
    for (const note of waitedFor) witness.notes.add(note);
    await session.open();
    // The agent may forget what it handled if nobody waited for it; the files exist.
    witness.files.clear();
    await load.check();
    expect((await load.ask<{ state: string }[]>("lares/agents/list"))[0]?.state).not.toBe("Error");
    await session.leave();
  });

  test("had something to lose in some of these", () => {
    expect(tails).toBeGreaterThan(0);
  });
});

test("the ledger never refers to data that is not on the disk: contents, names and folders are synced before it commits", async () => {
  await openRecorded();
  const { load } = session;
  await load.round();
  await load.round();
  const seen = await events();
  await session.leave();
  const { root } = session.bench;
  const objects = join(session.stateFolder, "objects");
  const matters = (path: string): boolean => path.startsWith(`${root}/`) || path.startsWith(`${objects}/`);
  const syncedSizes = new Map<number, number>();
  const dirty = new Map<string, string>();
  const faults: string[] = [];
  let commits = 0;
  let names = 0;
  for (const event of seen) {
    if (event.op === "sync") syncedSizes.set(event.inode, event.size);
    else if (event.op === "folder") dirty.delete(event.path);
    else if (event.op === "ledger") {
      commits += 1;
      for (const path of dirty.values()) faults.push(`commit ${commits} before the folder of ${path}`);
    } else if (matters(event.path)) {
      if (event.op === "named") {
        names += 1;
        const isOwn = event.path.includes("/.lares-") || event.path.startsWith(objects);
        if (isOwn && event.how === "rename" && syncedSizes.get(event.inode) !== event.size)
          faults.push(`${event.path} before its content`);
      }
      // A removed folder has no names left to lose.
      dirty.delete(event.path);
      // Removing kept contents beside a target needs no order: it is repeated.
      if (event.op !== "unnamed" || !event.path.includes("/.lares-"))
        dirty.set(dirname(event.path), event.path);
    }
  }
  expect([...new Set(faults)]).toEqual([]);
  expect(commits).toBeGreaterThan(8);
  expect(names).toBeGreaterThan(8);
});
