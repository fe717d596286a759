import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approve, propose } from "../support/actions.ts";
import { event, host, probe } from "../support/agents.ts";
import { Bench, inState } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { CODES, type Action } from "../support/types.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const manifest = { hooks: [{ on: "EntryCreated", handler: "record" }] };

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "note.md": "first\n" },
    extensions: [probe({ id: PROBE, manifest })],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

async function hasSeen(path: string): Promise<void> {
  await event(client, PROBE, path, (seen) => JSON.stringify(seen).includes(path));
}

const stateOf = async ({ id }: Action): Promise<string> =>
  (await client.request<Action>("lares/actions/get", { id })).state;

test("the folder deleted and created again: its documents count, its agent wakes, proposals change the new files", async () => {
  const waiting = await propose(client, PROBE, { kind: "file.write", path: "note.md", content: "changed\n" });
  await rm(bench.root, { recursive: true });
  await mkdir(bench.root);
  await bench.writeLares();
  await bench.write("fresh.md", "fresh\n");
  await until("its agent is back", async () => {
    const agents = await client.request<{ id: string }[]>("lares/agents/list");
    return agents.some(({ id }) => id === PROBE);
  });
  await inState(client, PROBE, "Active", "Unloaded");
  await hasSeen("fresh.md");
  await bench.write("later.md", "later\n");
  await hasSeen("later.md");
  await until("what waited to go out of date by itself", async () => (await stateOf(waiting)) === "Stale");
  await expect(approve(client, waiting)).rejects.toMatchObject({ code: CODES.IllegalTransition });
  const action = await propose(client, PROBE, { kind: "file.write", path: "fresh.md", content: "changed\n" });
  expect(await approve(client, action)).toMatchObject({ state: "Committed" });
  expect(await readFile(bench.path("fresh.md"), "utf8")).toBe("changed\n");
});

test("another folder in its place: actions for the old folder end, and nothing is written into either", async () => {
  const action = await propose(client, PROBE, { kind: "file.write", path: "fresh.md", content: "again\n" });
  const other = join(bench.base, "other");
  await mkdir(other);
  await writeFile(join(other, "fresh.md"), "of another\n");
  await rename(bench.root, join(bench.base, "before"));
  await rename(other, bench.root);
  // It becomes stale by itself, or the approval finds out first. The new folder has no documents: once it takes effect,
  // its agent is no longer enabled, and the approval fails for that reason.
  await approve(client, action).catch(() => undefined);
  expect(["Stale", "Failed"]).toContain(await stateOf(action));
  expect(await readFile(bench.path("fresh.md"), "utf8")).toBe("of another\n");
  expect(await readFile(join(bench.base, "before", "fresh.md"), "utf8")).toBe("changed\n");
  await bench.writeLares();
  await until("its agent reads what is there", async () => {
    const outcome = await host(client, PROBE, "vdfs.readText", "fresh.md").catch(() => null);
    return outcome?.value === "of another\n";
  });
});
