import { existsSync, readdirSync, watch, type Dirent, type FSWatcher } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { isMissing } from "./read-documents.ts";

/** What was left alone for so long is read: an editor's save is several changes, and half of one is not to count. */
export const settleMs = 50;
/** What goes on changing is read all the same after so long. */
export const mostUnsettledMs = 1000;
/** Folders of one extension that are watched. */
const maxFoldersWatched = 1000;
/** Not a program's own: too many, and changed by installing, not by saving. */
const notWatched = new Set(["node_modules", ".git"]);

/**
 * Says when the documents, or anything in an extension's folder, may have changed. What changed is found by
 * reading them again.
 */
export class DocumentWatch implements Disposable {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #changed: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: Disposable | null = null;
  /** When the first change came that was not read yet. */
  #sinceMs: number | null = null;

  constructor(clock: Clock, log: Log, changed: () => void) {
    this.#clock = clock;
    this.#log = log;
    this.#changed = changed;
  }

  /** Watches exactly these from now on. */
  watch(options: {
    roots: readonly string[];
    userFolder: string;
    extensionFolders: readonly string[];
    /** Folders in which an extension's manifest may come to be, or be mended. */
    lookedAt: readonly string[];
  }): void {
    const wanted = new Map<string, (name: string) => boolean>();
    const always = (): boolean => true;
    const isDocument = (name: string): boolean => /^lares\.(ya?ml|toml)$/.test(name) || name === ".lares";
    for (const folder of [...options.roots, options.userFolder]) wanted.set(folder, isDocument);
    // Whoever writes a first document of their own makes the folder for it.
    const own = basename(options.userFolder);
    if (!existsSync(options.userFolder)) wanted.set(dirname(options.userFolder), (name) => name === own);
    for (const root of options.roots) {
      wanted.set(join(root, ".lares"), always);
      wanted.set(join(root, ".lares", "extensions"), always);
    }
    for (const folder of options.lookedAt) wanted.set(folder, always);
    for (const extension of options.extensionFolders) {
      for (const folder of foldersIn(extension)) wanted.set(folder, always);
    }
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const [folder, matters] of wanted) this.#add(folder, matters);
  }

  /** Folders may be others than those that were watched: the next reading begins anew. */
  renew(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#soon();
  }

  #add(folder: string, matters: (name: string) => boolean): void {
    if (this.#watchers.has(folder)) return;
    try {
      const watcher = watch(folder, { persistent: false }, (_kind, name) => {
        if (name === null || matters(name)) this.#soon();
      });
      // A folder that goes away takes its watch along; the next reading finds out.
      watcher.on("error", () => this.#drop(folder));
      this.#watchers.set(folder, watcher);
    } catch (error) {
      if (!isMissing(error)) this.#log.warn(`${folder} is not watched for changes: ${messageOf(error)}`);
    }
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
    this.#soon();
  }

  #soon(): void {
    const nowMs = this.#clock.monotonic();
    this.#sinceMs ??= nowMs;
    const leftMs = Math.max(0, this.#sinceMs + mostUnsettledMs - nowMs);
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#clock.timer(Math.min(settleMs, leftMs), () => {
      this.#timer = null;
      this.#sinceMs = null;
      this.#changed();
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }
}

/**
 * The folder and those beneath it, links not followed. Each is watched by itself: Node's recursive watch goes deaf on
 * Linux to a file that was once replaced by renaming, which is how many editors save.
 */
function foldersIn(extension: string): string[] {
  const folders = [extension];
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
    if (isMissing(error) || (error instanceof Error && "code" in error && error.code === "EACCES")) return [];
    throw error;
  }
}
