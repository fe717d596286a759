import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { checkpointRecords } from "./background-proof.ts";
import { decodeCheckpoint } from "./checkpoint.ts";
import type { Journal } from "./journal.ts";
import { verifyJournal } from "./verify.ts";
import { provenAgain } from "./scan.ts";
import { type TestKind, TestJournal, testRecords } from "./testing/journals.ts";

const segmentBytes = 512 * 1024;
const recordsPerAppend = 100;

async function append(journal: Journal<TestKind>, count: number, text = "a"): Promise<void> {
  for (let left = count; left > 0; left -= recordsPerAppend) {
    await journal.append(
      Array.from({ length: Math.min(left, recordsPerAppend) }, (_, n) => ({
        operation: "store" as const,
        kind: "temporal" as const,
        id: String(left - n),
        data: JSON.stringify(text),
      })),
    );
  }
}

const seqOf = (kept: TestJournal): number =>
  kept.checkpoint === null ? 0 : (decodeCheckpoint(kept.checkpoint)?.at.end.seq ?? -1);

/** A journal with a checkpoint at its end. */
async function checkpointed(count = checkpointRecords + 500): Promise<TestJournal> {
  const kept = new TestJournal(join(await temporaryFolder(), "journal"), { segmentBytes });
  await kept.within(async (journal) => {
    await append(journal, count);
    await kept.until(() => kept.checkpoint !== null);
  });
  expect(seqOf(kept)).toBe(count);
  return kept;
}

/** Changes one byte of the data of the record in the first segment. */
async function damage(kept: TestJournal, seq: number): Promise<void> {
  const path = join(kept.folder, "000001.ndjson");
  const lines = (await readFile(path, "latin1")).split("\n");
  lines[seq - 1] = (lines[seq - 1] ?? "").replace('"data":"a"', '"data":"b"');
  await writeFile(path, lines.join("\n"), "latin1");
}

test("a small journal gets no checkpoint, and no timer remains", async () => {
  const kept = new TestJournal(await temporaryFolder(), { segmentBytes });
  await kept.within(async (journal) => {
    await append(journal, 200);
    await journal.sync();
    expect(kept.clock.pendingTimers).toBe(0);
  });
});

test("opening continues from the checkpoint, with the state and counts up to it", async () => {
  const kept = await checkpointed();
  const count = checkpointRecords + 500;
  await kept.within((journal) => append(journal, 300));
  const { journal, found } = await kept.openAndFind();
  await using _ = journal;
  expect([found.count, journal.end.seq, journal.tally.stored("temporal")]).toEqual([
    count + 300,
    count + 300,
    count + 300,
  ]);
  await append(journal, 10);
  expect(await journal.verify()).toMatchObject({ ok: true, records: count + 310 });
});

test("damage far before the checkpoint is found behind the opening, and named by the next one", async () => {
  const kept = await checkpointed();
  await damage(kept, 5);
  {
    await using journal = await kept.open();
    await append(journal, 1);
    expect(journal.isBroken).toBe(false);
    expect(await journal.verify()).toMatchObject({ ok: false, firstBad: { seq: 5 } });
    await kept.until(() => journal.isBroken);
    await expect(append(journal, 1)).rejects.toMatchObject({
      code: "StorageError",
      facts: { firstBad: { seq: 5 } },
    });
  }
  expect(kept.checkpoint).toBeNull();
  await expect(kept.open()).rejects.toMatchObject({ facts: { firstBad: { seq: 5 } } });
});

test("damage in the records before the checkpoint that are proven again is found by the opening", async () => {
  const kept = new TestJournal(await temporaryFolder(), { segmentBytes: 64 * 1024 * 1024 });
  await kept.within(async (journal) => {
    await append(journal, checkpointRecords);
    await kept.until(() => kept.checkpoint !== null);
  });
  const seq = checkpointRecords - provenAgain + 1;
  await damage(kept, seq);
  await expect(kept.open()).rejects.toMatchObject({ facts: { firstBad: { seq } } });
});

test.each([
  ["is none", () => "{ not json"],
  ["is of another version", (text: string) => text.replace('"version":1', '"version":2')],
  ["names another record", (text: string) => text.replace(/"hash":"[0-9a-f]{8}/, '"hash":"00000000')],
  ["names another place", (text: string) => text.replace('"offset":', '"offset":1')],
])("a checkpoint that %s is left out, and the journal is proven from its root", async (_what, change) => {
  const kept = await checkpointed();
  kept.checkpoint = change(kept.checkpoint ?? "");
  await damage(kept, 5);
  await expect(kept.open()).rejects.toMatchObject({ facts: { firstBad: { seq: 5 } } });
});

test("closing does not wait for a background proof, which continues at the next opening", async () => {
  const kept = await checkpointed();
  // Closed while it reads, and while it rests.
  for (let turns = 0; turns <= 20; turns++) {
    {
      await using journal = await kept.open();
      expect(journal.isBroken).toBe(false);
      kept.clock.advance(10_000);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(kept.clock.pendingTimers, `after ${turns} turns`).toBe(0);
  }
  await damage(kept, 3);
  await using journal = await kept.open();
  await kept.until(() => journal.isBroken);
});

type Step = { readonly append: number } | { readonly redact: number } | "reopen" | "rest";
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ append: fc.integer({ min: 1, max: checkpointRecords + 2000 }) }),
  fc.record({ redact: fc.integer({ min: 1, max: 3 * checkpointRecords }) }),
  fc.constant("reopen" as const),
  fc.constant("rest" as const),
);

test("with any appends, redactions, background proofs and openings, the state equals a proof from the root", async () => {
  const checkpoints: number[] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
      const kept = new TestJournal(join(await temporaryFolder(), "journal"), { segmentBytes });
      let journal = await kept.open();
      await append(journal, checkpointRecords);
      for (const each of steps) {
        if (each === "reopen") {
          await journal[Symbol.asyncDispose]();
          journal = await kept.open();
        } else if (each === "rest") {
          let turns = 100;
          await kept.until(() => (turns -= 1) < 0);
        } else if ("append" in each) await append(journal, each.append);
        else await journal.redact(({ seq }) => seq % each.redact === 0, "x", "told to");
      }
      await journal[Symbol.asyncDispose]();
      checkpoints.push(seqOf(kept));
      const short = await kept.openAndFind();
      const [end, stored, redacted] = [
        short.journal.end,
        short.journal.tally.save().toSorted(([one], [other]) => (one < other ? -1 : 1)),
        short.journal.redactedRecords,
      ];
      await short.journal[Symbol.asyncDispose]();
      kept.checkpoint = null;
      const whole = await kept.openAndFind();
      await using _ = whole.journal;
      expect([short.found.count, end, stored, redacted]).toEqual([
        whole.found.count,
        whole.journal.end,
        whole.journal.tally.save().toSorted(([one], [other]) => (one < other ? -1 : 1)),
        whole.journal.redactedRecords,
      ]);
      expect(await verifyJournal(kept.folder, kept.anchor, testRecords)).toMatchObject({ ok: true });
    }),
    { numRuns: 4 },
  );
  expect(checkpoints.some((seq) => seq > 0)).toBe(true);
}, 60_000);
