import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { isLaresError, messageOf } from "../../base/errors.ts";
import {
  removeLeftoverTemporaries,
  temporaryPathFor,
  writeFileAtomically,
} from "../../platform/files/atomic-file.ts";
import { openPlainFile, readPlainText } from "../../platform/files/plain-file.ts";
import {
  filePrefix,
  type Header,
  headerBytesIn,
  type LoadedParts,
  openingPath,
  parseHeader,
  prefixBytes,
} from "./index-file.ts";
import { type DescribedFile, indexFileName, isSameDescription } from "./manifest.ts";
import type { IndexShape, LoadedIndex, VectorIndex } from "./port.ts";
import { blocksFor, bytesOf, bytesPerRow, rowsFrom, rowsPerBlock } from "./rows.ts";
import { readManifest } from "./save-index.ts";

const pieceBytes = 1024 * 1024;
const maxMarkBytes = 1024;

/** Nothing was loaded, for this reason; the index has to be rebuilt. */
export interface NotLoaded {
  readonly index: null;
  readonly reason: string;
}

/** Why the saved index is not used. */
class Unusable extends Error {}

/**
 * Loads the index in the folder if it is complete, of this shape and of this version of its engine. All bytes are read
 * once, and proven before a native library gets them; the library reads a copy of those bytes. A file that crashed a
 * process is not opened again.
 */
export async function loadIndex(
  folder: string,
  shape: IndexShape,
  engineVersion: string,
  make: (parts: LoadedParts) => VectorIndex | null,
): Promise<LoadedIndex | NotLoaded> {
  try {
    // A process may have died while it saved or loaded.
    await removeLeftoverTemporaries(folder, filePrefix);
    const described = (await readManifest(folder))?.filter((file) => file.engine === shape.engine) ?? [];
    if (described.length === 0) throw new Unusable(`There is no index of ${shape.engine}.`);
    return await read(folder, shape, engineVersion, described, make);
  } catch (error) {
    // An error of the system for these files (missing, not readable, no space for the copy) has the same result.
    const isOfSystem = error instanceof Error && "syscall" in error;
    if (error instanceof Unusable || isOfSystem || isLaresError(error, "StorageError"))
      return { index: null, reason: messageOf(error) };
    throw error;
  }
}

async function read(
  folder: string,
  shape: IndexShape,
  engineVersion: string,
  described: readonly DescribedFile[],
  make: (parts: LoadedParts) => VectorIndex | null,
): Promise<LoadedIndex | NotLoaded> {
  const path = join(folder, indexFileName(shape.engine));
  const graphPath = temporaryPathFor(path);
  try {
    await using file = await openPlainFile(path, "read");
    const { size: bytes } = await file.stat();
    const source = new ProvenSource(file, bytes);
    const header = await readHeader(source);
    if (header.dimensions !== shape.dimensions || header.engine !== shape.engine)
      throw new Unusable(`It has ${header.dimensions} dimensions and was made by ${header.engine}.`);
    if (header.engineVersion !== engineVersion)
      throw new Unusable(`${shape.engine} ${header.engineVersion} made it; ${engineVersion} is here.`);
    // Allocates no more than is on the disk: the sum of all lengths is the file's.
    if (
      source.left !==
      header.rows * (8 + bytesPerRow(header.precision, header.dimensions)) + header.graphBytes
    )
      throw new Unusable("Its length is not the one that its header says.");
    const parts = await readParts(source, header, graphPath);
    const sha256 = source.digest();
    const own = described.find((one) => one.sha256 === sha256 && one.bytes === bytes);
    if (own === undefined) throw new Unusable("Its checksum does not match.");
    if (!isSameDescription(own, header)) throw new Unusable("knowledge.json tells otherwise.");
    const index = await opened(folder, sha256, () => make(parts), parts.graph !== null);
    if (index === null) throw new Unusable("Its parts do not fit together.");
    return { index, watermark: header.watermark };
  } finally {
    await rm(graphPath, { force: true });
  }
}

async function readHeader(source: ProvenSource): Promise<Header> {
  if (source.left < prefixBytes) throw new Unusable("It is cut short.");
  const headerBytes = headerBytesIn(await source.read(prefixBytes));
  if (headerBytes === null || headerBytes > source.left) throw new Unusable("It is not an index.");
  const header = parseHeader((await source.read(headerBytes)).toString());
  if (header === null) throw new Unusable("Its header is not valid.");
  return header;
}

async function readParts(source: ProvenSource, header: Header, graphPath: string): Promise<LoadedParts> {
  const { precision, dimensions, graphSize, count } = header;
  const labels = new Float64Array(header.rows);
  await source.readInto(new Uint8Array(labels.buffer));
  const blocks = blocksFor(precision, dimensions, header.rows);
  for (const [at, block] of blocks.entries()) {
    const rows = Math.min(rowsPerBlock, header.rows - at * rowsPerBlock);
    await source.readInto(bytesOf(block, rows, dimensions));
  }
  if (graphSize > 0) await copyRest(source, graphPath);
  const rows = rowsFrom(precision, dimensions, blocks, header.rows);
  return {
    dimensions,
    rows,
    labels,
    count,
    graph: graphSize > 0 ? { size: graphSize, path: graphPath } : null,
  };
}

async function copyRest(source: ProvenSource, path: string): Promise<void> {
  await using copy = await open(path, "wx", 0o600);
  while (source.left > 0) await copy.writeFile(await source.read(Math.min(pieceBytes, source.left)));
}

/** Leaves a marker while the library reads the file; the marker remains if the process dies. */
async function opened(
  folder: string,
  sha256: string,
  open: () => VectorIndex | null,
  isNative: boolean,
): Promise<VectorIndex | null> {
  if (!isNative) return open();
  const mark = openingPath(folder);
  if ((await readPlainText(mark, maxMarkBytes)) === sha256)
    throw new Unusable("The process died when it was last opened.");
  await writeFileAtomically(mark, sha256);
  try {
    return open();
  } catch (error) {
    throw new Unusable(`The library refuses it: ${messageOf(error)}`, { cause: error });
  } finally {
    await rm(mark, { force: true });
  }
}

/** A file that is read once, from beginning to end, and hashed on the way. */
class ProvenSource {
  readonly #file: FileHandle;
  readonly #digest = createHash("sha256");
  /** Bytes that were not read yet. */
  left: number;

  constructor(file: FileHandle, bytes: number) {
    this.#file = file;
    this.left = bytes;
  }

  async read(bytes: number): Promise<Buffer> {
    const buffer = Buffer.alloc(bytes);
    await this.readInto(buffer);
    return buffer;
  }

  async readInto(buffer: Uint8Array): Promise<void> {
    for (let filled = 0; filled < buffer.byteLength;) {
      const { bytesRead } = await this.#file.read(buffer, filled, buffer.byteLength - filled, null);
      if (bytesRead === 0) throw new Unusable("It is cut short.");
      filled += bytesRead;
    }
    this.#digest.update(buffer);
    this.left -= buffer.byteLength;
  }

  digest(): string {
    return this.#digest.digest("hex");
  }
}
