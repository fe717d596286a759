import { zipSync, type Zippable } from "fflate";
import { sha256Hex } from "../platform/files/hash.ts";
import { checksum, inflateExactly } from "../platform/inflate.ts";
import { packageBounds as bounds, recordName } from "./bounds.ts";
import { NameClashes, nameFault, shownPath } from "./file-names.ts";
import { refusedPackage } from "./package-error.ts";
import { readRecord, recordText, signedRecord, type PackageRecord } from "./package-record.ts";
import { fixed, readLayout, type PackedEntry } from "./zip-layout.ts";

/** A package whose signature and every byte are verified. */
export interface VerifiedPackage {
  readonly record: PackageRecord;
  /** By path, without PACKAGE.json; sorted. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** PACKAGE.json as it stands in the package. */
  readonly recordBytes: Uint8Array;
  /** Bytes of the package. */
  readonly size: number;
  readonly sha256: string;
}

/** The name that a package's file has. */
export const packageName = ({ id, version }: Pick<PackageRecord, "id" | "version">): string =>
  `${id}-${version}.lares`;

/**
 * Signs and packs files by their paths. The same files and key make the same bytes on every machine: contents are
 * stored as they are, because compressors differ between versions. Throws InvalidDocument for a name that a package cannot have.
 */
export function writePackage(
  about: { readonly id: string; readonly version: string },
  files: ReadonlyMap<string, Uint8Array>,
  key: { readonly publicKey: Uint8Array; readonly privateKey: Uint8Array },
): Uint8Array {
  checkFiles(files);
  const record = new TextEncoder().encode(recordText(signedRecord(about, files, key)));
  return writeArchive(new Map([...files, [recordName, record]]));
}

/** Writes an archive of exactly the form that `readLayout` takes. */
export function writeArchive(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const sorted = [...files].toSorted(([one], [other]) => compareBytes(one, other));
  // The time is read from the date in the machine's own time zone.
  const options = { level: 0, os: fixed.host, attrs: fixed.attributes, mtime: new Date(1980, 0, 1) } as const;
  const entries: Zippable = Object.fromEntries(sorted.map(([path, bytes]) => [path, [bytes, options]]));
  return zipSync(entries);
}

function checkFiles(files: ReadonlyMap<string, Uint8Array>): void {
  const clashes = new NameClashes();
  clashes.add(recordName);
  let all = 0;
  if (files.size > bounds.maxFiles)
    throw refusedPackage(
      "too-large",
      `A package has at most ${bounds.maxFiles} files; this one would have ${files.size}.`,
    );
  for (const [path, bytes] of files) {
    const fault = nameFault(path);
    if (fault !== null)
      throw refusedPackage(
        "bad-name",
        `The name of ${shownPath(path)} ${fault}. Rename the file, so that it can be installed everywhere.`,
      );
    const clash = clashes.add(path);
    if (clash !== null)
      throw refusedPackage(
        "duplicate-name",
        `${shownPath(path)} and ${shownPath(clash)} are the same name on some systems. Rename one of them.`,
      );
    all += bytes.length;
    if (bytes.length > bounds.maxFileBytes || all > bounds.maxUnpackedBytes)
      throw refusedPackage(
        "too-large",
        `With ${shownPath(path)} (${bytes.length} bytes) the package would be too large: a file has at most ${bounds.maxFileBytes} bytes, all together ${bounds.maxUnpackedBytes}.`,
      );
  }
}

/**
 * Verifies a package: the archive's form, its record's signature, and every file against the record. Throws InvalidDocument with
 * a sentence that says what is wrong; nothing of the package was used then.
 */
export function readPackage(bytes: Uint8Array): VerifiedPackage {
  const entries = readLayout(bytes);
  const recordEntry = entries.find(({ path }) => path === recordName);
  if (recordEntry === undefined)
    throw refusedPackage(
      "record",
      `It has no ${recordName}, so it is not a package of Lares. Make one with: lares pack`,
    );
  if (recordEntry.size > bounds.maxRecordBytes)
    throw refusedPackage(
      "record",
      `${recordName} of the package has ${recordEntry.size} bytes; at most ${bounds.maxRecordBytes} are allowed.`,
    );
  const recordBytes = contentOf(recordEntry);
  const record = readRecord(recordBytes);
  const files = new Map<string, Uint8Array>();
  for (const entry of entries) {
    if (entry === recordEntry) continue;
    const expected = Object.hasOwn(record.files, entry.path) ? record.files[entry.path] : undefined;
    if (expected === undefined)
      throw refusedPackage(
        "extra-file",
        `${shownPath(entry.path)} is in the package and was not signed. The package is not used.`,
      );
    const content = contentOf(entry);
    if (sha256Hex(content) !== expected)
      throw refusedPackage(
        "changed",
        `${shownPath(entry.path)} in the package is not the file that was signed: it was changed since. The package is not used.`,
      );
    files.set(entry.path, content);
  }
  const missing = Object.keys(record.files).find((path) => !files.has(path));
  if (missing !== undefined)
    throw refusedPackage(
      "missing-file",
      `${shownPath(missing)} was signed and is not in the package. The package is not used.`,
    );
  return { record, files, recordBytes, size: bytes.length, sha256: sha256Hex(bytes) };
}

function contentOf({ path, isDeflated, crc, size, packed }: PackedEntry): Uint8Array {
  const content = isDeflated ? inflateExactly(packed, size) : packed;
  if (content === null)
    throw refusedPackage(
      "bomb",
      `${shownPath(path)} does not unpack to the ${size} bytes that the package says. It is not used.`,
    );
  if (checksum(content) !== crc)
    throw refusedPackage(
      "changed",
      `${shownPath(path)} in the package was damaged or changed: its checksum is wrong. The package is not used.`,
    );
  return content;
}

/** By the bytes of UTF-8, as archives are sorted. */
function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
