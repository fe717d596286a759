import { packageBounds as bounds } from "./bounds.ts";
import { NameClashes, nameFault, shownPath } from "./file-names.ts";
import { refusedPackage } from "./package-error.ts";

/** An entry of an archive, found and bounded; its content is not read yet. */
export interface PackedEntry {
  readonly path: string;
  readonly isDeflated: boolean;
  readonly crc: number;
  /** Bytes of the content. */
  readonly size: number;
  /** The content as it stands in the archive. */
  readonly packed: Uint8Array;
}

const signatures = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 } as const;
const lengths = { local: 30, central: 46, end: 22 } as const;

/**
 * The fields of every entry of a package: version 2.0, 1 January 1980, a regular file of Unix with mode 0644. So there is one
 * way to write the names and sizes of a package, and nothing unsigned in it.
 */
export const fixed = {
  version: 20,
  host: 3,
  time: 0,
  date: 0x21,
  attributes: 0o100644 * 2 ** 16,
  utf8Flag: 0x800,
} as const;

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A view of bytes whose presence was checked. */
class Header {
  readonly #view: DataView;
  readonly #at: number;

  constructor(bytes: Uint8Array, at: number, length: number, what: string) {
    if (at < 0 || at + length > bytes.length) throw damaged(`${what} lies outside of the file`);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = at;
  }

  u16(offset: number): number {
    return this.#view.getUint16(this.#at + offset, true);
  }

  u32(offset: number): number {
    return this.#view.getUint32(this.#at + offset, true);
  }
}

const damaged = (what: string): Error =>
  refusedPackage("damaged", `The package cannot be used: ${what}. Get it again, or ask its publisher.`);

/**
 * Finds the entries of an archive, sorted by name. Everything in the file belongs to exactly one entry, the list of entries
 * or the end of the list, and an entry says the same of itself as the list does. Throws InvalidDocument; inflates nothing.
 */
export function readLayout(bytes: Uint8Array): PackedEntry[] {
  const { maxPackageBytes, maxFiles } = bounds;
  if (bytes.length > maxPackageBytes)
    throw refusedPackage(
      "too-large",
      `The package has ${bytes.length} bytes; at most ${maxPackageBytes} are allowed.`,
    );
  const endAt = bytes.length - lengths.end;
  if (endAt < 0) throw damaged("it is too short for an archive");
  const end = new Header(bytes, endAt, lengths.end, "the end of the list");
  if (end.u32(0) !== signatures.end || end.u16(20) !== 0)
    throw damaged("it is not a zip archive, is cut off, or has bytes behind its end");
  const [count, listBytes, listAt] = [end.u16(10), end.u32(12), end.u32(16)];
  if (end.u16(4) !== 0 || end.u16(6) !== 0 || end.u16(8) !== count)
    throw damaged("it is a part of a divided archive");
  if (count === 0xffff || listBytes === 0xffffffff || listAt === 0xffffffff)
    throw damaged("it is in the form zip64, which packages do not need");
  if (count > maxFiles + 1)
    throw refusedPackage("bomb", `The package has ${count} files; at most ${maxFiles} are allowed.`);
  if (listAt + listBytes !== endAt)
    throw damaged("there are bytes between the list of its files and its end");
  return readEntries(bytes, count, listAt, endAt);
}

function readEntries(bytes: Uint8Array, count: number, listAt: number, endAt: number): PackedEntry[] {
  const entries: PackedEntry[] = [];
  const clashes = new NameClashes();
  let unpacked = 0;
  let at = listAt;
  let contentAt = 0;
  let before: Uint8Array | null = null;
  for (let index = 0; index < count; index++) {
    const central = new Header(bytes, at, lengths.central, "its list of files");
    if (central.u32(0) !== signatures.central) throw damaged("its list of files is broken");
    const nameLength = central.u16(28);
    const nameAt = at + lengths.central;
    at = nameAt + nameLength + central.u16(30) + central.u16(32);
    if (at > endAt) throw damaged("its list of files is broken");
    const rawName = bytes.subarray(nameAt, nameAt + nameLength);
    const path = nameOf(rawName);
    checkKind(central, path);
    const clash = clashes.add(path);
    if (clash !== null)
      throw refusedPackage(
        "duplicate-name",
        `The package has ${shownPath(path)} and ${shownPath(clash)}, which are the same name on some systems. It is not used.`,
      );
    const [packedSize, size] = [central.u32(20), central.u32(24)];
    checkSizes(path, packedSize, size, (unpacked += size));
    if (central.u16(30) !== 0 || central.u16(32) !== 0)
      throw damaged(`${shownPath(path)} has extra fields or a comment`);
    const dataAt = checkLocal(bytes, central, rawName, path, contentAt);
    contentAt = dataAt + packedSize;
    if (contentAt > listAt) throw damaged(`${shownPath(path)} is cut off`);
    if (before !== null && compare(before, rawName) >= 0) throw damaged("its files are not sorted by name");
    before = rawName;
    checkFixed(central, path, rawName);
    entries.push({
      path,
      isDeflated: central.u16(10) === 8,
      crc: central.u32(16),
      size,
      packed: bytes.subarray(dataAt, contentAt),
    });
  }
  if (at !== endAt) throw damaged("its list of files has more bytes than files");
  if (contentAt !== listAt) throw damaged("there are bytes that belong to none of its files");
  return entries;
}

function nameOf(raw: Uint8Array): string {
  let path: string;
  try {
    path = strict.decode(raw);
  } catch {
    throw refusedPackage("bad-name", "The package has a file whose name is not UTF-8. It is not used.");
  }
  if (path.endsWith("/"))
    throw refusedPackage(
      "bad-name",
      `The package has an entry for the folder ${shownPath(path)}; a package has files only. It is not used.`,
    );
  const fault = nameFault(path);
  if (fault !== null)
    throw refusedPackage(
      "bad-name",
      `The package has a file whose name ${shownPath(path)} ${fault}. It is not used.`,
    );
  return path;
}

/** Refuses links, devices and folders, whichever system they are of. */
function checkKind(central: Header, path: string): void {
  const mode = central.u16(40);
  const kind = mode & 0o170000;
  if (kind === 0o120000)
    throw refusedPackage("link", `${shownPath(path)} in the package is a link. It is not used.`);
  if ((kind !== 0 && kind !== 0o100000) || (central.u16(38) & 0x10) !== 0)
    throw refusedPackage("link", `${shownPath(path)} in the package is not a regular file. It is not used.`);
}

function checkSizes(path: string, packedSize: number, size: number, unpacked: number): void {
  const { maxFileBytes, maxUnpackedBytes, maxRatio } = bounds;
  if (packedSize === 0xffffffff || size === 0xffffffff)
    throw damaged(`${shownPath(path)} is in the form zip64, which packages do not need`);
  if (size > maxFileBytes)
    throw refusedPackage(
      "bomb",
      `${shownPath(path)} in the package has ${size} bytes when unpacked; at most ${maxFileBytes} are allowed.`,
    );
  if (unpacked > maxUnpackedBytes)
    throw refusedPackage(
      "bomb",
      `The package has more than ${maxUnpackedBytes} bytes when unpacked, so it is not unpacked.`,
    );
  if (size > packedSize * maxRatio)
    throw refusedPackage(
      "bomb",
      `${shownPath(path)} would grow from ${packedSize} to ${size} bytes when unpacked, more than ${maxRatio} times. It is not unpacked.`,
    );
}

/** Compares an entry's own header with the list's; returns where its content begins. */
function checkLocal(
  bytes: Uint8Array,
  central: Header,
  rawName: Uint8Array,
  path: string,
  expectedAt: number,
): number {
  const at = central.u32(42);
  if (at !== expectedAt)
    throw damaged(`there are bytes in front of ${shownPath(path)} that belong to no file`);
  const local = new Header(bytes, at, lengths.local, shownPath(path));
  if (local.u32(0) !== signatures.local) throw damaged(`${shownPath(path)} is not where the list says`);
  const nameLength = local.u16(26);
  const nameAt = at + lengths.local;
  const ownName = bytes.subarray(nameAt, nameAt + nameLength);
  if (ownName.length !== nameLength || compare(ownName, rawName) !== 0)
    throw refusedPackage(
      "bad-name",
      `${shownPath(path)} has another name in the package's list of files than at its content. It is not used.`,
    );
  // From the version to the sizes, the list has the same fields two bytes further.
  for (let offset = 4; offset < 26; offset += 2)
    if (local.u16(offset) !== central.u16(offset + 2))
      throw damaged(`${shownPath(path)} says other things of itself than the list of files does`);
  if (local.u16(28) !== 0) throw damaged(`${shownPath(path)} has extra fields`);
  return nameAt + nameLength;
}

function checkFixed(central: Header, path: string, rawName: Uint8Array): void {
  const method = central.u16(10);
  const flags = rawName.some((byte) => byte > 0x7f) ? fixed.utf8Flag : 0;
  if ((central.u16(8) & ~fixed.utf8Flag) !== 0)
    throw damaged(`${shownPath(path)} is encrypted, or its size stands behind its content`);
  if (method !== 0 && method !== 8)
    throw damaged(`${shownPath(path)} is compressed by a method other than deflate`);
  if (method === 0 && central.u32(20) !== central.u32(24)) throw damaged(`${shownPath(path)} has two sizes`);
  const isFixed =
    central.u16(4) === fixed.host * 256 + fixed.version &&
    central.u16(6) === fixed.version &&
    central.u16(8) === flags &&
    central.u16(12) === fixed.time &&
    central.u16(14) === fixed.date &&
    central.u16(34) === 0 &&
    central.u16(36) === 0 &&
    central.u32(38) === fixed.attributes;
  if (!isFixed)
    throw damaged(
      `${shownPath(path)} has another time, mode or version than files of a package have; pack it with lares pack`,
    );
}

function compare(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
