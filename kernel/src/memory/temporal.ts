import { maxVariantLength } from "../base/vocabulary/bounds.ts";
import { type Clock, isoTime } from "../base/clock.ts";
import { invalidParams, messageOf } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { canonicalJson, type JsonValue } from "../base/json.ts";
import type { MemoryFields } from "../base/vocabulary/memory-calls.ts";
import { isForeign, nothingForeign } from "../base/vocabulary/foreign.ts";
import type { Place } from "../memory-contract/queries.ts";
import type { Journal } from "../journal/journal.ts";
import type { RecordHead } from "../journal/record.ts";
import type { RecordKind } from "../memory-contract/records.ts";
import { parseTimestamp } from "./timestamps.ts";

/** Maximum characters of a source's name; in a shared memory it begins with the agent's id. */
const maxSourceLength = 512;

export type EventAddition = Omit<MemoryFields<"temporalAppend">, "namespace">;

/** Writes events to the journal, and knows the time of the oldest. */
export class TemporalMemory {
  readonly #journal: Journal<RecordKind>;
  readonly #clock: Pick<Clock, "now">;
  /** No event that still has its data is older. ISO times with four-digit years sort as text. */
  oldest: string | null;

  constructor(journal: Journal<RecordKind>, clock: Pick<Clock, "now">, oldest: string | null) {
    this.#journal = journal;
    this.#clock = clock;
    this.oldest = oldest;
  }

  /** `foreign`: texts that nobody vouches for and that whoever adds it has read. */
  async append(
    { variant, data, timestamp, ...place }: EventAddition,
    foreign = nothingForeign,
  ): Promise<{ readonly id: string }> {
    const name = checkedName("variant", variant);
    const time = isoTime(timestamp === undefined ? this.#clock.now() : parseTimestamp(timestamp));
    const id = newId();
    const { position, source } = placeFields(place);
    const placed = `${position === undefined ? "" : `,"position":${position}`}${source === undefined ? "" : `,"source":${source}`}`;
    const marked = isForeign(foreign) ? `,"foreign":${jsonOf(foreign)}` : "";
    const text = `{"data":${jsonOf(data)}${marked}${placed},"timestamp":"${time}","variant":${JSON.stringify(name)}}`;
    await this.#journal.append([{ operation: "store", kind: "temporal", id, data: text }]);
    this.seen(time);
    return { id };
  }

  /** Records that there is an event of this time. */
  seen(time: string): void {
    if (this.oldest === null || time < this.oldest) this.oldest = time;
  }
}

/** Checks a name that agents choose, of a variant or a relation. */
export function checkedName(what: string, name: string): string {
  if (name.length === 0 || name.length > maxVariantLength || !name.isWellFormed()) {
    throw invalidParams(`A ${what} has 1 to ${maxVariantLength} characters; this one has ${name.length}.`);
  }
  return name;
}

/** Returns the canonical JSON of an item's place in its source. */
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

/** Returns the canonical JSON of an agent's data. */
export function jsonOf(data: JsonValue): string {
  try {
    return canonicalJson(data);
  } catch (error) {
    throw invalidParams(`The data has no JSON form: ${messageOf(error)}`);
  }
}

const timestampMark = Buffer.from(',"timestamp":"');
const timestampLength = 24;

/** Returns the time of the event that a record stored, as written; null if the record stored none. */
export function eventTimeOf(
  { kind, operation, isRedacted, dataStart, dataEnd }: RecordHead<RecordKind>,
  line: Buffer,
): string | null {
  if (kind !== "temporal" || operation !== "store" || isRedacted) return null;
  // Only the variant follows, in which quotation marks are escaped.
  const mark = line.lastIndexOf(timestampMark, dataEnd);
  const start = mark + timestampMark.length;
  return mark < dataStart ? null : line.toString("latin1", start, start + timestampLength);
}
