import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { documentKind } from "../documents/names.ts";
import type { FolderState } from "../documents/ports.ts";
import type { OpenTexts } from "../server/language/ports.ts";
import {
  fileExists,
  folderState,
  isMissing,
  isRefused,
  readText,
  type DocumentText,
} from "./read-documents.ts";
import { pathOf, realPathOf } from "./workspace-paths.ts";

/** For whoever asks without an editor. */
export const nothingOpen: OpenTexts = { text: () => null, uris: () => [] };

/** Paths that one reading keeps; what it looks at beyond them is not followed. */
const maxObserved = 4096;

/** What something was computed from: whatever changes there may change it. */
export interface Observed {
  /** Absolute, links as they were named and resolved; there may be nothing there. */
  readonly paths: readonly string[];
  /** Folders whose names were read. */
  readonly listed: readonly string[];
}

/**
 * Reads what lies around a document, and keeps where it looked. What a client has open counts before what is on the
 * disk, where there is such a file at all.
 */
export class ObservedFiles implements Observed {
  readonly open: OpenTexts;
  readonly #paths = new Set<string>();
  readonly #listed = new Set<string>();
  /** Documents that are open, by path; made when it is first asked for. */
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

  observe(path: string): void {
    if (this.#paths.size < maxObserved) this.#paths.add(path);
  }

  /** The first of the names that exists in the folder; null where none does. */
  async readFirst(folder: string, names: readonly string[]): Promise<DocumentText | null> {
    for (const name of names) {
      const file = join(folder, name);
      this.observe(file);
      const onDisk = await readText(file);
      if (onDisk === null) continue;
      const text = this.#openText(file) ?? onDisk;
      return { file, text, ...(text === onDisk ? {} : { saved: onDisk }) };
    }
    return null;
  }

  fileExists(path: string): Promise<boolean> {
    this.observe(path);
    return fileExists(path);
  }

  folderState(root: string, path: string): Promise<FolderState> {
    this.observe(join(root, path));
    return folderState(root, path);
  }

  /** Where a folder really lies; null where there is none, or none for us. */
  async realFolder(path: string): Promise<string | null> {
    this.observe(path);
    try {
      const real = await realpath(path);
      this.observe(real);
      return real;
    } catch (error) {
      if (isMissing(error) || isRefused(error)) return null;
      throw error;
    }
  }

  /** Where a path really leads, links resolved as far as there is something. */
  async realPath(path: string): Promise<string> {
    this.observe(path);
    const real = await realPathOf(path);
    this.observe(real);
    return real;
  }

  /** All names in a folder, sorted; none where it may not be listed. */
  async list(folder: string): Promise<string[]> {
    if (this.#listed.size < maxObserved) this.#listed.add(folder);
    try {
      return (await readdir(folder)).toSorted();
    } catch (error) {
      if (isMissing(error) || isRefused(error)) return [];
      throw error;
    }
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
