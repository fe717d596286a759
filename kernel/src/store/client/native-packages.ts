import { storageError } from "../../base/errors.ts";
import { packagesAround } from "../../platform/children/child-process.ts";

/** Packages outside the kernel that the store host and the rooms it uses import. */
const needed = ["@duckdb/node-api"] as const;
/** Optional packages: the store host works without them. */
const optional = ["usearch", "faiss-node"] as const;

/**
 * node-gyp-build, by which usearch finds its binary, reads this path to find out whether the C library is
 * musl.
 */
const alpineMark = "/etc/alpine-release";

/**
 * Returns the paths that the store host must read to load these packages and their dependencies. All of it is
 * public code.
 */
export function packagePaths(importMetaUrl: string): string[] {
  const paths = new Set([alpineMark]);
  for (const name of needed) {
    const path = packagesAround(name, importMetaUrl);
    if (path === null) throw storageError(`The package "${name}" is not installed. Install Lares again.`);
    paths.add(path);
  }
  for (const name of optional) {
    const path = packagesAround(name, importMetaUrl);
    if (path !== null) paths.add(path);
  }
  return [...paths];
}
