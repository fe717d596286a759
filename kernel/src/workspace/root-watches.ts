import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { watchFolders, type FolderWatch } from "../platform/files/folder-watch.ts";
import { workspaceTimes } from "./limits.ts";
import type { Place, Places } from "./places.ts";
import type { EntryNode } from "./tree.ts";

interface RootWatchesPorts {
  readonly places: Places;
  readonly clock: Clock;
  readonly log: Log;
  /** Something happened to this name; null if the name is unknown. */
  hint(folder: EntryNode, name: string | null): void;
  rescan(): Promise<void>;
}

/** Watches the folders of each root, and scans periodically if the system refuses to watch some. */
export class RootWatches implements Disposable {
  readonly #ports: RootWatchesPorts;
  readonly #watches = new Map<EntryNode, FolderWatch>();
  #rescans: Disposable | null = null;
  #isDisposed = false;

  constructor(ports: RootWatchesPorts) {
    this.#ports = ports;
  }

  watch(place: Place): void {
    const { places, log, hint, rescan } = this.#ports;
    const watch = watchFolders(place.reader.root, {
      hint: (folder, name) => {
        if (folder !== null) hint(folder as EntryNode, name);
        else if (name === null) void rescan();
        else {
          const nearest = places.nearest(places.all.length === 1 ? name : `${place.name}/${name}`);
          if (nearest !== null) hint(nearest.folder, nearest.names[0] ?? null);
        }
      },
      lost: (reason) => {
        log.warn("The watcher may have missed changes. Everything is scanned again.", { reason });
        void rescan();
      },
      refused: (reason) => this.#rescanPeriodically(reason),
    });
    this.#watches.set(place.node, watch);
  }

  /** Called when a root was replaced, because its watches are on the old folders. */
  renew(place: Place): void {
    this.#watches.get(place.node)?.[Symbol.dispose]();
    this.#watches.delete(place.node);
    try {
      this.watch(place);
    } catch (error) {
      // The root is already missing again; the next check of the roots notices that.
      this.#rescanPeriodically(messageOf(error));
    }
  }

  /** Returns the watch of the folder's root. */
  of(folder: EntryNode): FolderWatch | undefined {
    for (let at: EntryNode | null = folder; at !== null; at = at.parent) {
      const watch = this.#watches.get(at);
      if (watch !== undefined) return watch;
    }
    return undefined;
  }

  /** Removes a folder that has left the tree, so that its root is no longer known. */
  removeEverywhere(folder: EntryNode): void {
    for (const watch of this.#watches.values()) watch.remove(folder);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#rescans?.[Symbol.dispose]();
    for (const watch of this.#watches.values()) watch[Symbol.dispose]();
  }

  #rescanPeriodically(reason: string): void {
    if (this.#rescans !== null || this.#isDisposed) return;
    this.#ports.log.warn(
      "Some folders cannot be watched; changes in them are found late. Raise fs.inotify.max_user_watches, or ignore large folders.",
      { reason, everyMs: workspaceTimes.unwatchedRescanMs },
    );
    const arm = (): void => {
      this.#rescans = this.#ports.clock.timer(workspaceTimes.unwatchedRescanMs, () => {
        void this.#ports.rescan().finally(() => {
          if (!this.#isDisposed) arm();
        });
      });
    };
    arm();
  }
}
