import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, systemCode } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { writeFileAtomically } from "./atomic-file.ts";
import { failpoint } from "../failpoint.ts";
import { openPlainFile, setAside, UnusableFile } from "./plain-file.ts";

/** A folder of files that can be recreated, so that loss or damage only costs time. */
export interface CacheFolder {
  /** Returns exactly what was written under this name; null if the file is missing or different. */
  read(name: string): Promise<Uint8Array | null>;
  write(name: string, bytes: Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
}

interface CacheFolderOptions {
  readonly maxFiles: number;
  /** Without the key, nobody can add a file that is accepted. */
  readonly key: Uint8Array;
  readonly log: Log;
}

const keyBytes = 32;
const sealBytes = 32;

/**
 * Returns the key that seals a cache, and creates it if it is missing. It is stored outside the cache's folder, so
 * that files from elsewhere, or written by another program, are not accepted.
 */
export async function cacheKey(path: string, log: Log): Promise<Uint8Array> {
  try {
    await using file = await openPlainFile(path, "read");
    if ((await file.stat()).size === keyBytes) return new Uint8Array(await file.readFile());
  } catch (error) {
    if (error instanceof UnusableFile) await setAside(path, Date.now());
    if (systemCode(error) !== "ENOENT")
      log.warn("The cache's key cannot be read; it is made again.", { path, reason: messageOf(error) });
  }
  const key = randomBytes(keyBytes);
  try {
    await writeFileAtomically(path, key);
  } catch (error) {
    // The next start then recreates the cached files.
    log.warn("The cache's key could not be kept.", { path, reason: messageOf(error) });
  }
  return new Uint8Array(key);
}

/**
 * Opens a folder that keeps at most `maxFiles` files and evicts the least recently used. Each file is sealed
 * together with its name; a changed or renamed file is removed unread.
 */
export function openCacheFolder(path: string, options: CacheFolderOptions): CacheFolder {
  const remove = (name: string): Promise<void> => rm(join(path, name), { force: true });
  const sealOf = (name: string, bytes: Uint8Array): Buffer =>
    createHmac("sha256", options.key).update(`${name}\0`).update(bytes).digest();
  return {
    remove,
    async read(name) {
      try {
        await using file = await openPlainFile(join(path, name), "read");
        const sealed = new Uint8Array(await file.readFile());
        const bytes = sealed.slice(sealBytes);
        if (
          sealed.length < sealBytes ||
          !timingSafeEqual(sealed.subarray(0, sealBytes), sealOf(name, bytes))
        ) {
          options.log.warn("A file in the cache is not what was put there; it is made again.", {
            path,
            name,
          });
          await remove(name);
          return null;
        }
        const now = new Date();
        await file.utimes(now, now);
        return bytes;
      } catch (error) {
        if (systemCode(error) === "ENOENT") return null;
        if (!(error instanceof UnusableFile)) throw error;
        options.log.warn(`${error.message} It is made again.`, { path, name });
        await rm(join(path, name), { recursive: true, force: true });
        return null;
      }
    },
    async write(name, bytes) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      const temporary = join(path, `.${name}.${process.pid}.${crypto.randomUUID()}`);
      failpoint("cache.write.begun");
      try {
        await writeFile(temporary, Buffer.concat([sealOf(name, bytes), bytes]), { mode: 0o600, flag: "wx" });
        failpoint("cache.write.written");
        await rename(temporary, join(path, name));
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      failpoint("cache.write.renamed");
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
        if (systemCode(error) === "ENOENT") return { name, usedAt: 0 };
        throw error;
      }
    }),
  );
  used.sort((a, b) => a.usedAt - b.usedAt);
  for (const { name } of used.slice(0, names.length - maxFiles)) {
    await rm(join(path, name), { force: true });
    failpoint("cache.drop.removed");
  }
}
