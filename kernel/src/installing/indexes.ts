import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import compareVersions from "semver/functions/compare.js";
import { LaresError } from "../base/errors.ts";
import { named } from "../base/named.ts";
import { leadsToAnotherMachine } from "../configuration/find-extensions.ts";
import { indexBounds, packageBounds } from "../packages/bounds.ts";
import { refusedPackage } from "../packages/package-error.ts";
import { readIndex, type IndexEntry, type ReadIndex } from "../packages/package-index.ts";
import { openPlainFile } from "../platform/files/plain-file.ts";
import type { Download } from "./downloads.ts";
import { fileBytes, isAddress } from "./sources.ts";

/** The file of an index in a folder. */
const indexName = "index.json";

interface IndexPorts {
  readonly download: Download;
  readonly signal: AbortSignal;
  received?(bytes: number): void;
}

interface OpenedIndex extends ReadIndex {
  /** An address, or the absolute path of the file. */
  readonly place: string;
}

/** Reads an index from a file, from `index.json` in a folder, or from an http(s) address. */
export async function openIndex(from: string, { download, signal }: IndexPorts): Promise<OpenedIndex> {
  if (isAddress(from)) {
    const bytes = await download({
      url: from,
      maxBytes: indexBounds.maxIndexBytes,
      what: "the index",
      named: [from],
      signal,
    });
    return { ...readIndex(bytes), place: from };
  }
  const path = resolve(from);
  const found = await stat(path).catch(() => null);
  const place = found?.isDirectory() === true ? join(path, indexName) : path;
  if (found === null || (await stat(place).catch(() => null)) === null)
    throw new LaresError(
      "NotFound",
      `There is no index at ${named(from)}. Name an index's file, a folder with an ${indexName}, or an address.`,
      { path: place },
    );
  await using file = await openPlainFile(place, "read");
  if ((await file.stat()).size > indexBounds.maxIndexBytes)
    throw refusedPackage(
      "index",
      `The index has more than ${indexBounds.maxIndexBytes} bytes. It is not used.`,
    );
  return { ...readIndex(await file.readFile()), place };
}

/** Returns the newest version of an extension; a pre-release only if there is nothing else. NotFound. */
export function newestOf({ entries, place, unusable }: OpenedIndex, id: string): IndexEntry {
  const mine = entries.filter((entry) => entry.id === id);
  const releases = mine.filter(({ version }) => !version.includes("-"));
  const [newest] = (releases.length > 0 ? releases : mine).toSorted((one, other) =>
    compareVersions(other.version, one.version, true),
  );
  if (newest !== undefined) return newest;
  const hint = unusable > 0 ? ` ${unusable} of its entries cannot be read.` : "";
  throw new LaresError("NotFound", `The index ${named(place)} has no extension ${named(id)}.${hint}`, { id });
}

/** Gets the bytes of an entry's package. Its address is relative to the index. */
export async function packageOfEntry(
  { place }: OpenedIndex,
  entry: IndexEntry,
  { download, signal, received }: IndexPorts,
): Promise<Uint8Array> {
  const { maxPackageBytes } = packageBounds;
  if (entry.size > maxPackageBytes)
    throw refusedPackage(
      "too-large",
      `The index says that ${entry.id} has ${entry.size} bytes; a package has at most ${maxPackageBytes}.`,
    );
  const isRemote = isAddress(place);
  if (isRemote || isAddress(entry.url)) {
    const url = isRemote ? addressOf(entry.url, place) : entry.url;
    return await download({
      url,
      // One byte more shows that there is more than the index says.
      maxBytes: entry.size + 1,
      what: `${entry.id} ${entry.version}`,
      named: isRemote ? [place] : [],
      signal,
      ...(received === undefined ? {} : { received }),
    });
  }
  const path = decoded(entry.url);
  if (/^[a-z][a-z0-9+.-]*:/i.test(entry.url) || /[\\\0]/.test(path) || leadsToAnotherMachine(path))
    throw refusedPackage(
      "index",
      `The address ${named(entry.url)} in the index is neither relative nor http(s).`,
    );
  return await fileBytes(resolve(dirname(place), path));
}

function addressOf(url: string, place: string): string {
  const address = URL.canParse(url, place) ? new URL(url, place).href : null;
  if (address !== null && isAddress(address)) return address;
  throw refusedPackage("index", `The address ${named(url)} in the index is neither relative nor http(s).`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
