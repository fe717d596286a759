import { join } from "node:path";
import { cacheKey, type CacheFolder, openCacheFolder } from "../../platform/files/cache-folder.ts";
import type { KernelContext } from "./kernel-context.ts";

/** Opens a folder of this workspace's state whose files can be made again, sealed with the key of the workspace. */
export async function openCache(
  { stateFolder, log }: Pick<KernelContext, "stateFolder" | "log">,
  name: string,
  maxFiles: number,
): Promise<CacheFolder> {
  const key = await cacheKey(join(stateFolder, "cache.key"), log);
  return openCacheFolder(join(stateFolder, name), { maxFiles, key, log });
}
