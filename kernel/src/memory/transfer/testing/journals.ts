import { silentLog } from "../../../base/log.ts";
import { ManualClock } from "../../../base/testing/manual-clock.ts";
import type { Anchor } from "../../../journal/anchor.ts";
import { DiskTimer } from "../../../journal/disk-timer.ts";
import { Journal } from "../../../journal/journal.ts";
import type { RecordInput } from "../../../journal/record.ts";
import { memoryRecords, memoryRefusals } from "../../records/kinds.ts";
import { chainStart, type RecordKind } from "../../../memory-contract/records.ts";
import type { VectorItem } from "../vectors.ts";

/** Writes a journal with these records in small segments, closes it, and returns its end. */
export async function aJournal(folder: string, records: readonly RecordInput<RecordKind>[]): Promise<Anchor> {
  let anchor: Anchor = { ...chainStart, size: 0, carriedOut: 0 };
  await using journal = await openJournal(folder, undefined, (reached) => (anchor = reached));
  for (const record of records) await journal.append([record]);
  await journal.sync();
  return anchor;
}

export async function openJournal(
  folder: string,
  anchor: Anchor | undefined,
  reached: (anchor: Anchor) => void = () => undefined,
): Promise<Journal<RecordKind>> {
  const clock = new ManualClock();
  const options = {
    name: "memory",
    form: memoryRecords,
    refusals: memoryRefusals,
    disk: new DiskTimer(clock),
    folder,
    anchor,
    storeAnchor: async (anchor: Anchor): Promise<void> => reached(anchor),
    maxBytes: () => Infinity,
    clock,
    log: silentLog,
    segmentBytes: 600,
  };
  const { journal } = await Journal.open(options, () => ({ visit: () => undefined, save: () => null }));
  return journal;
}

export const anEvent = (n: number): RecordInput<RecordKind> => ({
  operation: "store",
  kind: "temporal",
  id: `event-${n}`,
  data: JSON.stringify({ n, text: "the beach, été" }),
});
export const aPolicy: RecordInput<RecordKind> = {
  operation: "store",
  kind: "policy",
  id: "retention",
  data: '{"days":30}',
};

export function aVector(id: string, values: readonly number[]): VectorItem {
  return { id, base64F32: Buffer.from(new Float32Array(values).buffer).toString("base64") };
}

export async function* pagesOf<Item>(
  ...pages: readonly (readonly Item[])[]
): AsyncGenerator<readonly Item[]> {
  yield* pages;
}
