import { join } from "node:path";
import { expect, test } from "vitest";
import { type FailpointName, failpointNames } from "../platform/failpoints.ts";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { leftBehind, modules } from "./testing/left-behind.ts";

/** Swaps in an endless loop, and prints each revision once it is acknowledged. */
const swapper = (folder: string): string => `
  const database = await openDatabase({ path: ${JSON.stringify(join(folder, "ledger.sqlite"))}, migrations: memoryMigrations, log: silentLog });
  const memory = await openMemory({ stateFolder: ${JSON.stringify(folder)}, database, clock: systemClock, log: silentLog,
    store: new FakeStore(), storeSettings: () => fakeSettings, retentionDays: () => null,
    prunePolicy: () => null,
    storageLimitBytes: () => 1e9, segmentBytes: 64 * 1024 });
  const agent = await memory.open("extension/dev.lares.test");
  for (;;) {
    const { revision } = agent.read();
    await agent.swap(revision, { n: revision + 1, filling: "x".repeat(revision % 500) });
    say(revision + 1);
    if (revision % 10 === 0) await agent.sync();
  }`;

/** Returns the revision that a new process finds, after the journal has been proven. */
async function recovered(folder: string): Promise<number> {
  await using left = await leftBehind(folder);
  const { agent } = left;
  const { revision, state } = agent.read();
  expect(await agent.verify()).toMatchObject({ ok: true, records: revision });
  if (revision > 0) expect(state).toMatchObject({ n: revision });
  return revision;
}

test("killed six times by SIGKILL: the last acknowledged revision is found, or the next one", async () => {
  const folder = await temporaryFolder();
  let before = 0;
  for (let round = 0; round < 6; round++) {
    const child = new TestChild(swapper(folder), { modules });
    await child.waitForLines(1 + ((round * 97) % 60));
    await child.kill();
    const acknowledged = Number(child.lines.at(-1));
    const found = await recovered(folder);
    expect(acknowledged).toBeGreaterThan(before);
    expect([acknowledged, acknowledged + 1]).toContain(found);
    before = found;
  }
});

/** A redaction has its own test, and so has a checkpoint: it comes only after thousands of swaps. */
const elsewhere = /^journal\.(redaction|checkpoint)\./;
const points = failpointNames.filter(
  (name) => /^(journal|atomic-file)\./.test(name) && !elsewhere.test(name),
);
/** The journal's failpoints are passed at every swap, those of a segment rarely. */
const passOf = (name: FailpointName): number =>
  name.startsWith("journal.") && name !== "journal.segment.created" ? 2 : 1;
test.each(points)("dying at %s leaves the last acknowledged revision, or the next one", async (name) => {
  const folder = await temporaryFolder();
  const child = new TestChild(swapper(folder), { modules, failpoint: `${name}@${passOf(name)}` });
  expect(await child.ended()).toBe("SIGKILL");
  const acknowledged = Number(child.lines.at(-1) ?? 0);
  expect([acknowledged, acknowledged + 1]).toContain(await recovered(folder));
});
