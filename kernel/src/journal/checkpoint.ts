import { isJsonObject, type JsonValue } from "../base/json.ts";
import type { ChainEnd } from "../memory-contract/records.ts";
import type { Segment } from "../memory-contract/segments.ts";
import type { SavedTally } from "./tally.ts";

/** The end of a record's line. */
export interface Mark {
  readonly end: ChainEnd;
  readonly segment: number;
  /** The first byte after the line, in the segment. */
  readonly offset: number;
  /** Bytes of the journal up to this mark. */
  readonly size: number;
}

export const journalStart: Mark = { end: { seq: 0, hash: "0".repeat(64) }, segment: 0, offset: 0, size: 0 };

/**
 * The result of a proof up to a record, from which a later proof continues. It is stored apart from the journal,
 * and made only if a redact record names every earlier record without data. Rewriting a segment invalidates it.
 */
export interface Checkpoint {
  readonly at: Mark;
  /** Some thousand records before `at`. Every opening proves the records after this mark again. */
  readonly again: Mark;
  /** The segments up to the one that contains `at`; the size of that one is `at.offset`. */
  readonly segments: readonly { readonly firstSeq: number; readonly size: number }[];
  /** Seq of the last redact record; 0 if there is none. */
  readonly lastRedact: number;
  /** Records without their data. */
  readonly redacted: number;
  readonly tally: SavedTally;
  /** The fold of the journal's user. */
  readonly state: JsonValue;
}

const version = 1;

export function encodeCheckpoint(checkpoint: Checkpoint): string {
  return JSON.stringify({ version, ...checkpoint });
}

/** Returns null for a text that is not a checkpoint of this version. */
export function decodeCheckpoint(text: string): Checkpoint | null {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (!isJsonObject(read) || read["version"] !== version) return null;
  const { at, again, segments, lastRedact, redacted, tally, state } = read;
  const isWhole =
    isMark(at) &&
    isMark(again) &&
    Array.isArray(segments) &&
    segments.every((each) => isJsonObject(each) && isCount(each["firstSeq"]) && isCount(each["size"])) &&
    segments.length === at.segment + 1 &&
    again.end.seq <= at.end.seq &&
    again.segment <= at.segment &&
    isCount(lastRedact) &&
    isCount(redacted) &&
    Array.isArray(tally) &&
    state !== undefined;
  return isWhole
    ? {
        at,
        again,
        segments: segments as unknown as Checkpoint["segments"],
        lastRedact,
        redacted,
        tally: tally as unknown as SavedTally,
        state: state as JsonValue,
      }
    : null;
}

/** Returns true if the segments on the disk can be those of the checkpoint. */
export function fits({ at, segments: known }: Checkpoint, segments: readonly Segment[]): boolean {
  return known.every(({ size }, index) => {
    const found = segments[index]?.size ?? -1;
    return index === at.segment ? found >= size : found === size;
  });
}

function isMark(value: unknown): value is Mark {
  if (!isJsonObject(value) || !isJsonObject(value["end"])) return false;
  const { segment, offset, size, end } = value;
  return (
    isCount(segment) &&
    isCount(offset) &&
    isCount(size) &&
    isCount(end["seq"]) &&
    typeof end["hash"] === "string"
  );
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
