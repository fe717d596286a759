import { watch, readFileSync, type FSWatcher } from "node:fs";
import { systemCode } from "../../base/errors.ts";
import type { OpenFolder } from "./folder-reader.ts";

interface FolderWatchEvents {
  /**
   * Something happened to `name` in the folder that was added with this key. With an empty key, `name` is a path
   * from the root. With a null name, the affected entry is unknown.
   */
  hint(key: object | null, name: string | null): void;
  /** Hints may have been lost; only a full scan finds all changes. */
  lost(reason: string): void;
  /** The system refuses further watches; changes in this folder are found only by scanning again. */
  refused(reason: string): void;
}

/**
 * Watches folders. On Linux each folder has an inotify watch of its own, so the caller decides exactly what is
 * watched; elsewhere one native recursive watch covers the root, and `add` and `remove` do nothing. It follows no
 * links and reads nothing; it only reports where to look.
 */
export interface FolderWatch extends Disposable {
  /** Returns false if the system refuses the watch. `folder` must be open. */
  add(key: object, folder: OpenFolder): boolean;
  remove(key: object): void;
}

export function watchFolders(root: string, events: FolderWatchEvents): FolderWatch {
  return process.platform === "linux" ? watchEachFolder(events) : watchRecursively(root, events);
}

/** The length of inotify's queue. Events beyond it are dropped, and libuv does not report that. */
function queueLength(): number {
  try {
    return Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8")) || 16_384;
  } catch {
    // The file is missing in some containers; this is the kernel's default.
    return 16_384;
  }
}

function watchEachFolder(events: FolderWatchEvents): FolderWatch {
  const watchers = new Map<object, FSWatcher>();
  // After an overflow, the whole queue is read within one turn of the loop. So half a queue of hints in one turn
  // counts as an overflow.
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
        const code = systemCode(error);
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
