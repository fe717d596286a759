import { LaresError } from "../base/errors.ts";
import { canonicalJson, isJsonObject, type JsonValue } from "../base/json.ts";
import { joinPath, openDataFile } from "../platform/files/data-files.ts";
import { sha256Hex } from "../platform/files/hash.ts";
import { parsed } from "../journal/lines.ts";
import type { DecodedRecord } from "../journal/record.ts";
import type { RecordPlace } from "../journal/scan.ts";
import type { Fold } from "../journal/proof.ts";
import type { RecordKind } from "../memory-contract/records.ts";
import { eventTimeOf } from "./temporal.ts";

/** A record that has its data, and the place where the proof found it. */
export interface FoundRecord {
  readonly seq: number;
  readonly salt: string;
  readonly dataHash: string;
  /** The segment's file in the journal's folder. */
  readonly file: string;
  /** Where its data begins and ends in that file, in bytes. */
  readonly dataStart: number;
  readonly dataEnd: number;
}

/** Collects what a memory needs from its journal during the proof, so that it need not be read twice. */
export class JournalSummary implements Fold<RecordKind> {
  readonly #journalFolder: string;
  /** The newest working record that has its data. */
  working: FoundRecord | null = null;
  #policy: FoundRecord | null = null;
  /** The time of the oldest event that has its data. */
  oldestEvent: string | null = null;
  /** Seq of the last record that redacts something that queries find; 0 if there is none. */
  lastForgotten = 0;

  constructor(journalFolder: string) {
    this.#journalFolder = journalFolder;
  }

  /** Continues from a saved state; null if that is invalid. */
  static from(journalFolder: string, saved: JsonValue): JournalSummary | null {
    if (!isJsonObject(saved)) return null;
    const { working, policy, oldestEvent, lastForgotten } = saved;
    if (!isFoundOrNull(working) || !isFoundOrNull(policy)) return null;
    if (oldestEvent !== null && typeof oldestEvent !== "string") return null;
    if (typeof lastForgotten !== "number") return null;
    const look = new JournalSummary(journalFolder);
    look.working = working;
    look.#policy = policy;
    look.oldestEvent = oldestEvent;
    look.lastForgotten = lastForgotten;
    return look;
  }

  save(): JsonValue {
    return {
      working: this.working === null ? null : { ...this.working },
      policy: this.#policy === null ? null : { ...this.#policy },
      oldestEvent: this.oldestEvent,
      lastForgotten: this.lastForgotten,
    };
  }

  visit(record: DecodedRecord<RecordKind>, place: RecordPlace, line: Buffer): void {
    if (record.operation === "redact" && (record.kind === "temporal" || record.kind === "knowledge"))
      this.lastForgotten = record.end.seq;
    if (record.isRedacted || record.operation === "redact") return;
    if (record.kind === "working") this.working = this.#found(record, place);
    else if (record.kind === "policy") this.#policy = this.#found(record, place);
    const time = eventTimeOf(record, line);
    if (time !== null && (this.oldestEvent === null || time < this.oldestEvent)) this.oldestEvent = time;
  }

  /** Returns the canonical JSON of the newest policy record; null if there is none. */
  async readPolicy(): Promise<string | null> {
    if (this.#policy === null) return null;
    const policy = parsed(await readData(this.#journalFolder, this.#policy));
    return isJsonObject(policy) ? canonicalJson(policy) : null;
  }

  #found(record: DecodedRecord<RecordKind>, { segment, offset }: RecordPlace): FoundRecord {
    return {
      seq: record.end.seq,
      salt: record.salt,
      dataHash: record.dataHash,
      file: segment.path.slice(this.#journalFolder.length + 1),
      dataStart: offset + record.dataStart,
      dataEnd: offset + record.dataEnd,
    };
  }
}

/** Throws StorageError if the data is not what was written: nothing else checks data before a checkpoint. */
export async function readData(
  journalFolder: string,
  { seq, salt, dataHash, file: name, dataStart, dataEnd }: FoundRecord,
): Promise<string> {
  const path = joinPath(journalFolder, name);
  await using file = await openDataFile(path, "r");
  const bytes = Buffer.alloc(Math.max(0, Math.min(dataEnd, file.size) - dataStart));
  await file.readInto(bytes, dataStart);
  const data = bytes.toString("utf8");
  if (sha256Hex(`{"data":${data},"salt":"${salt}"}`) === dataHash) return data;
  const reason = "its data_hash does not match its data";
  throw new LaresError(
    "StorageError",
    `The memory journal in "${journalFolder}" is damaged at seq ${seq}: ${reason}.`,
    {
      firstBad: { seq, reason },
    },
  );
}

const segmentName = /^[0-9]{6}\.ndjson$/;

function isFoundOrNull(value: unknown): value is FoundRecord | null {
  if (value === null) return true;
  if (!isJsonObject(value)) return false;
  const { seq, salt, dataHash, file, dataStart, dataEnd } = value;
  return (
    typeof salt === "string" &&
    typeof dataHash === "string" &&
    typeof file === "string" &&
    segmentName.test(file) &&
    [seq, dataStart, dataEnd].every((count) => Number.isSafeInteger(count))
  );
}
