import type { Entry } from "@lares/sdk";
import type { ExifFacts } from "@lares/sdk/exif";
import type { XmpFacts } from "@lares/sdk/xmp";
import type { Position } from "./geo.ts";
import type { Look } from "./look.ts";

/** The custom field `facts`: what the file's EXIF and its own XMP say, and of which state of the file. */
export interface StoredFacts extends ExifFacts, Partial<XmpFacts> {
  readonly of: string;
}

/** The custom field `look`: how the picture looks, and of which state of the file. Without a look it cannot be decoded. */
export interface StoredLook {
  readonly of: string;
  readonly look?: Look;
}

/** The custom field `sidecar`: what the XMP files beside the photo say, and of which state of them. */
export interface StoredSidecar extends XmpFacts {
  readonly of: string;
}

/**
 * The custom field `faces`: who is in the photo, and of which state of the file, read by which models. The faces themselves are
 * in the sidecar `faces`, in the same order.
 */
export interface StoredFaces {
  readonly of: string;
  readonly model: string;
  /** The person of each face: an id, "" before it is assigned, or `nobody`. */
  readonly people: readonly string[];
}

/** A photo as the index and its custom fields describe it. */
export interface Photo {
  readonly id: string;
  readonly path: string;
  readonly tags: readonly string[];
  /** From its own XMP and files beside it, as are the people. */
  readonly keywords?: readonly string[];
  readonly people?: readonly string[];
  /** The state of those files; undefined if there were none when it was looked at. */
  readonly sidecarState?: string;
  /** Milliseconds of the camera's clock, counted as if that were UTC. */
  readonly time?: number;
  readonly at?: Position;
  readonly look?: Look;
  /** Absent if the job has not looked for faces in this state of the file. */
  readonly faces?: Pick<StoredFaces, "model" | "people">;
  /** Its facts, or its look, are missing or of an older state of the file. */
  readonly needsFacts: boolean;
  readonly needsLook: boolean;
}

export const namespace = "photos";
/** Clocks that are ahead by more than this are wrong. */
const aheadMs = 36 * 60 * 60 * 1000;
/** Where the clock of a camera starts that has lost its time. */
const resets = ["1970-01-01", "1980-01-01", "2000-01-01"];
const resetMs = 60 * 60 * 1000;

/** The state of a file that its facts are of: they are read again when it differs. */
export function stateOf({ size, modified }: Pick<Entry, "size" | "modified">): string {
  return `${size} ${modified}`;
}

/** Combines an entry with its custom fields. Fields that do not have the expected shape are ignored. */
export function photoOf(entry: Entry, now: number): Photo {
  const own = entry.fields[namespace] ?? {};
  const state = stateOf(entry);
  const facts = (isOf(own["facts"], state) ? own["facts"] : undefined) as StoredFacts | undefined;
  const look = (isOf(own["look"], state) ? own["look"] : undefined) as StoredLook | undefined;
  const time = timeOf(facts?.taken, entry.name, now);
  return {
    id: entry.id,
    path: entry.path,
    tags: entry.tags,
    ...(time === undefined ? {} : { time }),
    ...(isPosition(facts?.position) ? { at: facts.position } : {}),
    ...(isLook(look?.look) ? { look: look.look } : {}),
    ...namesOf(facts, own["sidecar"]),
    ...facesOf(own["faces"], state),
    needsFacts: facts === undefined,
    needsLook: look === undefined,
  };
}

/** Returns the keywords and people that the photo's own XMP names, then those of the files beside it. */
function namesOf(
  facts: StoredFacts | undefined,
  sidecar: unknown,
): Pick<Photo, "keywords" | "people" | "sidecarState"> {
  const { of, keywords, people } = (sidecar ?? {}) as Partial<Record<keyof StoredSidecar, unknown>>;
  const isRead = typeof of === "string" && of !== "";
  const both = (own: unknown, beside: unknown): string[] => [
    ...new Set([...textsIn(own), ...(isRead ? textsIn(beside) : [])]),
  ];
  return {
    ...(isRead ? { sidecarState: of } : {}),
    keywords: both(facts?.keywords, keywords),
    people: both(facts?.people, people),
  };
}

function facesOf(value: unknown, state: string): Pick<Photo, "faces"> {
  if (!isOf(value, state)) return {};
  const { model, people } = value as Partial<Record<keyof StoredFaces, unknown>>;
  return typeof model === "string" ? { faces: { model, people: textsIn(people) } } : {};
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function isOf(value: unknown, state: string): boolean {
  return typeof value === "object" && value !== null && "of" in value && value.of === state;
}

function isPosition(value: unknown): value is Position {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every((part) => typeof part === "number" && Math.abs(part) <= 180) &&
    Math.abs(Number(value[0])) <= 90
  );
}

function isLook(value: unknown): value is Look {
  if (typeof value !== "object" || value === null) return false;
  const { signs, sure, colour, contrast } = value as Partial<Record<keyof Look, unknown>>;
  const areBits = [signs, sure].every((bits) => typeof bits === "string" && /^[0-9a-f]{16}$/.test(bits));
  return (
    areBits &&
    typeof contrast === "number" &&
    Array.isArray(colour) &&
    colour.length === 3 &&
    colour.every((part) => typeof part === "number")
  );
}

/** Returns when a photo was taken: by its EXIF, else by a name such as IMG_20240503_141522; undefined if neither says. */
export function timeOf(taken: string | undefined, name: string, now: number): number | undefined {
  return plausible(taken, now) ?? plausible(timeInName(name), now);
}

/** A clock that was reset, or is ahead, would put photos where they do not belong. */
function plausible(time: string | undefined, now: number): number | undefined {
  if (typeof time !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(time)) return undefined;
  const at = Date.parse(`${time}Z`);
  if (Number.isNaN(at) || at > now + aheadMs) return undefined;
  const isReset = resets.some((day) => {
    const since = at - Date.parse(`${day}T00:00:00Z`);
    return since >= 0 && since < resetMs;
  });
  return isReset ? undefined : at;
}

function timeInName(name: string): string | undefined {
  const parts =
    /(?<!\d)((?:19|20)\d\d)([-_]?)([01]\d)\2([0-3]\d)(?:[-_ T]([0-2]\d)[-_.]?([0-5]\d)[-_.]?([0-5]\d))?/.exec(
      name,
    );
  if (parts === null) return undefined;
  const [, year, , month, day, hour = "12", minute = "00", second = "00"] = parts;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const at = new Date(`${iso}Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(iso) ? iso : undefined;
}
