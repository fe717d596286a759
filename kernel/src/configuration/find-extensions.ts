import { basename, dirname, join, resolve } from "../platform/files/paths.ts";
import type { CheckedManifest } from "../documents/manifest.ts";
import { manifestNames } from "../documents/names.ts";
import { valueAt } from "../documents/text/source.ts";
import { ObservedFiles } from "./observed-files.ts";
import type { DocumentText } from "../platform/files/document-files.ts";

/** Maximum number of folders that are read in one place of extensions, because a workspace's place is untrusted. */
const maxFoldersLookedAt = 256;
/** The same in the person's own place: a document names at most 1,024 extensions. */
const maxInstalled = 2048;

/** Wrong paths for which a finder looks for suggestions; each costs reading the manifests of a folder. */
const maxLookedBeside = 4;

/** An extension's folder with its manifest, read and checked. */
export interface ExtensionOnDisk {
  /** Absolute, links resolved. */
  readonly folder: string;
  /** Absolute, as it was named. Differs from `folder` if there are links on the way. */
  readonly named: string;
  readonly manifest: DocumentText;
  readonly checked: CheckedManifest;
}

export interface ExtensionPlaces {
  /** `.lares/extensions` of each root. */
  readonly workspace: readonly string[];
  readonly user: string;
  readonly bundled: string;
}

/**
 * Returns whether a path is `\\host\share`, with any slashes. On Windows, probing such a path already identifies
 * the user to the host, and documents are read before they are trusted.
 */
export function leadsToAnotherMachine(path: string): boolean {
  return /^[\\/]{2}/.test(path);
}

/** The id in a manifest: in YAML, also written in braces or like JSON, or in TOML. */
const idLine = /(?:^|[{,])[ \t]*["']?id["']?[ \t]*[:=][ \t]*["']?([^\s"'#,}]+)/m;

/**
 * Returns the ids that may refer to an extension whose manifest is invalid: the id in its readable part, and the
 * last saved id. Empty for a usable manifest. With these, an extension stays listed while its manifest is edited.
 */
export function idsOfFaulty({ manifest, checked }: Pick<ExtensionOnDisk, "manifest" | "checked">): string[] {
  if (checked.value !== null) return [];
  const parsed = valueAt(checked.document.value, "/extension/id");
  const written = [manifest.text, manifest.saved ?? ""].map((text) => idLine.exec(text)?.[1]);
  return [parsed, ...written].filter((id) => typeof id === "string" && id !== "") as string[];
}

/**
 * Returns the ids that the manifests in these places say, without checking the manifests: a check that asks for the others
 * must not wait for theirs. The places are not watched for it. `files` keeps the answer for each place.
 */
export async function extensionIds(
  places: readonly string[],
  files: ObservedFiles,
): Promise<ReadonlySet<string>> {
  const ids = await Promise.all(places.map((place) => files.idsIn(place, idsWrittenIn)));
  return new Set(ids.flat());
}

async function idsWrittenIn(place: string): Promise<string[]> {
  const files = new ObservedFiles();
  const ids: string[] = [];
  for (const name of (await files.list(place)).slice(0, maxFoldersLookedAt)) {
    const manifest = await files.readFirst(join(place, name), manifestNames);
    const id = manifest === null ? undefined : idLine.exec(manifest.text)?.[1];
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

/**
 * Returns the first manifest in these places that has this id, or null. Only this manifest is read through `files`, which
 * records it for the watcher.
 */
export async function manifestOf(
  id: string,
  places: readonly string[],
  files: ObservedFiles,
): Promise<DocumentText | null> {
  for (const place of places) {
    const unwatched = new ObservedFiles(files.open);
    for (const name of (await unwatched.list(place)).slice(0, maxFoldersLookedAt)) {
      const manifest = await unwatched.readFirst(join(place, name), manifestNames);
      if (manifest !== null && idLine.exec(manifest.text)?.[1] === id)
        return files.readFirst(join(place, name), manifestNames);
    }
  }
  return null;
}

type Check = (manifest: DocumentText) => Promise<CheckedManifest>;

/** Finds extensions by path or id and reads each folder once. Each load of the documents creates a new finder. */
export class ExtensionFinder {
  readonly #places: ExtensionPlaces;
  readonly #check: Check;
  readonly #files: ObservedFiles;
  readonly #read = new Map<string, Promise<ExtensionOnDisk | null>>();
  readonly #listed = new Map<string, Promise<ExtensionOnDisk[]>>();
  #lookedBeside = 0;

  /** `files` stores every path that was probed, including misses: an extension may appear there later. */
  constructor(places: ExtensionPlaces, check: Check, files = new ObservedFiles()) {
    this.#places = places;
    this.#check = check;
    this.#files = files;
  }

  /** `path` is relative to the folder of the document that names it. */
  async byPath(path: string, documentFile: string): Promise<ExtensionOnDisk | null> {
    if (leadsToAnotherMachine(path)) return null;
    return this.#at(resolve(dirname(documentFile), path));
  }

  /**
   * Returns the extension with this id. Searches the workspace, the user's folder and the bundled extensions, in
   * this order. Returns an extension with an invalid or incomplete manifest only if there is no other, so that the
   * errors can be reported.
   */
  async byId(id: string): Promise<ExtensionOnDisk | null> {
    let faulty: ExtensionOnDisk | undefined;
    for (const place of this.placesInOrder()) {
      const extensions = await this.#in(place);
      const found = extensions.find(({ checked }) => checked.value?.id === id);
      if (found !== undefined) return found;
      faulty ??= extensions.find((extension) => idsOfFaulty(extension).includes(id));
    }
    return faulty ?? null;
  }

  placesInOrder(): string[] {
    return [...this.#places.workspace, this.#places.user, this.#places.bundled];
  }

  /** Returns the paths of the extensions beside the one that this path names, written in the same way. */
  async beside(path: string, documentFile: string): Promise<string[]> {
    if (++this.#lookedBeside > maxLookedBeside || leadsToAnotherMachine(path)) return [];
    const [before = ""] = /^(?:.*\/)?(?=[^/]+\/*$)/.exec(path) ?? [];
    const found = await this.#in(resolve(dirname(documentFile), path, ".."));
    return found.map(({ folder }) => before + basename(folder));
  }

  /** Returns the ids of all extensions that `byId` finds. */
  async ids(): Promise<string[]> {
    const found = await Promise.all(this.placesInOrder().map((place) => this.#in(place)));
    return [...new Set(found.flat().flatMap(({ checked }) => checked.value?.id ?? []))];
  }

  /** Returns all extensions in `.lares/extensions`, including those that no document names. */
  async droppedIn(): Promise<ExtensionOnDisk[]> {
    return (await Promise.all(this.#places.workspace.map((place) => this.#in(place)))).flat();
  }

  /** Returns all extensions that can be named by id; the first of each id. */
  async all(): Promise<ExtensionOnDisk[]> {
    const found = (await Promise.all(this.placesInOrder().map((place) => this.#in(place)))).flat();
    const ids = found.map(({ checked }) => checked.value?.id);
    return found.filter((_extension, index) => ids.indexOf(ids[index]) === index);
  }

  #in(place: string): Promise<ExtensionOnDisk[]> {
    const known = this.#listed.get(place);
    if (known !== undefined) return known;
    const listing = this.#list(place);
    this.#listed.set(place, listing);
    return listing;
  }

  async #list(place: string): Promise<ExtensionOnDisk[]> {
    // A folder that cannot be listed counts as empty.
    const most = place === this.#places.user ? maxInstalled : maxFoldersLookedAt;
    const folders = (await this.#files.list(place)).slice(0, most);
    const found = await Promise.all(folders.map((name) => this.#at(join(place, name))));
    return found.filter((extension) => extension !== null);
  }

  #at(folder: string): Promise<ExtensionOnDisk | null> {
    const known = this.#read.get(folder);
    if (known !== undefined) return known;
    const reading = this.#load(folder);
    this.#read.set(folder, reading);
    return reading;
  }

  async #load(folder: string): Promise<ExtensionOnDisk | null> {
    const real = await this.#files.realFolder(folder);
    const manifest = real === null ? null : await this.#files.readFirst(real, manifestNames);
    if (real === null || manifest === null) return null;
    return { folder: real, named: folder, manifest, checked: await this.#check(manifest) };
  }
}
