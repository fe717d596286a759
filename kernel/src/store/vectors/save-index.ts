import { createHash } from "node:crypto";
import { statfsSync } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { storageError } from "../../base/errors.ts";
import {
  removeLeftoverTemporaries,
  replaceFileAtomically,
  temporaryPathFor,
  writeFileAtomically,
} from "../../platform/files/atomic-file.ts";
import { readPlainText, UnusableFile } from "../../platform/files/plain-file.ts";
import { storageFailure } from "../../platform/files/storage-failure.ts";
import { filePrefix, headOf, openingPath, type SavedParts } from "./index-file.ts";
import {
  type DescribedFile,
  engineNames,
  indexFileName,
  manifestPath,
  manifestText,
  maxManifestBytes,
  parseManifest,
} from "./manifest.ts";
import type { IndexWatermark } from "./port.ts";
import { writeGraph } from "./write-graph.ts";

const pieceBytes = 1024 * 1024;
/** Bytes that must stay free: on a full disk, faiss-node crashes the process instead of throwing. */
const spareBytes = 32 * 1024 * 1024;

/**
 * Replaces the index in the folder as a whole. Throws StorageError if the disk refuses; the old index then remains.
 * Changes after the call are not included.
 */
export async function saveIndex(folder: string, parts: SavedParts, watermark: IndexWatermark): Promise<void> {
  const { shape, engineVersion, rows, labels, count, graph } = parts;
  const path = join(folder, indexFileName(shape.engine));
  const graphPath = temporaryPathFor(path);
  const description = { ...shape, engineVersion, count, watermark };
  try {
    // Everything is taken before the first await.
    const blocks = rows.snapshot();
    const graphSize = graph?.size ?? 0;
    checkSpace(folder, labels.length * (8 + rows.dimensions * 4) + 2 * (graph?.mostBytes ?? 0));
    if (graph !== null) writeGraph(graph, graphPath, graph.mostBytes);

    const graphBytes = graph === null ? 0 : (await stat(graphPath)).size;
    const digest = createHash("sha256");
    let bytes = 0;
    const described = (): DescribedFile => ({ ...description, bytes, sha256: digest.copy().digest("hex") });
    await replaceFileAtomically(
      path,
      async (file) => {
        const write = async (piece: Uint8Array): Promise<void> => {
          digest.update(piece);
          bytes += piece.byteLength;
          await file.writeFile(piece);
        };
        const { precision } = rows;
        await write(headOf({ ...description, precision, rows: labels.length, graphSize, graphBytes }));
        await write(new Uint8Array(labels.buffer, labels.byteOffset, labels.byteLength));
        for (const block of blocks) await write(block);
        if (graph !== null) await eachPiece(graphPath, write);
      },
      {
        // Both files are described until the new one is in place, so that either one is accepted after a crash.
        beforeRename: async () =>
          writeFileAtomically(
            manifestPath(folder),
            manifestText([described(), ...((await readManifest(folder)) ?? [])]),
          ),
      },
    );
    await writeFileAtomically(manifestPath(folder), manifestText([described()]));
    for (const engine of engineNames)
      if (engine !== shape.engine) await rm(join(folder, indexFileName(engine)), { force: true });
    await rm(openingPath(folder), { force: true });
  } catch (error) {
    throw storageFailure(`The vectors in "${folder}" cannot be saved`, error);
  } finally {
    await rm(graphPath, { force: true });
  }
}

/** Removes what was saved, and what a process left that died while it saved. This works on a full disk, too. */
export async function discardIndex(folder: string): Promise<void> {
  try {
    await rm(manifestPath(folder), { force: true });
    for (const engine of engineNames) await rm(join(folder, indexFileName(engine)), { force: true });
    await removeLeftoverTemporaries(folder, filePrefix);
  } catch (error) {
    throw storageFailure(`The vectors in "${folder}" cannot be removed`, error);
  }
}

/** Returns null if there is no readable manifest; it is then replaced. */
export async function readManifest(folder: string): Promise<DescribedFile[] | null> {
  try {
    const text = await readPlainText(manifestPath(folder), maxManifestBytes);
    return text === null ? null : parseManifest(text);
  } catch (error) {
    if (error instanceof UnusableFile) return null;
    throw error;
  }
}

function checkSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < bytes + spareBytes)
    throw storageError(
      `The vectors in "${folder}" cannot be saved: that may take ${Math.ceil(bytes / 1e6)} MB, and less is free. Free some space; until then they are rebuilt at each start.`,
    );
}

async function eachPiece(path: string, take: (piece: Uint8Array) => Promise<void>): Promise<void> {
  await using file = await open(path, "r");
  const piece = new Uint8Array(pieceBytes);
  for (;;) {
    const { bytesRead } = await file.read(piece, 0, pieceBytes, null);
    if (bytesRead === 0) return;
    await take(piece.subarray(0, bytesRead));
  }
}
