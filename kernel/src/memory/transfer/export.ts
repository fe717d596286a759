import type { Clock } from "../../base/clock.ts";
import { isoTime } from "../../base/clock.ts";
import { LaresError, storageError } from "../../base/errors.ts";
import type { MemoryExport } from "../../base/vocabulary/memory-reports.ts";
import { NewFile } from "../../platform/files/chosen-files.ts";
import { piecesOf, readPieces } from "../../platform/files/data-files.ts";
import type { Anchor } from "../../journal/anchor.ts";
import { scanJournal } from "../../journal/scan.ts";
import { encodeMeta, segmentHeaderBytes, type VectorsMeta } from "./format.ts";
import { memoryRecords } from "../records/kinds.ts";
import { type LinePlace, RecordWalk } from "./records.ts";
import { encodeVectorPages, type VectorItem } from "./vectors.ts";
import { findSegments, type Segment } from "../../memory-contract/segments.ts";
import { ContainerWriter } from "./writer.ts";

/** A memory to be exported. It may stay in use: later records are not exported. */
export interface ExportSource {
  /** "extension/<id>", "namespace/<name>" */
  readonly name: string;
  /** Absolute. Its segments may grow during the export, but must not change otherwise. */
  readonly journalFolder: string;
  /** Everything up to here is acknowledged; `size` is the journal's size up to it. */
  readonly end: Anchor;
  /** Vectors that save the importer from embedding; absent if there are none. */
  readonly vectors?: VectorsMeta & { readonly pages: AsyncIterable<readonly VectorItem[]> };
}

interface ExportOptions {
  /** Absolute. */
  readonly path: string;
  /** Replaces an existing file. */
  readonly overwrite: boolean;
  readonly clock: Pick<Clock, "now">;
  /** The export rejects with its reason when it is aborted, and leaves no file. */
  readonly signal?: AbortSignal;
}

export type Exported = Readonly<MemoryExport>;

/**
 * Writes the memory into one file, which is either complete or absent. Proves the chain in the written bytes before
 * the file gets its name. Throws StorageError if the journal is damaged, NotFound if the memory is empty.
 */
export async function exportMemory(source: ExportSource, options: ExportOptions): Promise<Exported> {
  const { end, journalFolder, name, vectors } = source;
  const { signal } = options;
  if (end.seq === 0) {
    throw new LaresError("NotFound", "There is nothing in this memory yet, so nothing was exported.", {
      memory: name,
    });
  }
  const segments = cutTo(await findSegments(journalFolder), end.size);
  await using file = await NewFile.create(options.path, options);
  const writer = await ContainerWriter.begin(file);
  const meta = {
    from: name,
    created: isoTime(options.clock.now()),
    head: { seq: end.seq, hash: end.hash, bytes: end.size },
    vectors: vectors ?? null,
  };
  await writer.whole("META", encodeMeta(meta));
  const walk = new RecordWalk();
  const written: Segment[] = [];
  for (const { path, size } of segments) {
    const start = file.size + segmentHeaderBytes;
    await writer.segment("WITNESS", size, watched(readPieces(path, size), walk, start, signal));
    written.push({ path: file.temporaryPath, size, start });
  }
  signal?.throwIfAborted();
  await prove(written, end);
  await writePolicies(writer, file, walk.policies);
  let count = 0;
  if (vectors !== undefined) {
    for await (const page of encodeVectorPages(vectors.pages, vectors.dimensions)) {
      signal?.throwIfAborted();
      count += page.readUInt32LE(0);
      await writer.whole("VEC", page);
    }
  }
  await writer.end();
  signal?.throwIfAborted();
  await file.keep();
  return { path: options.path, records: end.seq, head: end.hash, bytes: file.size, vectors: count };
}

/** Returns the first `bytes` of a journal. */
function cutTo(segments: readonly Segment[], bytes: number): Segment[] {
  let left = bytes;
  return segments
    .map(({ path, size }) => {
      const kept = Math.min(size, left);
      left -= kept;
      return { path, size: kept };
    })
    .filter(({ size }) => size > 0);
}

/** Yields the same pieces after the walk has seen each. */
async function* watched(
  pieces: AsyncIterable<Uint8Array>,
  walk: RecordWalk,
  start: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  walk.begin(start);
  for await (const piece of pieces) {
    signal?.throwIfAborted();
    walk.push(piece);
    yield piece;
  }
  walk.end();
}

async function prove(segments: readonly Segment[], end: Anchor): Promise<void> {
  const found = await scanJournal(segments, end, memoryRecords);
  if (found.firstBad !== null) {
    const { seq, reason } = found.firstBad;
    throw new LaresError(
      "StorageError",
      `The journal is damaged at seq ${seq}: ${reason}. Nothing was exported.`,
      { firstBad: found.firstBad },
    );
  }
  if (found.end.seq !== end.seq || found.size !== end.size)
    throw storageError("The journal was rewritten while it was exported. Try again.");
}

/** Writes all policy records once more, so that a reader finds them without reading the journal. */
async function writePolicies(
  writer: ContainerWriter,
  file: NewFile,
  places: readonly LinePlace[],
): Promise<void> {
  if (places.length === 0) return;
  const lines = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for (const { offset, length } of places) yield* piecesOf(file, offset, length);
  };
  const length = places.reduce((sum, place) => sum + place.length, 0);
  await writer.segment("POLICY", length, lines());
}
