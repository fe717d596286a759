import { watch, readFileSync, type FSWatcher } from "node:fs";
import type { OpenFolder } from "./folder-reader.ts";

interface FolderWatchEvents {
  /**
   * Something happened to `name` in the folder that was added with this key. An empty key: `name` is a
   * path from the root. A null name: something happened, nobody knows to what.
   */
  hint(key: object | null, name: string | null): void;
  /** Hints may have been lost: only a look at everything will tell. */
  lost(reason: string): void;
  /** The system gives no more watches; what lies in this folder is seen by looking again only. */
  refused(reason: string): void;
}

/**
 * Watches the folders it is told to. On Linux each folder has one inotify watch of its own, so the caller
 * decides exactly what is watched; elsewhere one native recursive watch covers the root, and `add` and
 * `remove` have nothing to do. It follows nothing and looks at nothing: it only says where to look.
 */
export interface FolderWatch extends Disposable {
  /** False when the system refuses the watch. `folder` must be open. */
  add(key: object, folder: OpenFolder): boolean;
  remove(key: object): void;
}

export function watchFolders(root: string, events: FolderWatchEvents): FolderWatch {
  return process.platform === "linux" ? watchEachFolder(events) : watchRecursively(root, events);
}

/** The kernel's queue for one reader; what does not fit is dropped, and libuv does not tell. */
function queueLength(): number {
  try {
    return Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8")) || 16_384;
  } catch {
    // Not mounted in some containers: the kernel's default then.
    return 16_384;
  }
}

function watchEachFolder(events: FolderWatchEvents): FolderWatch {
  const watchers = new Map<object, FSWatcher>();
  // When the queue has overflowed, all it held is read in one go, without a turn of the loop in between.
  // So as many hints in one turn as half a queue holds are taken for an overflow.
  const suspicious = queueLength() / 2;
  let inThisTurn = 0;
  const count = (): void => {
    if (inThisTurn++ === 0) {
      setImmediate(() => {
        if (inThisTurn >= suspicious) events.lost(`${inThisTurn} changes were reported at once`);
        inThisTurn = 0;
      });
    }
  };
  return {
    add: (key, folder) => {
      if (watchers.has(key)) return true;
      try {
        const watcher = watch(folder.handle, { persistent: false }, (_event, name) => {
          count();
          events.hint(key, name);
        });
        watcher.on("error", (error) => events.lost(error.message));
        watchers.set(key, watcher);
        return true;
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code ?? "";
        if (code === "ENOENT" || code === "ENOTDIR") return true;
        events.refused(code === "ENOSPC" ? "fs.inotify.max_user_watches is used up" : String(error));
        return false;
      }
    },
    remove: (key) => {
      watchers.get(key)?.close();
      watchers.delete(key);
    },
    [Symbol.dispose]: () => {
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

function watchRecursively(root: string, events: FolderWatchEvents): FolderWatch {
  const watcher = watch(root, { recursive: true, persistent: false }, (_event, path) => {
    events.hint(null, path === null ? null : path.replaceAll("\\", "/"));
  });
  watcher.on("error", (error) => events.lost(error.message));
  return { add: () => true, remove: () => {}, [Symbol.dispose]: () => watcher.close() };
}
