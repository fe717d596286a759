import { join } from "node:path";
import { onTestFinished } from "vitest";
import { isoTime } from "../../../base/clock.ts";
import type { JsonValue } from "../../../base/json.ts";
import type { ChainEnd } from "../../../memory-contract/records.ts";
import type { TemporalCountQuery, TemporalQuery } from "../../../memory-contract/queries.ts";
import type { DuckFile } from "../duck-file.ts";
import type { JournalRecord, TextIndex } from "../port.ts";
import { temporalCount, temporalQuery } from "../temporal-query.ts";
import { temporalTables } from "../temporal.ts";
import { openTextIndex } from "../text-index.ts";
import { type TestDuck, testDuck } from "./test-duck.ts";

interface TestMemory extends TestDuck {
  readonly index: TextIndex;
  apply(records: readonly JournalRecord[]): Promise<void>;
}

/** A file with the tables of temporal memory, and a full text beside it. */
export async function testMemory(): Promise<TestMemory> {
  const duck = await testDuck();
  const index = openTextIndex(join(duck.folder, "text.sqlite"));
  onTestFinished(() => index.close());
  await duck.file.transaction((sql) => temporalTables.create(sql));
  return { ...duck, index, apply: (records) => applyAll(duck.file, index, records) };
}

async function applyAll(file: DuckFile, index: TextIndex, records: readonly JournalRecord[]): Promise<void> {
  await file.transaction((sql) => temporalTables.apply(sql, records));
  index.apply(records, endOf(records));
}

export const endOf = (records: readonly JournalRecord[]): ChainEnd => ({
  seq: records.at(-1)?.seq ?? 0,
  hash: "a".repeat(64),
});

export interface Event {
  readonly variant: string;
  readonly timestampMs: number;
  readonly data: JsonValue;
}

/** Records that store events, starting at a seq. */
export const storing = (events: readonly Event[], firstSeq = 1): JournalRecord[] =>
  events.map(({ variant, timestampMs, data }, at) => ({
    seq: firstSeq + at,
    writtenMs: 0,
    operation: "store",
    kind: "temporal",
    id: idOf(firstSeq + at),
    data: { variant, timestamp: isoTime(timestampMs), data },
  }));

export const idOf = (seq: number): string => `01900000-0000-7000-8000-${seq.toString(16).padStart(12, "0")}`;

export const redacting = (seq: number, ...seqs: (readonly [number, number])[]): JournalRecord => ({
  seq,
  writtenMs: 0,
  operation: "redact",
  kind: "policy",
  id: "redaction",
  data: { seqs, reason: "forget" },
});

export const nowMs = Date.parse("2026-11-20T10:00:00.000Z");
export const ask = ({ file, index }: TestMemory, query: TemporalQuery): ReturnType<typeof temporalQuery> =>
  temporalQuery(file, index, query, nowMs);
export const count = (
  { file, index }: TestMemory,
  query: TemporalCountQuery,
): ReturnType<typeof temporalCount> => temporalCount(file, index, query, nowMs);
