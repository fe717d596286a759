import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { LaresError } from "../base/errors.ts";
import { named } from "../base/named.ts";
import { manifestNames } from "../documents/names.ts";
import { packageBounds, packageEnding, recordName } from "../packages/bounds.ts";
import { writeArchive } from "../packages/package-file.ts";
import { readRecord } from "../packages/package-record.ts";
import { openPlainFile } from "../platform/files/plain-file.ts";
import { readProgramFile } from "../platform/files/program-files.ts";

/** True for an http(s) address. */
export const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);

/** A package's bytes, not verified yet. */
export interface FoundPackage {
  readonly bytes: Uint8Array;
  /** Where they came from, in the form that can be asked for again. */
  readonly source: string;
}

export interface LocalPorts {
  /** Packs the sources in a folder with the person's own key. */
  packFolder(folder: string): Promise<Uint8Array>;
}

/** Reads a package from a path: a packed file, a folder with one, an unpacked package, or an extension's sources. */
export async function packageAt(path: string, ports: LocalPorts): Promise<FoundPackage> {
  const whole = resolve(path);
  const found = await stat(whole).catch(() => null);
  if (found === null)
    throw new LaresError(
      "NotFound",
      `There is no file or folder ${named(path)}. Name a package's file, its folder or address, npm:<name>, or an id with --from <index>.`,
      { path: whole },
    );
  if (found.isFile()) return { bytes: await fileBytes(whole), source: whole };
  const names = await readdir(whole);
  if (names.includes(recordName)) return { bytes: await unpackedPackage(whole), source: whole };
  if (manifestNames.some((name) => names.includes(name)))
    return { bytes: await ports.packFolder(whole), source: whole };
  const packages = names.filter((name) => name.endsWith(packageEnding));
  const [only] = packages;
  if (only !== undefined && packages.length === 1)
    return { bytes: await fileBytes(join(whole, only)), source: join(whole, only) };
  throw new LaresError(
    "NotFound",
    packages.length === 0
      ? `The folder ${named(path)} holds no package and no extension.`
      : `The folder ${named(path)} holds ${packages.length} packages. Name one of them: ${packages.slice(0, 5).map(named).join(", ")}.`,
    { path: whole },
  );
}

/** Reads a package's file. LimitExceeded if it is longer than a package may be. */
export async function fileBytes(path: string): Promise<Uint8Array> {
  await using file = await openPlainFile(path, "read");
  const { size } = await file.stat();
  if (size > packageBounds.maxPackageBytes)
    throw new LaresError(
      "LimitExceeded",
      `${named(path)} has ${size} bytes; a package has at most ${packageBounds.maxPackageBytes}.`,
      { limit: "maxPackageBytes", value: size },
    );
  return await file.readFile();
}

/** Returns an unpacked package as an archive, so that it is verified like any other. Files that it does not sign are left out. */
async function unpackedPackage(folder: string): Promise<Uint8Array> {
  const read = async (path: string): Promise<Uint8Array> => {
    const { bytes } = await readProgramFile(folder, path, packageBounds.maxFileBytes);
    if (bytes !== null) return bytes;
    throw new LaresError("InvalidDocument", `${named(path)} in ${named(folder)} cannot be read.`);
  };
  const record = await read(recordName);
  const files = new Map<string, Uint8Array>([[recordName, record]]);
  let left = packageBounds.maxPackageBytes;
  for (const path of Object.keys(readRecord(record).files).slice(0, packageBounds.maxFiles)) {
    const bytes = await read(path);
    if ((left -= bytes.length) < 0)
      throw new LaresError("LimitExceeded", `The package in ${named(folder)} is too large.`);
    files.set(path, bytes);
  }
  return writeArchive(files);
}
