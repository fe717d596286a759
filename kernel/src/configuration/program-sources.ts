import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { KeptSources } from "../decisions/file-format.ts";
import type { AcceptedRequests, ProgramSource } from "../decisions/requested-permissions.ts";
import type { ObjectStore } from "../platform/files/object-store.ts";
import { openProgramFolder } from "../platform/files/program-files.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { CatalogEntry } from "./catalog-snapshot.ts";

/**
 * Maximum size, in bytes, of a file whose contents are stored. A larger file is stored as its hash only: a change is
 * reported but not shown.
 */
const maxSourceBytes = 256 * 1024;
/** Maximum size, in bytes, of the stored contents of one accepted program. */
const maxProgramSourceBytes = 2 * 1024 * 1024;
/** Maximum number of files of one accepted program that are stored by name. */
const maxProgramSources = 400;

interface ProgramChanges {
  /** The accepted program's files are known. */
  readonly kept: boolean;
  readonly reason?: string;
  readonly files: readonly FileChange[];
}

interface FileChange {
  readonly path: string;
  readonly change: "added" | "removed" | "changed" | "unchanged";
  /** Changed lines; 0 if the file cannot be compared. */
  readonly added: number;
  readonly removed: number;
  readonly diff?: string;
}

/** Returns a unified diff of two contents; undefined if one is not text or too long. Null stands for a missing file. */
type UnifiedDiff = (
  names: { readonly before: string; readonly after: string },
  before: Uint8Array | null,
  after: Uint8Array | null,
) => string | undefined;

/** Stores the sources of accepted programs and compares them with the current contents of an extension's folder. */
export class ProgramSources {
  readonly #objects: ObjectStore;
  readonly #unifiedDiff: UnifiedDiff;
  readonly #log: Log;

  constructor(objects: ObjectStore, unifiedDiff: UnifiedDiff, log: Log) {
    this.#objects = objects;
    this.#unifiedDiff = unifiedDiff;
    this.#log = log;
  }

  /**
   * Stores the sources of these extensions' programs and returns their files. Files that cannot be stored are
   * logged.
   */
  async keep(entries: readonly CatalogEntry[]): Promise<KeptSources> {
    const kept: Record<string, readonly ProgramSource[]> = {};
    for (const entry of entries) {
      const sources = entry.program.program?.sources?.slice(0, maxProgramSources);
      if (sources === undefined) continue;
      kept[entry.id] = sources;
      try {
        let left = maxProgramSourceBytes;
        for await (const { bytes } of contentsOf(entry, sources)) {
          if (bytes === null || bytes.length > left) continue;
          left -= bytes.length;
          await this.#objects.put(bytes, { hash: sha256(bytes), path: entry.id });
        }
      } catch (error) {
        this.#log.warn(`The sources of ${entry.id} are not all kept: ${messageOf(error)}`);
      }
    }
    return kept;
  }

  /** Removes contents that no accepted program refers to. */
  async sweep({ extensions }: AcceptedRequests): Promise<void> {
    const needed = Object.values(extensions).flatMap(({ sources = [] }) => sources.map(({ hash }) => hash));
    await this.#objects.sweep(new Set(needed));
  }

  /**
   * Returns the differences between the accepted program (`before`) and the current one; with `path`, those of one
   * file with its diff. Contents that changed on disk after the program was read are not shown.
   */
  async changes(
    entry: CatalogEntry,
    before: readonly ProgramSource[] | undefined,
    path?: string,
  ): Promise<ProgramChanges> {
    const now = entry.program.program?.sources;
    if (now === undefined) {
      const isModule = entry.program.program !== null;
      return {
        kept: false,
        reason: isModule ? "The program is compiled; it has no source to show." : entry.program.fault,
        files: [],
      };
    }
    const old = new Map((before ?? []).map((source) => [source.path, source.hash]));
    const current = new Map(now.map((source) => [source.path, source.hash]));
    const paths = [...new Set([...current.keys(), ...old.keys()])].filter(
      (each) => path === undefined || each === path,
    );
    const differing = paths.filter((each) => path !== undefined || old.get(each) !== current.get(each));
    const contents = new Map<string, Uint8Array | null>();
    const wanted = now.filter((source) => differing.includes(source.path));
    for await (const { path: each, bytes } of contentsOf(entry, wanted)) contents.set(each, bytes);
    const files: FileChange[] = [];
    for (const each of paths) {
      const [oldHash, newHash] = [old.get(each), current.get(each)];
      if (oldHash === newHash && path === undefined) {
        files.push({ path: each, change: "unchanged", added: 0, removed: 0 });
        continue;
      }
      const change =
        oldHash === undefined
          ? "added"
          : newHash === undefined
            ? "removed"
            : oldHash === newHash
              ? "unchanged"
              : "changed";
      const oldBytes = oldHash === undefined ? null : await this.#content(oldHash);
      const newBytes = newHash === undefined ? null : contents.get(each);
      const isComparable =
        oldBytes !== undefined && newBytes !== undefined && (newHash === undefined || newBytes !== null);
      const diff = isComparable
        ? this.#unifiedDiff({ before: each, after: each }, oldBytes, newBytes)
        : undefined;
      files.push({
        path: each,
        change,
        ...countsOf(diff),
        ...(path === undefined || diff === undefined ? {} : { diff }),
      });
    }
    return { kept: before !== undefined, files };
  }

  /** Returns undefined if the content is not stored or is damaged. */
  async #content(hash: Hash): Promise<Uint8Array | undefined> {
    if (!(await this.#objects.has(hash))) return undefined;
    try {
      const pieces: Uint8Array[] = [];
      for await (const piece of this.#objects.stream(hash)) pieces.push(piece);
      return Buffer.concat(pieces);
    } catch (error) {
      this.#log.warn(`A program's source cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  }
}

/** Yields the contents that were bundled; null for a file that is too long or has changed since. */
async function* contentsOf(
  { extension }: CatalogEntry,
  sources: readonly ProgramSource[],
): AsyncGenerator<{ readonly path: string; readonly bytes: Uint8Array | null }> {
  using folder = await openProgramFolder(extension.folder);
  for (const { path, hash } of sources) {
    const bytes = await folder.read(path, maxSourceBytes).catch(() => null);
    yield { path, bytes: bytes !== null && sha256(bytes) === hash ? bytes : null };
  }
}

function countsOf(diff: string | undefined): { readonly added: number; readonly removed: number } {
  let [added, removed] = [0, 0];
  for (const line of diff?.split("\n").slice(2) ?? []) {
    if (line.startsWith("+")) added += 1;
    else if (line.startsWith("-")) removed += 1;
  }
  return { added, removed };
}
