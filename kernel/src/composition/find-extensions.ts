import { basename, dirname, join, resolve } from "node:path";
import type { CheckedManifest } from "../documents/manifest.ts";
import { manifestNames } from "../documents/names.ts";
import { valueAt } from "../documents/source.ts";
import { ObservedFiles } from "./observed-files.ts";
import type { DocumentText } from "./read-documents.ts";

/** Folders of extensions looked at in one place; a workspace's own may come from a stranger. */
export const maxFoldersLookedAt = 256;

/** Paths that lead nowhere beside which a finder looks for what was meant; each costs a folder's manifests. */
const maxLookedBeside = 4;

/** An extension's folder with its manifest, read and checked. */
export interface ExtensionOnDisk {
  /** Absolute, links resolved. */
  readonly folder: string;
  /** Absolute, as it was named: another than `folder` where links lead there. */
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
 * `\\host\share`, in whatever slashes: on Windows, only looking whether it is there tells that host who looks. A
 * document is looked at before anybody trusts it.
 */
export function leadsToAnotherMachine(path: string): boolean {
  return /^[\\/]{2}/.test(path);
}

/** A line that says an id, in YAML or TOML. */
const idLine = /^[ \t]*id[ \t]*[:=][ \t]*["']?([^\s"'#,]+)/m;

/**
 * Returns the ids by which an extension may be meant whose manifest has no manifest's form: what it says as far as it can be
 * read, and what it said when it was saved. Empty for one that has its form. While somebody types, it is still there.
 */
export function idsOfFaulty({ manifest, checked }: Pick<ExtensionOnDisk, "manifest" | "checked">): string[] {
  if (checked.value !== null) return [];
  const parsed = valueAt(checked.document.value, "/extension/id");
  const written = [manifest.text, manifest.saved ?? ""].map((text) => idLine.exec(text)?.[1]);
  return [parsed, ...written].filter((id) => typeof id === "string" && id !== "") as string[];
}

type Check = (manifest: DocumentText) => Promise<CheckedManifest>;

/** Finds extensions by path or id, each folder read once. Made anew for each time the documents are loaded. */
export class ExtensionFinder {
  readonly #places: ExtensionPlaces;
  readonly #check: Check;
  readonly #files: ObservedFiles;
  readonly #read = new Map<string, Promise<ExtensionOnDisk | null>>();
  readonly #listed = new Map<string, Promise<ExtensionOnDisk[]>>();
  #lookedBeside = 0;

  /** `files` keeps where was looked, whether or not an extension was found there; one may yet come to be one. */
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
   * Returns the extension with this id. Looks in the workspace, the user's folder, and what came with the kernel, in
   * this order. Returns an extension whose manifest has errors, or is half-typed, only if there is no other, so that
   * the errors can be reported.
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

  /** Paths, written as this one is, of the extensions that lie beside where it leads. */
  async beside(path: string, documentFile: string): Promise<string[]> {
    if (++this.#lookedBeside > maxLookedBeside || leadsToAnotherMachine(path)) return [];
    const [before = ""] = /^(?:.*\/)?(?=[^/]+\/*$)/.exec(path) ?? [];
    const found = await this.#in(resolve(dirname(documentFile), path, ".."));
    return found.map(({ folder }) => before + basename(folder));
  }

  /** The ids of all that `byId` finds. */
  async ids(): Promise<string[]> {
    const found = await Promise.all(this.placesInOrder().map((place) => this.#in(place)));
    return [...new Set(found.flat().flatMap(({ checked }) => checked.value?.id ?? []))];
  }

  /** Everything that lies in `.lares/extensions`, named in a document or not. */
  async droppedIn(): Promise<ExtensionOnDisk[]> {
    return (await Promise.all(this.#places.workspace.map((place) => this.#in(place)))).flat();
  }

  /** Everything that an id can name, the first of each id. */
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
    // A folder that may not be listed holds no extension for us.
    const folders = (await this.#files.list(place)).slice(0, maxFoldersLookedAt);
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
