import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { newId } from "../base/ids.ts";
import { writeFileAtomically } from "../platform/files/atomic-file.ts";
import type { ShownFiles } from "../server/language/ports.ts";

export const shownFolder = "shown";

/** Maximum number of documents stored for editors; the oldest are removed first. */
const maxKept = 20;

/**
 * Writes documents for an editor to open, readable only by their owner and read-only. The first one also removes
 * those of an earlier kernel.
 */
export function openShownFiles(stateFolder: string): ShownFiles {
  const folder = join(stateFolder, shownFolder);
  let kept: Promise<string[]> | null = null;
  return {
    async write(name, text) {
      kept ??= emptied(folder);
      const paths = await kept;
      // Each has a new name, because an editor may cache the content of a known name.
      const path = join(folder, `${name}-${newId().slice(-8)}.diff`);
      await writeFileAtomically(path, text, { mode: 0o400 });
      paths.push(path);
      for (const oldest of paths.splice(0, Math.max(0, paths.length - maxKept)))
        await rm(oldest, { force: true });
      return pathToFileURL(path).href;
    },
  };
}

async function emptied(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) await rm(join(folder, name), { force: true, recursive: true });
  return [];
}
