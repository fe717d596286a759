import { canonicalJson, isJsonObject } from "../../base/json.ts";
import { nestsDeeperThan } from "../../base/json-depth.ts";
import { sha256Sum } from "../../platform/files/hash.ts";
import { Tally } from "../../journal/tally.ts";
import { memoryRecords } from "../records.ts";
import { damaged, isTime } from "./format.ts";
import {
  maxIdLength,
  maxLineBytes,
  type RecordKind,
  type RecordOperation,
} from "../../memory-contract/records.ts";
import { RecordRules, type SaidRecord } from "./rules.ts";

const lineFeed = 0x0a;
const operations = ["store", "update", "delete", "redact"] as const satisfies RecordOperation[];
/** What every record has beside its data and salt, and keeps when it is redacted. */
const chainedFields = ["hash", "data_hash", "id", "kind", "operation", "previous_hash", "seq", "timestamp"];
/** Deeper than what any agent could have stored; it keeps later readers from running out of stack. */
const maxDepth = 1000;

/** Where a record's line lies in its file, line feed included. */
export interface LinePlace {
  readonly offset: number;
  readonly length: number;
}

/**
 * Looks at the records of a journal while its bytes go by. The chain proves that they are what was written, not that
 * a kernel wrote them: somebody who makes a chain of their own can put anything into it, and nothing that could not be
 * a record may get as far as those who read records.
 */
export class RecordWalk {
  records = 0;
  /** When the first and the last were written down. */
  first: string | null = null;
  last: string | null = null;
  /** Lines of kind policy. */
  readonly policies: LinePlace[] = [];
  /** Records that have their data. */
  readonly tally = new Tally<RecordKind>();
  readonly #policySum = sha256Sum();
  readonly #rules = new RecordRules();
  #carried: Buffer = Buffer.alloc(0);
  #offset = 0;

  /** What comes now is a segment that begins here in its file. */
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
    if (this.#carried.length > maxLineBytes)
      throw damaged(this.#offset, "a record in it is longer than one can be");
  }

  /** The segment is over; a record does not go on in the next. */
  end(): void {
    if (this.#carried.length > 0) throw damaged(this.#offset, "its last record has no end");
  }

  /** SHA-256 of all lines of kind policy, one after the other. */
  policyDigest(): Uint8Array {
    return this.#policySum.digest();
  }

  #line(line: Buffer): void {
    const place = { offset: this.#offset, length: line.length };
    const record = recordOf(line);
    if (record === null) throw damaged(place.offset, `record ${this.records + 1} has not the form of one`);
    const broken = this.#rules.broken(record);
    if (broken !== null) throw damaged(place.offset, broken);
    if (record.kind === "policy") {
      this.policies.push(place);
      this.#policySum.update(line);
    }
    this.records += 1;
    if (!record.isRedacted) this.tally.add(record, line.length);
    this.first ??= record.timestamp;
    this.last = record.timestamp;
    this.#offset += line.length;
  }
}

interface SeenRecord extends SaidRecord {
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
    // No JSON, or none that has a canonical form, such as a number without end.
    return null;
  }
}

function hasExactly(record: Record<string, unknown>, fields: readonly string[]): boolean {
  return (
    Object.keys(record).length === fields.length && fields.every((field) => Object.hasOwn(record, field))
  );
}

/** There is one way to write a record: so no field stands in it twice, and what stands for its data is one value. */
function written(record: Record<string, unknown>): string {
  const { data, ...rest } = record;
  if (data === undefined) return JSON.stringify(record);
  return `{"data":${canonicalJson(data)},${JSON.stringify(rest).slice(1)}`;
}
