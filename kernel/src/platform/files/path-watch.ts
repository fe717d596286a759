import { readdirSync, watch, type Dirent, type FSWatcher } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { Emitter } from "../../base/emitter.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { isMissing, isRefused } from "./document-files.ts";
import { basename, dirname, isWithin, join } from "./paths.ts";

/** The quiet time before a report, because editors save in several steps and half a save must not be read. */
export const settleMs = 50;
/** Continuous changes are reported after this time at the latest. */
export const mostUnsettledMs = 1000;
/** The number of folders that one watch covers, and of folders of one extension. */
const maxFoldersWatched = 1000;
/** Folders that are not watched: they are large, and installations change them, not edits. */
const notWatched = new Set(["node_modules", ".git"]);

interface PathWatchOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The folders above a watched path are watched up to the one that also leads to a base. */
  readonly bases: readonly string[];
}

/** The places from which something was computed; a change there may change the result. */
export interface ProbedPaths {
  /** Absolute paths, both as named and with links resolved; they need not exist. */
  readonly paths: readonly string[];
  /** Folders whose names were read. */
  readonly listed: readonly string[];
}

/** The probed paths, and whole folders of extensions. */
export interface Watched extends ProbedPaths {
  /** Folders in which every change matters, at any depth. */
  readonly trees?: readonly string[];
}

/**
 * Reports when paths may have changed, including paths that do not exist yet: each folder on the way to a path is watched
 * for the next name, so that it is noticed when that name appears, disappears or is replaced. Folders are watched one by
 * one: Node's recursive watch on Linux loses a file that was replaced by renaming, which is how many editors save.
 */
export class PathWatch implements Disposable {
  /** Emitted when something may have changed. Read again to find out what. */
  readonly changed = new Emitter<void>();
  readonly #options: PathWatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  /** The names that matter in each folder; null if all do. */
  #wanted = new Map<string, Set<string> | null>();
  /** The last request as one text, because the next one is usually the same. */
  #asked = "";
  #timer: Disposable | null = null;
  /** The time of the first unreported change. */
  #sinceMs: number | null = null;

  constructor(options: PathWatchOptions) {
    this.#options = options;
  }

  /**
   * Watches exactly these from now on. Returns true if some of them were not watched before: then they may have changed
   * since they were read.
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

  /** Notes that an editor's text for this path has changed. */
  heardOf(path: string): void {
    const names = this.#wanted.get(dirname(path));
    if (names === null || names?.has(basename(path)) === true) this.#soon();
  }

  /** Drops all watches and reports a change: folders may have been replaced. */
  renew(): void {
    for (const folder of this.#watchers.keys()) this.#unwatch(folder);
    this.#soon();
  }

  #wantWayTo(path: string): void {
    for (let child = path, folder = dirname(child); folder !== child; folder = dirname(child)) {
      // The root of the file system is not watched.
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

  /** Watches the wanted folders that exist; returns true if a watch was added. */
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
      // A folder that disappears may end its watch; the next reading finds out.
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
    // The folder with this name may now be another one than the watched one.
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
    const { clock } = this.#options;
    const nowMs = clock.monotonic();
    this.#sinceMs ??= nowMs;
    const leftMs = Math.max(0, this.#sinceMs + mostUnsettledMs - nowMs);
    this.#timer?.[Symbol.dispose]();
    this.#timer = clock.timer(Math.min(settleMs, leftMs), () => {
      this.#timer = null;
      this.#sinceMs = null;
      // Watched before it is read, so that no change is lost in between.
      this.#arm();
      this.changed.emit();
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    for (const folder of this.#watchers.keys()) this.#unwatch(folder);
    this.#wanted.clear();
  }
}

/** Returns the folder and those beneath it; links are not followed. */
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
    // Gone or not readable: there is nothing to watch, and reading the program reports it.
    if (isMissing(error) || isRefused(error)) return [];
    throw error;
  }
}
