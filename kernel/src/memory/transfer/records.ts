import { canonicalJson, isJsonObject } from "../../base/json.ts";
import { nestsDeeperThan } from "../../base/json-depth.ts";
import { sha256Sum } from "../../platform/files/hash.ts";
import { Tally } from "../../journal/tally.ts";
import { memoryRecords } from "../records/kinds.ts";
import { RecordMarks } from "../records/marks.ts";
import { damaged, isTime } from "./format.ts";
import {
  maxIdLength,
  maxLineBytes,
  type RecordKind,
  type RecordOperation,
} from "../../memory-contract/records.ts";
import { RecordRules, type CheckedRecord } from "./rules.ts";

const lineFeed = 0x0a;
const operations = ["store", "update", "delete", "redact"] as const satisfies RecordOperation[];
/** The fields of a record besides data and salt, which a redacted record keeps. */
const chainedFields = ["hash", "data_hash", "id", "kind", "operation", "previous_hash", "seq", "timestamp"];
/** Deeper than any data that an agent could have stored; protects later readers from stack overflow. */
const maxDepth = 1000;

/** The place of a record's line in its file, including the line feed. */
export interface LinePlace {
  readonly offset: number;
  readonly length: number;
}

/**
 * Checks the records of a journal while its bytes are streamed. The chain proves that they are what was written,
 * but not that a kernel wrote them: anybody can create a chain with arbitrary content, so data that is not a valid
 * record must not reach the readers of records.
 */
export class RecordWalk {
  records = 0;
  /** When the first and the last record were written. */
  first: string | null = null;
  last: string | null = null;
  /** Lines of kind policy. */
  readonly policies: LinePlace[] = [];
  /** Counts the records that have their data. */
  readonly tally = new Tally<RecordKind>();
  readonly marks = new RecordMarks();
  readonly #policySum = sha256Sum();
  readonly #rules = new RecordRules();
  #carried: Buffer = Buffer.alloc(0);
  #offset = 0;

  /** Starts a segment that begins at this offset of its file. */
  begin(offset: number): void {
    this.#offset = offset;
  }

  push(piece: Uint8Array): void {
    const bytes = Buffer.concat([this.#carried, piece]);
    let start = 0;
    for (let stop = bytes.indexOf(lineFeed); stop >= 0; stop = bytes.indexOf(lineFeed, start)) {
      this.#line(bytes.subarray(start, stop + 1));
      start = stop + 1;
    }
    this.#carried = bytes.subarray(start);
    if (this.#carried.length > maxLineBytes) throw damaged(this.#offset, "a record in it is too long");
  }

  /** Ends the segment; a record never continues in the next. */
  end(): void {
    if (this.#carried.length > 0) throw damaged(this.#offset, "its last record has no end");
  }

  /** Returns the SHA-256 of all policy lines in order. */
  policyDigest(): Uint8Array {
    return this.#policySum.digest();
  }

  #line(line: Buffer): void {
    const place = { offset: this.#offset, length: line.length };
    const record = recordOf(line);
    if (record === null) throw damaged(place.offset, `record ${this.records + 1} is malformed`);
    const broken = this.#rules.broken(record);
    if (broken !== null) throw damaged(place.offset, broken);
    if (record.kind === "policy") {
      this.policies.push(place);
      this.#policySum.update(line);
    }
    this.records += 1;
    if (!record.isRedacted) {
      this.tally.add(record, line.length);
      if (record.operation !== "redact") this.marks.add(record.kind, record.id, record.data);
    }
    this.first ??= record.timestamp;
    this.last = record.timestamp;
    this.#offset += line.length;
  }
}

interface SeenRecord extends CheckedRecord {
  readonly timestamp: string;
  readonly isRedacted: boolean;
}

function recordOf(line: Buffer): SeenRecord | null {
  if (line.length > maxLineBytes || nestsDeeperThan(line, maxDepth)) return null;
  try {
    const record: unknown = JSON.parse(line.toString("utf8"));
    if (!isJsonObject(record) || !line.equals(Buffer.from(`${written(record)}\n`))) return null;
    const { id, timestamp, redacted } = record;
    const operation = operations.find((known) => known === record["operation"]);
    const kind = memoryRecords.kinds.find((known) => known === record["kind"]);
    const isWhole = hasExactly(record, ["data", "salt", ...chainedFields]);
    const isRedacted = redacted === true && hasExactly(record, ["redacted", ...chainedFields]);
    const isRecord =
      (isWhole || isRedacted) &&
      operation !== undefined &&
      kind !== undefined &&
      typeof id === "string" &&
      id.length <= maxIdLength &&
      typeof timestamp === "string" &&
      isTime(timestamp);
    return isRecord ? { kind, operation, id, data: record["data"], timestamp, isRedacted } : null;
  } catch {
    // Not JSON, or without a canonical form, such as an infinite number.
    return null;
  }
}

function hasExactly(record: Record<string, unknown>, fields: readonly string[]): boolean {
  return (
    Object.keys(record).length === fields.length && fields.every((field) => Object.hasOwn(record, field))
  );
}

/** A record has exactly one encoding, so no field occurs twice and its data is one value. */
function written(record: Record<string, unknown>): string {
  const { data, ...rest } = record;
  if (data === undefined) return JSON.stringify(record);
  return `{"data":${canonicalJson(data)},${JSON.stringify(rest).slice(1)}`;
}
