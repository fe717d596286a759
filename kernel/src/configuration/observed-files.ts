import { documentKind } from "../documents/names.ts";
import type { FileText, FolderState, NamedFolder } from "../documents/ports.ts";
import type { OpenTexts } from "../base/vocabulary/editing.ts";
import {
  fileExists,
  folderState,
  namesIn,
  readText,
  realPathOf,
  realPathOrNull,
  type DocumentText,
} from "../platform/files/document-files.ts";
import { pathOf } from "../platform/files/file-uris.ts";
import type { ProbedPaths } from "../platform/files/path-watch.ts";
import { join } from "../platform/files/paths.ts";
import { readTextIn } from "./texts.ts";

/** The default for callers without an editor. */
export const nothingOpen: OpenTexts = { text: () => null, uris: () => [] };

/** Maximum number of paths that one reading stores, enough for a thousand extensions; further paths are not watched. */
const maxObserved = 16_384;

/** Maximum length of all texts that one reading holds: a workspace's extensions are untrusted. */
const maxTextCharacters = 64 * 1024 * 1024;

/** Maximum number of folders in one folder that are returned. */
const maxFoldersIn = 256;

function keep(paths: Set<string>, more: readonly string[]): void {
  for (const path of more) if (paths.size < maxObserved) paths.add(path);
}

/**
 * Reads files around a document and stores every path that was probed, including misses. If a client has an
 * existing file open, its text is used instead of the file's.
 */
export class ObservedFiles implements ProbedPaths {
  readonly open: OpenTexts;
  readonly #paths = new Set<string>();
  readonly #listed = new Set<string>();
  readonly #written = new Set<string>();
  readonly #unwritten = new Set<string>();
  #textCharactersLeft = maxTextCharacters;
  #ids = new Map<string, Promise<readonly string[]>>();
  /** The URIs of open documents by path, computed at first use. */
  #documents: Map<string, string> | null = null;

  constructor(open: OpenTexts = nothingOpen) {
    this.open = open;
  }

  get paths(): readonly string[] {
    return [...this.#paths];
  }

  get listed(): readonly string[] {
    return [...this.#listed];
  }

  /** Documents that were read and are not blank. */
  get written(): ReadonlySet<string> {
    return this.#written;
  }

  /** Documents that are missing or blank, unless another one in their folder is used. */
  get unwritten(): ReadonlySet<string> {
    return this.#unwritten;
  }

  observe(path: string): void {
    if (this.#paths.size < maxObserved) this.#paths.add(path);
  }

  /** Returns the first of the names that exists in the folder; null if none does. */
  async readFirst(folder: string, names: readonly string[]): Promise<DocumentText | null> {
    const missing: string[] = [];
    for (const name of names) {
      const file = join(folder, name);
      this.observe(file);
      const onDisk = await readText(file);
      if (onDisk === null) {
        missing.push(file);
        continue;
      }
      const text = this.#openText(file) ?? onDisk;
      if (/\S/.test(text)) keep(this.#written, [file]);
      else keep(this.#unwritten, [...missing, file]);
      return { file, text, ...(text === onDisk ? {} : { saved: onDisk }) };
    }
    keep(this.#unwritten, missing);
    return null;
  }

  fileExists(path: string): Promise<boolean> {
    this.observe(path);
    return fileExists(path);
  }

  /** Reads a text beneath a real folder; a link out of it is refused. */
  async readTextIn(folder: string, path: string, maxBytes: number): Promise<FileText> {
    this.observe(join(folder, path));
    if (this.#textCharactersLeft <= 0) return { text: null, refused: "no-room" };
    const read = await readTextIn(folder, path, maxBytes);
    this.#textCharactersLeft -= read.text?.length ?? 0;
    return read;
  }

  /** Returns the ids that `read` finds in a place of extensions; reads each place once. */
  idsIn(place: string, read: (place: string) => Promise<readonly string[]>): Promise<readonly string[]> {
    const ids = this.#ids.get(place) ?? read(place);
    this.#ids.set(place, ids);
    return ids;
  }

  /** Returns the folders in a folder beneath a real folder, by name, without hidden ones. */
  async foldersIn(root: string, path: string): Promise<NamedFolder[]> {
    const names = await this.list(join(root, path));
    const found: NamedFolder[] = [];
    for (const name of names.filter((each) => !each.startsWith(".") && each !== "node_modules")) {
      if (found.length >= maxFoldersIn) break;
      const state = await this.folderState(root, path === "" ? name : `${path}/${name}`);
      if (state === "folder" || state === "outside") found.push({ name, state });
    }
    return found;
  }

  folderState(root: string, path: string): Promise<FolderState> {
    this.observe(join(root, path));
    return folderState(root, path);
  }

  /** Returns the real path of a folder; null if there is none, or it may not be read. */
  async realFolder(path: string): Promise<string | null> {
    this.observe(path);
    const real = await realPathOrNull(path);
    if (real !== null) this.observe(real);
    return real;
  }

  /** Returns the real path, with links resolved as far as the path exists. */
  async realPath(path: string): Promise<string> {
    this.observe(path);
    const real = await realPathOf(path);
    this.observe(real);
    return real;
  }

  /** Returns all names in a folder, sorted; none if it cannot be listed. */
  list(folder: string): Promise<string[]> {
    if (this.#listed.size < maxObserved) this.#listed.add(folder);
    return namesIn(folder);
  }

  #openText(file: string): string | null {
    this.#documents ??= this.#openDocuments();
    const uri = this.#documents.get(file);
    return uri === undefined ? null : this.open.text(uri);
  }

  #openDocuments(): Map<string, string> {
    const found = new Map<string, string>();
    for (const uri of this.open.uris()) {
      const path = documentKind(uri) === undefined ? null : pathOf(uri);
      if (path !== null) found.set(path, uri);
    }
    return found;
  }
}
