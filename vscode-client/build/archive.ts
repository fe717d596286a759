import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { openPromise } from "yauzl";

interface ArchivedFile {
  /** In the archive, with "/"; what the extension has lies below "extension/". */
  readonly path: string;
  readonly sizeBytes: number;
  readonly compressedBytes: number;
}

/** What is in a .vsix. */
export async function filesIn(vsix: string): Promise<ArchivedFile[]> {
  const zip = await openPromise(vsix);
  const files: ArchivedFile[] = [];
  for await (const { fileName, uncompressedSize, compressedSize } of zip.eachEntry())
    files.push({ path: fileName, sizeBytes: uncompressedSize, compressedBytes: compressedSize });
  return files;
}

/** Unpacks a .vsix of this project's own making as an editor does, executables kept executable. */
export async function unpackVsix(vsix: string, folder: string): Promise<void> {
  const zip = await openPromise(vsix);
  for await (const entry of zip.eachEntry()) {
    const target = join(folder, entry.fileName);
    await mkdir(dirname(target), { recursive: true });
    const mode = (entry.externalFileAttributes >>> 16) & 0o777;
    await pipeline(
      await zip.openReadStreamPromise(entry),
      createWriteStream(target, { mode: mode || 0o644 }),
    );
  }
}

/** Files by what they belong to, the largest first. */
export function piecesOf(files: readonly ArchivedFile[]): Map<string, ArchivedFile[]> {
  const pieces = new Map<string, ArchivedFile[]>();
  for (const file of files) {
    const name = pieceOf(file.path);
    pieces.set(name, [...(pieces.get(name) ?? []), file]);
  }
  const size = (piece: readonly ArchivedFile[]): number => sum(piece, "compressedBytes");
  return new Map([...pieces].toSorted(([, one], [, other]) => size(other) - size(one)));
}

export function sum(files: readonly ArchivedFile[], what: "sizeBytes" | "compressedBytes"): number {
  return files.reduce((total, file) => total + file[what], 0);
}

const names: readonly (readonly [RegExp, string])[] = [
  [/^extension\/kernel\/node\//, "Node"],
  [/\/@duckdb\//, "DuckDB (temporal memory)"],
  [/\/(@esbuild|esbuild)\//, "esbuild (bundles agents' programs)"],
  [/\/usearch\//, "usearch (vectors)"],
  [/\/@(img|emnapi)\//, "sharp (thumbnails of pictures)"],
  [/\/@wasmer\//, "Wasmer (the sandbox)"],
  [/\/lares\/build-output\//, "the guest in the sandbox"],
  [/\/lares\//, "the kernel, its SDK and first-party extensions"],
  [/^extension\/kernel\/lib\//, "the kernel's other packages"],
  [/^extension\/media\//, "icons and pictures"],
  [/^extension\/node_modules\//, "the plugin for TypeScript's server"],
];

function pieceOf(path: string): string {
  return names.find(([pattern]) => pattern.test(path))?.[1] ?? "the client";
}
