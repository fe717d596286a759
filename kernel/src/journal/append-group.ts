import type { LaresError } from "../base/errors.ts";
import { type ChainEnd, maxLineBytes } from "../memory-contract/records.ts";
import { randomHex } from "../platform/random.ts";
import { HeadConflict } from "./head-conflict.ts";
import { encodeRecord, type EncodedRecord, type RecordInput } from "./record.ts";

const saltBytes = 16;

/** The errors for a caller whose record is refused. */
export interface Refusals {
  /** The record's line would have this many bytes, more than `maxLineBytes`. */
  tooLong(lineBytes: number): LaresError;
  /** The journal would have this many bytes, more than `maxBytes`. */
  full(wantedBytes: number, maxBytes: number): LaresError;
}

export interface AppendOptions {
  /** The head that the records must follow. Rejects with HeadConflict if the journal has another. */
  readonly expectedHead?: ChainEnd;
  /** Admits the records even if the journal is full, because they make it smaller. */
  readonly isOverQuota?: boolean;
}

/** The encoded records, in the order of the inputs. */
export type EncodedAs<Inputs extends readonly RecordInput[]> = {
  readonly [Index in keyof Inputs]: EncodedRecord;
};

/** Records that are written together or not at all. */
export interface WaitingAppend extends AppendOptions {
  readonly inputs: readonly RecordInput[];
  resolve(records: readonly EncodedRecord[]): void;
  reject(error: unknown): void;
}

interface Written {
  readonly waiting: WaitingAppend;
  /** With the bytes of each line. */
  readonly records: readonly (EncodedRecord & { readonly bytes: number })[];
}

/** The records that are written in one turn of the loop. */
export interface AppendGroup {
  readonly written: Written[];
  /** Appends that expected another head. They are rejected when the records before them are written. */
  readonly conflicts: { readonly waiting: WaitingAppend; readonly error: HeadConflict }[];
  text: string;
  bytes: number;
  end: ChainEnd;
}

interface GroupContext {
  /** The owner of the journal in messages. */
  readonly name: string;
  readonly refusals: Refusals;
  readonly nowMs: number;
  /** Bytes of the journal and its parts before the group. */
  readonly size: number;
  /** The limit of the whole journal in bytes. */
  readonly maxBytes: number;
}

/** Adds the lines of all records of one append to the group, or none. Rejects the append if one does not fit. */
export function addToGroup(
  group: AppendGroup,
  waiting: WaitingAppend,
  { name, refusals, nowMs, size, maxBytes }: GroupContext,
): void {
  const { inputs, expectedHead, isOverQuota = false } = waiting;
  if (expectedHead !== undefined && expectedHead.hash !== group.end.hash) {
    group.conflicts.push({ waiting, error: new HeadConflict(`${name} journal`, expectedHead, group.end) });
    return;
  }
  const records: (EncodedRecord & { bytes: number })[] = [];
  let { end, bytes } = group;
  for (const input of inputs) {
    const record = encodeRecord(input, end, randomHex(saltBytes), nowMs);
    const lineBytes = Buffer.byteLength(record.line);
    bytes += lineBytes;
    if (lineBytes > maxLineBytes) return waiting.reject(refusals.tooLong(lineBytes));
    if (!isOverQuota && size + bytes > maxBytes) return waiting.reject(refusals.full(size + bytes, maxBytes));
    end = record.end;
    records.push({ ...record, bytes: lineBytes });
  }
  for (const { line } of records) group.text += line;
  group.bytes = bytes;
  group.end = end;
  group.written.push({ waiting, records });
}
