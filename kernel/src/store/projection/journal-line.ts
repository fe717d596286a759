import type { JsonValue } from "../../base/json.ts";
import type { RecordKind, RecordOperation } from "../../memory-contract/records.ts";
import type { JournalRecord } from "./port.ts";

/*
 * A line of the journal, as `journal/record.ts` writes it: `{"data":…,"salt":"…","hash":"…",<chained>}`, and for a
 * redacted record `{"redacted":true,"hash":"…",<chained>}`, with <chained> =
 * "data_hash":"…","id":…,"kind":"…","operation":"…","previous_hash":"…","seq":…,"timestamp":"…". The kernel has proven
 * the line; here it is only read, and a line that cannot be read is an error.
 */

/** The record's position in the chain, and the offsets of its parts in the line. */
export interface Link {
  readonly seq: number;
  readonly hash: string;
  readonly previousHash: string;
  readonly kind: RecordKind;
  readonly operation: RecordOperation;
  /** Offset of the line's last part, which begins with the record's hash. */
  readonly tailStart: number;
}

const saltMark = ',"salt":"';
const hashMark = '"hash":"';
const redactedStart = '{"redacted":true,';
const saltLength = 32;
const hashLength = 64;
const kindMark = '"kind":"';
const operationMark = '","operation":"';
const previousMark = '","previous_hash":"';
const seqMark = '","seq":';
const timestampMark = ',"timestamp":"';
const timestampLength = 24;
const kinds: ReadonlySet<string> = new Set<RecordKind>(["temporal", "knowledge", "working", "policy"]);
const operations: ReadonlySet<string> = new Set<RecordOperation>(["store", "update", "delete", "redact"]);

/** Returns null if the line is not a record. */
export function readLink(line: string): Link | null {
  // Quotation marks in strings are escaped, so the last marks delimit the parts.
  const seqEnd = line.length - timestampMark.length - timestampLength - 2;
  const seqStart = line.lastIndexOf(seqMark, seqEnd) + seqMark.length;
  const previousStart = seqStart - seqMark.length - hashLength;
  const operationEnd = previousStart - previousMark.length;
  const operationStart = line.lastIndexOf(operationMark, operationEnd) + operationMark.length;
  const kindEnd = operationStart - operationMark.length;
  const kindStart = line.lastIndexOf(kindMark, kindEnd) + kindMark.length;
  const kind = line.slice(kindStart, kindEnd);
  const operation = line.slice(operationStart, operationEnd);
  const seq = Number(line.slice(seqStart, seqEnd));
  const tailStart = tailOf(line);
  const isWhole =
    tailStart > 0 &&
    kinds.has(kind) &&
    operations.has(operation) &&
    Number.isSafeInteger(seq) &&
    seq > 0 &&
    line.startsWith(previousMark, operationEnd) &&
    line.startsWith(timestampMark, seqEnd) &&
    line.endsWith('"}');
  if (!isWhole) return null;
  const hashStart = tailStart + hashMark.length;
  return {
    seq,
    hash: line.slice(hashStart, hashStart + hashLength),
    previousHash: line.slice(previousStart, previousStart + hashLength),
    kind: kind as RecordKind,
    operation: operation as RecordOperation,
    tailStart,
  };
}

function tailOf(line: string): number {
  if (line.startsWith(redactedStart) && line.startsWith(hashMark, redactedStart.length))
    return redactedStart.length;
  const mark = line.lastIndexOf(saltMark);
  const start = mark + saltMark.length + saltLength + '",'.length;
  return mark > 0 && line.startsWith(hashMark, start) ? start : -1;
}

/** Returns the whole record; null if the line is not valid JSON. */
export function readRecord(line: string, { seq, kind, operation }: Link): JournalRecord | null {
  let parsed: { readonly data?: JsonValue; readonly id?: unknown; readonly redacted?: unknown };
  try {
    parsed = JSON.parse(line);
  } catch {
    return null;
  }
  const { id, data } = parsed;
  const isRedacted = parsed.redacted === true;
  if (typeof id !== "string" || (data === undefined) !== isRedacted) return null;
  const writtenMs = Date.parse(line.slice(-2 - timestampLength, -2));
  if (Number.isNaN(writtenMs)) return null;
  return { seq, writtenMs, operation, kind, id, data: data ?? null };
}
