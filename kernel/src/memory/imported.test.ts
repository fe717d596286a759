import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { ImportedMemories } from "./imported.ts";
import { redactedLine } from "../journal/record.ts";
import { memoryRecords } from "./records/kinds.ts";
import { FakeStore, fakeSettings } from "./testing/fake-store.ts";
import { memoryFixture } from "./testing/memory-fixture.ts";

async function shared() {
  const { start, stateFolder, clock } = await memoryFixture();
  const memory = await start();
  const team = await memory.open("namespace/team");
  const store = new FakeStore();
  store.answers["temporal.count"] = (_params, { end }) => ({ count: end.seq });
  const importing = async (): Promise<ImportedMemories> =>
    new ImportedMemories({
      stateFolder: await temporaryFolder(),
      store,
      clock,
      settings: () => fakeSettings,
      otherStateFolder: async () => stateFolder,
    });
  const segment = join(stateFolder, "namespaces", "team", "memory", "journal", "000001.ndjson");
  return { memory, team, importing, segment };
}

test("a redaction by the owner is followed: the chain continues, read from the last position and from the root", async () => {
  const { memory, team, importing } = await shared();
  await using _ = memory;
  const { id } = await team.appendEvent({ variant: "v", data: "told" });
  await team.appendEvent({ variant: "v", data: "other" });
  const imported = await importing();
  const count = async (): Promise<number> =>
    (await (await imported.open("team", "there")).countEvents({})).count;
  expect(await count()).toBe(2);
  await team.forget(id, "told to");
  await team.appendEvent({ variant: "v", data: "more" });
  expect(await count()).toBe(4);
  const fresh = await importing();
  expect((await (await fresh.open("team", "there")).countEvents({})).count).toBe(4);
});

test("what its writers had read of texts that nobody vouches for stands in the journal, and forged marks count", async () => {
  const { memory, team, importing } = await shared();
  await using _ = memory;
  const web = { "agent:web": "all" } as const;
  const clean = await team.appendEvent({ variant: "v", data: { foreign: { no: "mark" } } });
  const event = await team.appendEvent({ variant: "v", data: "told", source: "s", position: 1 }, web);
  const item = await team.addKnowledge({ variant: "v", data: "x", text: "x" }, { scripted: "minds" });
  await team.swap(0, { plan: 1 }, web);
  const imported = await importing();
  await imported.open("team", "there");
  const read = (ids: readonly string[]) => imported.foreignIn("team", ids);
  expect([read([clean.id]), read([event.id]), read([item.id])]).toEqual([{}, web, { scripted: "minds" }]);
  expect(imported.foreignIn("team", "plan")).toEqual(web);
  await team.swap(1, { plan: 2 });
  await (await imported.open("team", "there")).countEvents({});
  expect(imported.foreignIn("team", "plan")).toEqual({});
  expect(imported.foreignIn("team", "all")).toEqual({ ...web, scripted: "minds" });
  expect((await imported.open("team", "there")).read()).toEqual({ revision: 2, state: { plan: 2 } });
});

test("data that was removed without a redact record is damage", async () => {
  const { memory, team, importing, segment } = await shared();
  await using _ = memory;
  for (const data of ["one", "two", "three"]) await team.appendEvent({ variant: "v", data });
  await team.sync();
  const lines = (await readFile(segment)).toString("utf8").split("\n").slice(0, -1);
  const second = Buffer.from(lines[1] ?? "");
  const head = memoryRecords.readHead(second);
  if (head === null) throw new Error("no record");
  lines[1] = Buffer.from(redactedLine(second, head)).toString("utf8");
  await writeFile(segment, `${lines.join("\n")}\n`);
  const imported = await importing();
  await expect(imported.open("team", "there")).rejects.toMatchObject({ code: "StorageError" });
});
