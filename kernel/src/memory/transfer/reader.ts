import { type DataFile, piecesOf } from "../../platform/files/data-files.ts";
import { sha256Sum } from "../../platform/files/hash.ts";
import {
  checkPreamble,
  damaged,
  decodeMeta,
  decodeSegmentHeader,
  digestBytes,
  maxMetaBytes,
  maxSegments,
  maxVectorPageBytes,
  type Meta,
  preambleBytes,
  segmentHeaderBytes,
  type SegmentKind,
} from "./format.ts";
import { decodeVectorPage, type VectorItem } from "./vectors.ts";

/** A container with random access. */
export type ContainerFile = Pick<DataFile, "path" | "size" | "readInto">;

/** The place of a segment's content. */
interface Content {
  readonly kind: SegmentKind;
  readonly offset: number;
  readonly length: number;
}

/** A container in which every byte was verified by a digest. */
export interface Container {
  readonly meta: Meta;
  /** The journal's segments, in order. */
  readonly witnesses: readonly Content[];
  readonly policy: Content | null;
  readonly vectorPages: readonly Content[];
  /** The number of vectors on all pages. */
  readonly vectors: number;
  readonly sizeBytes: number;
}

/** The kinds of segments that may follow each kind. */
const following: Readonly<Record<SegmentKind, readonly SegmentKind[]>> = {
  META: ["WITNESS"],
  WITNESS: ["WITNESS", "POLICY", "VEC", "END"],
  POLICY: ["VEC", "END"],
  VEC: ["VEC", "END"],
  END: [],
};

/** Reads the whole container, piece by piece. Throws InvalidParams or StorageError if it is not what was written. */
export async function readContainer(file: ContainerFile): Promise<Container> {
  const preamble = await bytesAt(file, 0, Math.min(preambleBytes, file.size));
  checkPreamble(preamble, file.path);
  const sum = sha256Sum().update(preamble);
  const contents: Content[] = [];
  let meta: Meta | null = null;
  let vectors = 0;
  let allowed: readonly SegmentKind[] = ["META"];
  for (let offset = preambleBytes; ;) {
    const content = await contentAt(file, offset);
    const { kind, length } = content;
    if (!allowed.includes(kind)) throw damaged(offset, `a ${kind} segment does not belong here`);
    allowed = following[kind];
    if (contents.push(content) > maxSegments) throw damaged(offset, "it has too many segments");
    checkLength(content);
    // Small segments are read whole; the others are streamed.
    const isWhole = kind !== "WITNESS" && kind !== "POLICY";
    const { digest, bytes } = await digestOf(file, offset, length, isWhole);
    offset = content.offset + length + digestBytes;
    if (!digest.equals(await bytesAt(file, offset - digestBytes, digestBytes)))
      throw damaged(content.offset, `its ${kind} segment does not match its digest`);
    if (kind === "END") {
      if (!bytes.equals(sum.digest())) throw damaged(content.offset, "its segments do not match its digest");
      if (offset !== file.size) throw damaged(offset, "something follows its end");
      break;
    }
    sum.update(digest);
    if (kind === "META") meta = decodeMeta(bytes, content.offset);
    if (kind === "VEC") {
      if (meta === null || meta.vectors === null) throw damaged(content.offset, "vectors do not belong here");
      vectors += decodeVectorPage(bytes, meta.vectors.dimensions, content.offset).length;
    }
  }
  if (meta === null) throw damaged(0, "it does not say what it is");
  const of = (kind: SegmentKind): Content[] => contents.filter((content) => content.kind === kind);
  return {
    meta,
    witnesses: of("WITNESS"),
    policy: of("POLICY")[0] ?? null,
    vectorPages: of("VEC"),
    vectors,
    sizeBytes: file.size,
  };
}

/** Yields the vectors of a verified container, one page at a time. */
export async function* vectorsIn(
  file: ContainerFile,
  { meta, vectorPages }: Container,
): AsyncGenerator<readonly VectorItem[], void, undefined> {
  for (const { offset, length } of vectorPages) {
    yield decodeVectorPage(await bytesAt(file, offset, length), meta.vectors?.dimensions ?? 0, offset);
  }
}

async function contentAt(file: ContainerFile, offset: number): Promise<Content> {
  const room = file.size - offset - segmentHeaderBytes - digestBytes;
  if (room < 0) throw damaged(offset, "it is cut off");
  const header = decodeSegmentHeader(await bytesAt(file, offset, segmentHeaderBytes), offset, room);
  return { ...header, offset: offset + segmentHeaderBytes };
}

const maxLengths: Partial<Record<SegmentKind, number>> = {
  META: maxMetaBytes,
  VEC: maxVectorPageBytes,
  END: digestBytes,
};

function checkLength({ kind, offset, length }: Content): void {
  if (length === 0 || length > (maxLengths[kind] ?? Infinity))
    throw damaged(offset, `its ${kind} segment has ${length} bytes`);
}

/** Returns the digest of header and content, and the content itself if it is needed whole. */
async function digestOf(
  file: ContainerFile,
  offset: number,
  length: number,
  isWhole: boolean,
): Promise<{ digest: Buffer; bytes: Buffer }> {
  const sum = sha256Sum();
  const whole = Buffer.alloc(isWhole ? length : 0);
  let at = -segmentHeaderBytes;
  for await (const piece of piecesOf(file, offset, segmentHeaderBytes + length)) {
    sum.update(piece);
    if (isWhole) whole.set(at < 0 ? piece.subarray(-at) : piece, Math.max(0, at));
    at += piece.byteLength;
  }
  return { digest: Buffer.from(sum.digest()), bytes: whole };
}

async function bytesAt(file: ContainerFile, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const count = await file.readInto(bytes, offset);
  if (count < length) throw damaged(offset, "it is cut off");
  return bytes;
}
