import { extract } from "tar-stream";
import { gunzipAtMost } from "../platform/inflate.ts";
import { packageBounds as bounds, packageEnding } from "./bounds.ts";
import { refusedPackage } from "./package-error.ts";

/** Bytes of a tarball when unpacked, and its entries; npm's packages carry more than the one file. */
const maxUnpackedBytes = 2 * bounds.maxPackageBytes;
const maxEntries = 20_000;

/** Returns the bytes of the one package in an npm tarball. Throws InvalidDocument if there is none, or more than one. */
export async function packageInTarball(tarball: Uint8Array, name: string): Promise<Uint8Array> {
  const wrong = (what: string): Error =>
    refusedPackage("damaged", `The npm package ${name} ${what}. It is not used.`);
  const archive = gunzipAtMost(tarball, maxUnpackedBytes);
  if (archive === null)
    throw wrong(`is not a tarball, or has more than ${maxUnpackedBytes} bytes when unpacked`);
  const reader = extract();
  // The loop throws the reader's errors. Ending the input keeps it from waiting.
  reader.end(Buffer.from(archive));
  let found: Uint8Array | null = null;
  let entries = 0;
  try {
    for await (const entry of reader) {
      if (++entries > maxEntries) throw wrong(`has more than ${maxEntries} files`);
      const { type, name: path, size } = entry.header;
      if (type !== "file" || !path.endsWith(packageEnding)) {
        entry.resume();
        continue;
      }
      if (found !== null) throw wrong(`holds more than one ${packageEnding} file`);
      if (size > bounds.maxPackageBytes) throw wrong(`holds a package of ${size} bytes`);
      const pieces: Uint8Array[] = [];
      for await (const piece of entry) pieces.push(piece as Uint8Array);
      found = Buffer.concat(pieces);
    }
  } catch (error) {
    // The library's own errors have no code.
    if (error instanceof Error && error.constructor === Error)
      throw wrong(`is a broken tarball: ${error.message}`);
    throw error;
  }
  if (found === null)
    throw wrong(
      `holds no ${packageEnding} file, so it is not a package of Lares. Its author adds one with lares pack`,
    );
  return found;
}
