import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A folder of files that can be made again: what is lost or damaged there costs time and nothing else. */
export interface CacheFolder {
  /** Null where there is none. */
  read(name: string): Promise<Uint8Array | null>;
  write(name: string, bytes: Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
}

/** Opens a folder that keeps at most `maxFiles`, dropping those that were not used for the longest time. */
export function openCacheFolder(path: string, options: { readonly maxFiles: number }): CacheFolder {
  const remove = (name: string): Promise<void> => rm(join(path, name), { force: true });
  return {
    remove,
    async read(name) {
      try {
        const bytes = new Uint8Array(await readFile(join(path, name)));
        const now = new Date();
        await utimes(join(path, name), now, now);
        return bytes;
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    async write(name, bytes) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      const temporary = join(path, `.${name}.${process.pid}.${crypto.randomUUID()}`);
      await writeFile(temporary, bytes, { mode: 0o600, flag: "wx" });
      await rename(temporary, join(path, name));
      await dropOldest(path, options.maxFiles);
    },
  };
}

async function dropOldest(path: string, maxFiles: number): Promise<void> {
  const names = await readdir(path);
  if (names.length <= maxFiles) return;
  const used = await Promise.all(
    names.map(async (name) => {
      try {
        return { name, usedAt: (await stat(join(path, name))).mtimeMs };
      } catch (error) {
        if (isMissing(error)) return { name, usedAt: 0 };
        throw error;
      }
    }),
  );
  used.sort((a, b) => a.usedAt - b.usedAt);
  for (const { name } of used.slice(0, names.length - maxFiles)) await rm(join(path, name), { force: true });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
