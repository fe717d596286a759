import { watch, type FSWatcher } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { isMissing } from "./read-documents.ts";

/** Changes that come within this time are read together: an editor's save is several. */
const settleMs = 50;

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
  }): void {
    const wanted = new Map<string, { recursive: boolean; matters: (name: string) => boolean }>();
    const isDocument = (name: string): boolean => /^lares\.(ya?ml|toml)$/.test(name) || name === ".lares";
    for (const folder of [...options.roots, options.userFolder]) {
      wanted.set(folder, { recursive: false, matters: isDocument });
    }
    for (const root of options.roots) {
      wanted.set(join(root, ".lares"), { recursive: false, matters: () => true });
      wanted.set(join(root, ".lares", "extensions"), { recursive: false, matters: () => true });
    }
    for (const folder of options.extensionFolders)
      wanted.set(folder, { recursive: true, matters: () => true });
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const [folder, { recursive, matters }] of wanted) this.#add(folder, recursive, matters);
  }

  #add(folder: string, recursive: boolean, matters: (name: string) => boolean): void {
    if (this.#watchers.has(folder)) return;
    try {
      const watcher = watch(folder, { recursive, persistent: false }, (_kind, name) => {
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
    this.#timer ??= this.#clock.timer(settleMs, () => {
      this.#timer = null;
      this.#changed();
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }
}
