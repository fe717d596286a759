import { type Clock, isoTime } from "../base/clock.ts";
import { invalidParams, messageOf } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { canonicalJson, type JsonValue } from "../base/json.ts";
import type { MemoryFields } from "../base/vocabulary/memory-calls.ts";
import type { Place } from "../memory-contract/queries.ts";
import type { Journal } from "../journal/journal.ts";
import type { RecordHead } from "../journal/record.ts";
import type { RecordKind } from "../memory-contract/records.ts";
import { parseTimestamp } from "./timestamps.ts";

/** Characters of a variant's or a relation's name. */
const maxNameLength = 128;

/** Characters of a source's name: in a shared memory it begins with its agent's. */
const maxSourceLength = 512;

export type EventAddition = Omit<MemoryFields<"temporalAppend">, "namespace">;

/** Events on their way into the journal, and how far back they go. */
export class TemporalMemory {
  readonly #journal: Journal<RecordKind>;
  readonly #clock: Pick<Clock, "now">;
  /** No event that still has its data is older. ISO times of four-digit years sort as texts. */
  oldest: string | null;

  constructor(journal: Journal<RecordKind>, clock: Pick<Clock, "now">, oldest: string | null) {
    this.#journal = journal;
    this.#clock = clock;
    this.oldest = oldest;
  }

  async append({ variant, data, timestamp, ...place }: EventAddition): Promise<{ readonly id: string }> {
    const name = checkedName("variant", variant);
    const time = isoTime(timestamp === undefined ? this.#clock.now() : parseTimestamp(timestamp));
    const id = newId();
    const { position, source } = placeFields(place);
    const placed = `${position === undefined ? "" : `,"position":${position}`}${source === undefined ? "" : `,"source":${source}`}`;
    const text = `{"data":${jsonOf(data)}${placed},"timestamp":"${time}","variant":${JSON.stringify(name)}}`;
    await this.#journal.append([{ operation: "store", kind: "temporal", id, data: text }]);
    this.seen(time);
    return { id };
  }

  /** There is an event of this time. */
  seen(time: string): void {
    if (this.oldest === null || time < this.oldest) this.oldest = time;
  }
}

/** A name that agents choose: of a variant, of a relation. */
export function checkedName(what: string, name: string): string {
  if (name.length === 0 || name.length > maxNameLength || !name.isWellFormed()) {
    throw invalidParams(`A ${what} has 1 to ${maxNameLength} characters; this one has ${name.length}.`);
  }
  return name;
}

/** Canonical JSON of where something stands in its source. */
export function placeFields({ source, position }: Place): { position?: string; source?: string } {
  if (source !== undefined && (source === "" || source.length > maxSourceLength || !source.isWellFormed())) {
    throw invalidParams(`A source has 1 to ${maxSourceLength} characters; this one has ${source.length}.`);
  }
  if (position !== undefined && !Number.isFinite(position)) {
    throw invalidParams(`The position is ${position}; it must be a finite number.`);
  }
  return {
    ...(position === undefined ? {} : { position: jsonOf(position) }),
    ...(source === undefined ? {} : { source: jsonOf(source) }),
  };
}

/** Canonical JSON of what an agent gave. */
export function jsonOf(data: JsonValue): string {
  try {
    return canonicalJson(data);
  } catch (error) {
    throw invalidParams(`The data has no JSON form: ${messageOf(error)}`);
  }
}

const timestampMark = Buffer.from(',"timestamp":"');
const timestampLength = 24;

/** The time of the event that a record stored, as it stands there; null where the record stored none. */
export function eventTimeOf(
  { kind, operation, isRedacted, dataStart, dataEnd }: RecordHead<RecordKind>,
  line: Buffer,
): string | null {
  if (kind !== "temporal" || operation !== "store" || isRedacted) return null;
  // Only the variant comes after it, and in that no quotation mark stands bare.
  const mark = line.lastIndexOf(timestampMark, dataEnd);
  const start = mark + timestampMark.length;
  return mark < dataStart ? null : line.toString("latin1", start, start + timestampLength);
}
