import { readdirSync, watch, type Dirent, type FSWatcher } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Observed } from "./observed-files.ts";
import { isMissing, isRefused } from "./read-documents.ts";

/** What was left alone for so long is read: an editor's save is several changes, and half of one is not to count. */
export const settleMs = 50;
/** What goes on changing is read all the same after so long. */
export const mostUnsettledMs = 1000;
/** Folders that one watch covers; of one extension's, too. */
const maxFoldersWatched = 1000;
/** Not a program's own: too many, and changed by installing, not by saving. */
const notWatched = new Set(["node_modules", ".git"]);

export interface PathWatchOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Folders on the way to what is watched are watched up to where the way to these branches off. */
  readonly bases: readonly string[];
  /** Something may have changed; what it was is found by reading again. */
  readonly changed: () => void;
}

/** Everything of an extension's, beside what was looked at. */
export interface Watched extends Observed {
  /** Folders in which anything counts, at any depth. */
  readonly trees?: readonly string[];
}

/**
 * Says when what lies at some paths may have changed, what is not there yet included: each folder on the way to one is
 * watched for the next name, so that it is noticed when it comes, goes, or is another one. Folder by folder: Node's
 * recursive watch goes deaf on Linux to a file that was once replaced by renaming, which is how many editors save.
 */
export class PathWatch implements Disposable {
  readonly #options: PathWatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  /** For each folder the names that count in it; null where all do. */
  #wanted = new Map<string, Set<string> | null>();
  /** What was asked for last, as one text: mostly it is the same again. */
  #asked = "";
  #timer: Disposable | null = null;
  /** When the first change came that was not read yet. */
  #sinceMs: number | null = null;

  constructor(options: PathWatchOptions) {
    this.#options = options;
  }

  /**
   * Watches exactly these from now on. True where some of it was not watched before: then it may have changed since it
   * was read.
   */
  watch({ paths, listed, trees = [] }: Watched): boolean {
    const folders = trees.flatMap(foldersIn);
    const asked = [paths, listed, folders].map((list) => list.join("\n")).join("\n\n");
    if (asked !== this.#asked) {
      this.#asked = asked;
      this.#wanted = new Map();
      for (const path of paths) this.#wantWayTo(path);
      for (const folder of [...listed, ...folders]) {
        this.#wantWayTo(folder);
        this.#want(folder, null);
      }
      for (const folder of this.#watchers.keys()) if (!this.#wanted.has(folder)) this.#unwatch(folder);
    }
    return this.#arm();
  }

  /** What somebody has open at this path is another text than before. */
  heardOf(path: string): void {
    const names = this.#wanted.get(dirname(path));
    if (names === null || names?.has(basename(path)) === true) this.#soon();
  }

  /** Folders may be others than those that were watched: the next reading begins anew. */
  renew(): void {
    for (const folder of this.#watchers.keys()) this.#unwatch(folder);
    this.#soon();
  }

  #wantWayTo(path: string): void {
    for (let child = path, folder = dirname(child); folder !== child; folder = dirname(child)) {
      // The whole file system is nobody's way.
      if (dirname(folder) === folder) return;
      this.#want(folder, basename(child));
      if (this.#options.bases.some((base) => isWithin(folder, base))) return;
      child = folder;
    }
  }

  #want(folder: string, name: string | null): void {
    const names = this.#wanted.get(folder);
    if (names === null || (names === undefined && this.#wanted.size >= maxFoldersWatched)) return;
    if (name === null) this.#wanted.set(folder, null);
    else if (names === undefined) this.#wanted.set(folder, new Set([name]));
    else names.add(name);
  }

  /** Watches what is there of what is wanted; true where that is more than before. */
  #arm(): boolean {
    let isMore = false;
    for (const folder of this.#wanted.keys())
      if (!this.#watchers.has(folder) && this.#add(folder)) isMore = true;
    return isMore;
  }

  #add(folder: string): boolean {
    try {
      const watcher = watch(folder, { persistent: false }, (kind, name) =>
        this.#happened(folder, kind, name),
      );
      // A folder that goes away may take its watch along; the next reading finds out.
      watcher.on("error", () => {
        this.#unwatch(folder);
        this.#soon();
      });
      this.#watchers.set(folder, watcher);
      return true;
    } catch (error) {
      const { log } = this.#options;
      if (!isMissing(error) && !isRefused(error))
        log.warn(`${folder} is not watched for changes: ${messageOf(error)}`);
      return false;
    }
  }

  #happened(folder: string, kind: "rename" | "change", name: string | null): void {
    const names = this.#wanted.get(folder);
    if (names === undefined || (names !== null && name !== null && !names.has(name))) return;
    // What has this name now may be another folder than the one that is watched.
    if (kind === "rename" && name !== null) {
      const renamed = join(folder, name);
      for (const watched of this.#watchers.keys()) if (isWithin(renamed, watched)) this.#unwatch(watched);
    }
    this.#soon();
  }

  #unwatch(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  #soon(): void {
    const { clock, changed } = this.#options;
    const nowMs = clock.monotonic();
    this.#sinceMs ??= nowMs;
    const leftMs = Math.max(0, this.#sinceMs + mostUnsettledMs - nowMs);
    this.#timer?.[Symbol.dispose]();
    this.#timer = clock.timer(Math.min(settleMs, leftMs), () => {
      this.#timer = null;
      this.#sinceMs = null;
      // Before it is read, so that nothing happens between the two.
      this.#arm();
      changed();
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    for (const folder of this.#watchers.keys()) this.#unwatch(folder);
    this.#wanted.clear();
  }
}

/** Whether a path is this folder, or lies in it. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !/^(?:[A-Za-z]:|[\\/])/.test(way));
}

/** The folder and those beneath it, links not followed. */
function foldersIn(tree: string): string[] {
  const folders = [tree];
  for (const folder of folders) {
    for (const entry of entriesOf(folder)) {
      if (folders.length >= maxFoldersWatched) return folders;
      if (entry.isDirectory() && !notWatched.has(entry.name)) folders.push(join(folder, entry.name));
    }
  }
  return folders;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    // Gone, or closed to us: then there is nothing to watch, and whoever reads the program says so.
    if (isMissing(error) || isRefused(error)) return [];
    throw error;
  }
}
