import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { systemCode } from "../../base/errors.ts";
import { openDataFile, piecesOf } from "./data-files.ts";

/**
 * Returns the paths, relative to a folder and with slashes, of the files that hold one of the texts. Follows no links.
 * `isSkipped` is asked with such a path: a database or lock that this process has open must not be opened here, because
 * closing it would drop the locks.
 */
export async function filesWith(
  folder: string,
  texts: readonly string[],
  bounds: { readonly files: number; readonly bytes: number; isSkipped(path: string): boolean },
): Promise<{ readonly paths: readonly string[]; readonly isWhole: boolean }> {
  const wanted = texts.map((text) => Buffer.from(text));
  const paths: string[] = [];
  let bytes = 0;
  let files = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path).split(sep).join("/");
    if (bounds.isSkipped(name)) continue;
    try {
      await using file = await openDataFile(path, "r");
      files++;
      bytes += file.size;
      if (files > bounds.files || bytes > bounds.bytes) return { paths, isWhole: false };
      if (await hasOne(file, wanted)) paths.push(name);
    } catch (error) {
      // Databases remove their journals meanwhile.
      if (!isMissing(error)) throw error;
    }
  }
  return { paths, isWhole: true };
}

async function hasOne(
  file: Parameters<typeof piecesOf>[0] & { readonly size: number },
  wanted: readonly Buffer[],
): Promise<boolean> {
  const overlap = Math.max(0, ...wanted.map(({ length }) => length - 1));
  let end = Buffer.alloc(0);
  for await (const piece of piecesOf(file, 0, file.size)) {
    const bytes = Buffer.concat([end, piece]);
    if (wanted.some((each) => bytes.includes(each))) return true;
    end = Buffer.from(bytes.subarray(Math.max(0, bytes.length - overlap)));
  }
  return false;
}

function isMissing(error: unknown): boolean {
  return systemCode(error) === "ENOENT" || (error instanceof Error && systemCode(error.cause) === "ENOENT");
}
