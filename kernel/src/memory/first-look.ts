import { canonicalJson, isJsonObject } from "../base/json.ts";
import { openDataFile } from "../platform/data-files.ts";
import { parsed } from "./journal/lines.ts";
import type { DecodedRecord } from "./journal/record.ts";
import type { RecordPlace } from "./journal/scan.ts";
import { eventTimeOf } from "./temporal.ts";

/** A record, and where it was found while the journal was read. */
export interface FoundRecord {
  readonly record: DecodedRecord;
  readonly place: RecordPlace;
}

/** What is remembered of a journal while it is proven: so that it need not be read a second time. */
export class FirstLook {
  /** The newest working record that has its data. */
  working: FoundRecord | null = null;
  #policy: FoundRecord | null = null;
  /** The time of the oldest event that has its data. */
  oldestEvent: string | null = null;
  /** Seq of the last record that redacts what queries find; 0 where there is none. */
  lastForgotten = 0;

  visit(record: DecodedRecord, place: RecordPlace, line: Buffer): void {
    if (record.operation === "redact" && (record.kind === "temporal" || record.kind === "knowledge"))
      this.lastForgotten = record.end.seq;
    if (record.isRedacted || record.operation === "redact") return;
    if (record.kind === "working") this.working = { record, place };
    else if (record.kind === "policy") this.#policy = { record, place };
    const time = eventTimeOf(record, line);
    if (time !== null && (this.oldestEvent === null || time < this.oldestEvent)) this.oldestEvent = time;
  }

  /** Canonical JSON of the newest policy record; null where there is none. */
  async readPolicy(): Promise<string | null> {
    if (this.#policy === null) return null;
    const policy = parsed(await readData(this.#policy));
    return isJsonObject(policy) ? canonicalJson(policy) : null;
  }
}

export async function readData({ record, place }: FoundRecord): Promise<string> {
  await using file = await openDataFile(place.segment.path, "r");
  const bytes = Buffer.alloc(record.dataEnd - record.dataStart);
  await file.readInto(bytes, place.offset + record.dataStart);
  return bytes.toString("utf8");
}
