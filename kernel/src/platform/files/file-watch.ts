import { watch } from "node:fs";
import { basename, dirname } from "./paths.ts";

interface FileWatchEvents {
  /** The file may have been created, changed or removed. Read it to find out. */
  changed(): void;
  /** The system has ended the watch. */
  lost(error: Error): void;
}

/** Watches one file through its folder, so that replacing it by a rename is reported. The folder must exist. */
export function watchFile(path: string, events: FileWatchEvents): Disposable {
  const name = basename(path);
  const watcher = watch(dirname(path), (_kind, changed) => {
    if (changed === name) events.changed();
  });
  watcher.on("error", (error) => events.lost(error));
  return { [Symbol.dispose]: () => watcher.close() };
}
