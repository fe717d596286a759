import { LaresError, limitExceeded } from "../../base/errors.ts";
import type { MemoryImport } from "../../base/vocabulary/memory-reports.ts";
import { openChosenFile } from "../../platform/files/chosen-files.ts";
import {
  type DataFile,
  fileSize,
  joinPath,
  listFiles,
  makeFolder,
  makeNewFolder,
  openDataFile,
  piecesOf,
  putFolderInPlace,
  removeFile,
  removeFolder,
  synchronizeFolder,
} from "../../platform/files/data-files.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { sha256Sum } from "../../platform/files/hash.ts";
import type { Anchor } from "../../journal/anchor.ts";
import { scanJournal } from "../../journal/scan.ts";
import { countsOf, type StoredCounts } from "../records/heads.ts";
import { memoryRecords } from "../records/kinds.ts";
import type { RecordMarks } from "../records/marks.ts";
import { damaged, type Meta, type VectorsMeta } from "./format.ts";
import { type Container, readContainer, vectorsIn } from "./reader.ts";
import { RecordWalk } from "./records.ts";
import type { ChainEnd } from "../../memory-contract/records.ts";
import { findSegments, type Segment } from "../../memory-contract/segments.ts";
import type { VectorItem } from "./vectors.ts";

/** The folder in which an import is built, beside the journal that it will replace. */
const importingName = "importing";
const journalName = "journal";

/** An empty memory that is not open. */
export interface ImportTarget {
  /** Absolute; contains the journal. */
  readonly memoryFolder: string;
  /** The known end of the memory: an import may restore it or extend it, but not be behind it. */
  readonly anchor: Anchor | undefined;
  /** The head that a person saw and confirmed; another one is refused with DigestMismatch. */
  readonly expectedHead?: string;
  /** The limit of the journal in bytes. */
  readonly maxBytes: number;
  /** Receives what the records hold of texts that nobody vouches for, before anybody can read one. */
  storeMarks?(marks: RecordMarks): Promise<void>;
  /** Called when the journal is in its place and on the disk. Pending redactions are completed when it is opened. */
  storeAnchor(anchor: Anchor, counts: StoredCounts): Promise<void>;
  /** Receives the imported vectors page by page, for an embedder of the same name. They are unproven. */
  takeVectors?(vectors: VectorsMeta, pages: AsyncIterable<readonly VectorItem[]>): Promise<void>;
}

/** The content of the file. Everything is proven except `from` and `created`, which the exporter chose. */
export type ExportDescription = Readonly<Omit<MemoryImport, "imported">>;

/** Proves a file as an import does, and writes nothing. */
export async function describeExport(path: string, expectedHead?: string): Promise<ExportDescription> {
  await using file = await openChosenFile(path);
  const container = await readContainer(file);
  checkExpected(container, expectedHead);
  const walk = await walkRecords(file, container, async () => discard);
  const segments = container.witnesses.map(({ offset, length }) => ({
    path: file.path,
    size: length,
    start: offset,
  }));
  await proveChain(segments, container.meta.head, undefined);
  return description(container, walk);
}

/**
 * Replaces an empty journal by the file's. Proves everything first: digests, the form of each record, the chain
 * from its root, its head. A crash leaves the memory either empty or complete. Throws Conflict if the memory is not
 * empty, InvalidParams or StorageError if the file is not what was exported, DigestMismatch if it is not the
 * expected one, LimitExceeded if it is too large.
 */
export async function importMemory(path: string, target: ImportTarget): Promise<ExportDescription> {
  const { memoryFolder, maxBytes, anchor } = target;
  const journalFolder = joinPath(memoryFolder, journalName);
  await using file = await openChosenFile(path);
  await checkEmpty(journalFolder);
  const container = await readContainer(file);
  const { head } = container.meta;
  checkExpected(container, target.expectedHead);
  if (head.bytes > maxBytes) {
    const message = `The journal in the file has ${head.bytes} bytes, over the max_storage_mb of ${Math.floor(maxBytes / (1024 * 1024))}. Nothing was imported. Raise the limit in the manifest.`;
    throw limitExceeded("max_storage_mb", head.bytes, message);
  }
  await makeFolder(memoryFolder);
  await removeUnfinishedImport(memoryFolder);
  const importing = joinPath(memoryFolder, importingName);
  try {
    await makeNewFolder(importing);
    const walk = await walkRecords(file, container, (index) => extracted(importing, index));
    await synchronizeFolder(importing);
    failpoint("import.extracted");
    await proveChain(await findSegments(importing), head, anchor);
    failpoint("import.proven");
    await checkEmpty(journalFolder);
    await target.storeMarks?.(walk.marks);
    for (const name of await listFiles(journalFolder)) await removeFile(joinPath(journalFolder, name));
    await putFolderInPlace(importing, journalFolder);
    failpoint("import.placed");
    await target.storeAnchor(
      { seq: head.seq, hash: head.hash, size: head.bytes, carriedOut: 0 },
      countsOf(walk.tally),
    );
    failpoint("import.anchored");
    if (container.meta.vectors !== null)
      await target.takeVectors?.(container.meta.vectors, vectorsIn(file, container));
    return description(container, walk);
  } catch (error) {
    // The original error counts; the next import removes the remains.
    await removeFolder(importing).catch(() => undefined);
    throw error;
  }
}

function checkExpected({ meta: { head } }: Container, expected: string | undefined): void {
  if (expected === undefined || expected === head.hash) return;
  throw new LaresError(
    "DigestMismatch",
    `The file's head is ${head.hash}, but ${expected} was expected: the file has another memory, or another state of it. Nothing was imported.`,
    { head: head.hash, expected },
  );
}

/** Removes the remains of an import whose kernel died. The caller must be the only writer there. */
export function removeUnfinishedImport(memoryFolder: string): Promise<void> {
  return removeFolder(joinPath(memoryFolder, importingName));
}

interface Sink extends AsyncDisposable {
  take(piece: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

const discard: Sink = {
  take: () => Promise.resolve(),
  end: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

async function extracted(folder: string, index: number): Promise<Sink> {
  const path = joinPath(folder, `${String(index + 1).padStart(6, "0")}.ndjson`);
  const file = await openDataFile(path, "a");
  return {
    take: (piece) => file.append(piece),
    end: () => file.synchronize(),
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

/** Passes the journal's segments to sinks, and checks each record on the way. */
async function walkRecords(
  file: DataFile,
  { witnesses, policy, meta }: Container,
  sinkOf: (index: number) => Promise<Sink>,
): Promise<RecordWalk> {
  const walk = new RecordWalk();
  for (const [index, { offset, length }] of witnesses.entries()) {
    await using sink = await sinkOf(index);
    walk.begin(offset);
    for await (const piece of piecesOf(file, offset, length)) {
      walk.push(piece);
      await sink.take(piece);
    }
    walk.end();
    await sink.end();
  }
  const bytes = witnesses.reduce((sum, { length }) => sum + length, 0);
  if (bytes !== meta.head.bytes)
    throw damaged(0, `it says ${meta.head.bytes} bytes of journal, and has ${bytes}`);
  const sum = sha256Sum();
  if (policy !== null)
    for await (const piece of piecesOf(file, policy.offset, policy.length)) sum.update(piece);
  if (Buffer.compare(sum.digest(), walk.policyDigest()) !== 0)
    throw damaged(policy?.offset ?? 0, "its policy is not the one in its journal");
  return walk;
}

async function proveChain(
  segments: readonly Segment[],
  head: Meta["head"],
  anchor: ChainEnd | undefined,
): Promise<void> {
  let reachesAnchor = anchor === undefined || anchor.seq === 0;
  const found = await scanJournal(segments, head, memoryRecords, ({ end }) => {
    reachesAnchor ||= end.seq === anchor?.seq && end.hash === anchor.hash;
  });
  const { firstBad } = found;
  if (firstBad !== null) {
    throw new LaresError(
      "StorageError",
      `The chain in the file is broken at seq ${firstBad.seq}: ${firstBad.reason}. Nothing was imported.`,
      { firstBad },
    );
  }
  if (found.end.seq !== head.seq || found.size !== head.bytes)
    throw damaged(0, `its chain does not end at the head it names, record ${head.seq}`);
  if (!reachesAnchor && anchor !== undefined) {
    throw new LaresError(
      "Conflict",
      `This memory is known to have had ${anchor.seq} records, the last with hash ${anchor.hash}, and the file does not have that record: it is older, or another memory's. Nothing was imported. Import a newer export, or put the journal back from a backup.`,
      { seq: anchor.seq, hash: anchor.hash },
    );
  }
}

/** An opened memory in which nothing was ever stored has an empty segment. */
async function checkEmpty(journalFolder: string): Promise<void> {
  for (const name of await listFiles(journalFolder)) {
    if (((await fileSize(joinPath(journalFolder, name))) ?? 0) === 0) continue;
    throw new LaresError(
      "Conflict",
      "This memory is not empty, and an import does not mix memories. Export it and clear it first, or import into another agent.",
      { folder: journalFolder },
    );
  }
}

function description({ meta, vectors }: Container, { records, first, last }: RecordWalk): ExportDescription {
  const { from, created, head } = meta;
  return {
    from,
    created,
    records,
    head: head.hash,
    first: first ?? created,
    last: last ?? created,
    bytes: head.bytes,
    vectors,
  };
}
