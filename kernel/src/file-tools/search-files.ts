import { invalidParams, isLaresError } from "../base/errors.ts";
import type { Slices } from "../base/slices.ts";
import type { Entry } from "../base/vocabulary/entry.ts";
import { fileToolBounds as bounds } from "./bounds.ts";
import { checkedFolder, fileAt } from "./list-files.ts";
import { LineMatcher } from "./matches.ts";
import { globBeneath, jsonBytes, pathInLine } from "./names.ts";
import type { FilesOfCall, ShownFile } from "./ports.ts";
import { textPieces } from "./text-pieces.ts";

export interface SearchArguments {
  readonly text: string;
  readonly path?: string;
  readonly limit?: number;
}

/** The result of `files/search`, in path order. */
export interface SearchResult {
  /** "path:line: text" */
  readonly matches: readonly string[];
  /** The files in which they are. */
  readonly files: readonly string[];
  /** Files that were not searched, or matches that were not returned. */
  readonly note?: string;
}

/** Finds a text in the text files that the process sees. Throws NotFound, InvalidParams. */
export async function searchFiles(
  files: FilesOfCall,
  { text, path = ".", limit = bounds.searchByDefault }: SearchArguments,
  slices: Slices,
  signal: AbortSignal,
): Promise<SearchResult> {
  if (/[\r\n]/.test(text))
    throw invalidParams("Matches lie within one line: search for a text without line breaks.", {
      path: "text",
    });
  const run = new Search(files, text, limit, slices, signal);
  for await (const entry of entriesIn(files, path)) if (!(await run.search(entry))) break;
  return run.result();
}

/** Yields the files in a folder, or one file, in the order of paths. */
async function* entriesIn(files: FilesOfCall, path: string): AsyncGenerator<Entry, void, void> {
  const canonical = await checkedFolder(files, path);
  const glob = globBeneath(canonical, "**");
  let isFirst = true;
  for (let cursor: string | undefined; ;) {
    const more = cursor === undefined ? {} : { cursor };
    const page = await files.query({ path: glob, kind: "file", limit: bounds.list, ...more });
    if (isFirst && page.items.length === 0) {
      const file = await fileAt(files, canonical);
      if (file !== null) yield file;
      return;
    }
    isFirst = false;
    yield* page.items;
    if (page.cursor === undefined) return;
    cursor = page.cursor;
  }
}

/** One search, as far as its bounds allow. */
class Search {
  readonly #files: FilesOfCall;
  readonly #text: string;
  readonly #limit: number;
  readonly #slices: Slices;
  readonly #signal: AbortSignal;
  readonly #endMs: number;
  readonly #matches: string[] = [];
  readonly #in = new Set<string>();
  #resultBytes = 0;
  #searched = 0;
  #bytes = 0;
  #shortened = 0;
  #unreadable = 0;
  #stopped: string | null = null;

  constructor(files: FilesOfCall, text: string, limit: number, slices: Slices, signal: AbortSignal) {
    this.#files = files;
    this.#text = text;
    this.#limit = limit;
    this.#slices = slices;
    this.#signal = signal;
    this.#endMs = slices.nowMs + bounds.searchMs;
  }

  /** Returns false if the search has to stop. */
  async search(entry: Entry): Promise<boolean> {
    this.#signal.throwIfAborted();
    if (!mayBeText(entry)) return true;
    if (this.#searched === bounds.searchFiles) return this.#stop(`${bounds.searchFiles} files`, entry);
    if (this.#bytes >= bounds.searchBytes)
      return this.#stop(`${bounds.searchBytes / 1024 / 1024} MiB`, entry);
    if (this.#slices.nowMs >= this.#endMs) return this.#stop(`${bounds.searchMs / 1000} seconds`, entry);
    this.#searched += 1;
    try {
      return await this.#searchText(entry);
    } catch (error) {
      // It was removed or replaced meanwhile, or cannot be read; a permission that was revoked ends the search.
      const isSkipped = ["NotFound", "ScopeViolation", "StorageError"] as const;
      if (!isSkipped.some((code) => isLaresError(error, code))) throw error;
      this.#unreadable += 1;
      return true;
    }
  }

  async #searchText({ path, content_id: listed }: Entry): Promise<boolean> {
    const matcher = new LineMatcher(this.#text);
    let bytes = 0;
    for await (const piece of textPieces(this.#files, path, bounds.searchFileBytes, this.#signal)) {
      if (piece === null) return true;
      bytes += piece.bytes;
      this.#bytes += piece.bytes;
      const isEnd = piece.eof || bytes >= bounds.searchFileBytes;
      if (isEnd && !piece.eof) this.#shortened += 1;
      for (const { line, text } of matcher.take(piece.text, isEnd))
        if (!this.#add({ path, listed }, `${pathInLine(path)}:${line}: ${text}`)) return false;
      if (!this.#slices.hasTime) await this.#slices.next();
    }
    return true;
  }

  #add({ path, listed }: Required<Omit<ShownFile, "read">>, match: string): boolean {
    const size = jsonBytes(match) + (this.#in.has(path) ? 0 : jsonBytes(path));
    if (this.#matches.length === this.#limit || this.#resultBytes + size > bounds.itemsBytes) {
      this.#stopped = `There are more than these ${this.#matches.length} lines. Search for a longer text, or in a folder beneath.`;
      return false;
    }
    this.#resultBytes += size;
    this.#matches.push(match);
    if (!this.#in.has(path)) this.#files.show({ path, listed });
    this.#in.add(path);
    return true;
  }

  #stop(after: string, { path, content_id: listed }: Entry): false {
    this.#files.show({ path, listed });
    this.#stopped = `The search stopped after ${after}: ${JSON.stringify(path)} and the files after it were not searched. Search in a folder beneath.`;
    return false;
  }

  result(): SearchResult {
    const notes = [
      ...(this.#stopped === null ? [] : [this.#stopped]),
      ...(this.#shortened === 0
        ? []
        : [
            `Only the first ${bounds.searchFileBytes / 1024 / 1024} MiB of ${this.#shortened} larger files were searched.`,
          ]),
      ...(this.#unreadable === 0 ? [] : [`${this.#unreadable} files could not be read.`]),
      ...(this.#matches.length === 0 && this.#stopped === null
        ? [`Not found in ${this.#searched} text files.`]
        : []),
    ];
    return {
      matches: this.#matches,
      files: [...this.#in],
      ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
    };
  }
}

/** False for files whose names say that they hold no text; the content decides about the others. */
function mayBeText({ media, mime, size }: Entry): boolean {
  if (size === 0) return false;
  return mime === "image/svg+xml" || (media !== "image" && media !== "video" && media !== "audio");
}
