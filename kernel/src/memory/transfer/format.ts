import { invalidParams, LaresError } from "../../base/errors.ts";
import { canonicalJson, isJsonObject } from "../../base/json.ts";
import { maxDimensions } from "../../base/vocabulary/bounds.ts";
import { type ChainEnd, chainStart } from "../../memory-contract/records.ts";

/** The file's first bytes. */
export const magic = Buffer.from("LARESMEM", "latin1");
/** The version that this kernel writes, and the newest that it reads. */
export const formatVersion = 1;
export const preambleBytes = magic.length + 4;

const segmentKinds = ["META", "WITNESS", "POLICY", "VEC", "END"] as const;
export type SegmentKind = (typeof segmentKinds)[number];

const kindBytes = 8;
/** Kind and length, before a segment's content. */
export const segmentHeaderBytes = kindBytes + 8;
/** SHA-256, after a segment's content. */
export const digestBytes = 32;

export const maxMetaBytes = 4096;
/** Bytes of a page of vectors. All segments except those of the journal are read whole. */
export const maxVectorPageBytes = 4 * 1024 * 1024;
/** Segments of all kinds. The journal's have 64 MiB each, so this bounds their list and not the size of a memory. */
export const maxSegments = 100_000;
const maxNameLength = 256;

/** The file's description of itself. It is not trusted until the chain was proven to end at `head`. */
export interface Meta {
  /** The exported memory: "extension/<id>", "namespace/<name>". */
  readonly from: string;
  /** When it was exported; UTC, ISO 8601. */
  readonly created: string;
  /** The chain's last record, and the size of the whole journal. */
  readonly head: ChainEnd & { readonly bytes: number };
  /** The vectors in the file; null if it has none. */
  readonly vectors: VectorsMeta | null;
}

export interface VectorsMeta {
  /** Kind, model and dimensions; vectors with the same embedder can be compared. */
  readonly embedder: string;
  readonly dimensions: number;
}

export function encodePreamble(): Buffer {
  const bytes = Buffer.alloc(preambleBytes);
  magic.copy(bytes);
  bytes.writeUInt32LE(formatVersion, magic.length);
  return bytes;
}

export function checkPreamble(bytes: Buffer, path: string): void {
  if (bytes.length < preambleBytes || !bytes.subarray(0, magic.length).equals(magic))
    throw invalidParams(`"${path}" is not an export of a memory.`, { path });
  const version = bytes.readUInt32LE(magic.length);
  if (version > formatVersion) {
    throw invalidParams(
      `"${path}" has version ${version} of the format; this kernel reads up to version ${formatVersion}. Import it with a newer Lares.`,
      { path, version, supported: formatVersion },
    );
  }
  if (version < 1) throw damaged(magic.length, "there is no version 0 of the format");
}

export function encodeSegmentHeader(kind: SegmentKind, length: number): Buffer {
  const bytes = Buffer.alloc(segmentHeaderBytes);
  bytes.write(kind, "latin1");
  bytes.writeBigUInt64LE(BigInt(length), kindBytes);
  return bytes;
}

/** `room` is the remaining size of the file, so that a wrong length is found before anything is allocated for it. */
export function decodeSegmentHeader(
  bytes: Buffer,
  offset: number,
  room: number,
): { readonly kind: SegmentKind; readonly length: number } {
  const name = bytes.toString("latin1", 0, kindBytes).replace(/(?<!\0)\0+$/, "");
  const kind = segmentKinds.find((known) => known === name);
  if (kind === undefined) throw damaged(offset, "no segment of a known kind begins here");
  const length = bytes.readBigUInt64LE(kindBytes);
  if (length > BigInt(Math.max(0, room)))
    throw damaged(offset, `its ${kind} segment says ${length} bytes, and the file ends before`);
  return { kind, length: Number(length) };
}

/** Returns canonical JSON of exactly these fields, so that there is one encoding. */
export function encodeMeta({ from, created, head, vectors }: Meta): Buffer {
  return Buffer.from(
    canonicalJson({
      from,
      created,
      head: { seq: head.seq, hash: head.hash, bytes: head.bytes },
      vectors: vectors === null ? null : { embedder: vectors.embedder, dimensions: vectors.dimensions },
    }),
  );
}

export function decodeMeta(bytes: Buffer, offset: number): Meta {
  const text = bytes.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw damaged(offset, "its description is not JSON");
  }
  if (!isMeta(value) || !bytes.equals(encodeMeta(value)))
    throw damaged(offset, "its description does not have the right form");
  return value;
}

function isMeta(value: unknown): value is Meta {
  if (!isJsonObject(value)) return false;
  const { from, created, head, vectors } = value;
  return (
    isName(from) &&
    typeof created === "string" &&
    isTime(created) &&
    isJsonObject(head) &&
    isCount(head["seq"]) &&
    isCount(head["bytes"]) &&
    typeof head["hash"] === "string" &&
    /^[0-9a-f]{64}$/.test(head["hash"]) &&
    head["hash"] !== chainStart.hash &&
    (vectors === null ||
      (isJsonObject(vectors) &&
        isName(vectors["embedder"]) &&
        isCount(vectors["dimensions"]) &&
        vectors["dimensions"] <= maxDimensions))
  );
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length >= 1 && value.length <= maxNameLength;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1;
}

/** Returns true for UTC, ISO 8601 with milliseconds: the only form in which times are stored. */
export function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Returns the error for a file that is not what was written. `offset`: bytes from its start. */
export function damaged(offset: number, reason: string): LaresError {
  return new LaresError(
    "StorageError",
    `The file is not as it was exported: ${reason} (at byte ${offset}). Nothing was imported. Copy it again, or export the memory again.`,
    { offset, reason },
  );
}
