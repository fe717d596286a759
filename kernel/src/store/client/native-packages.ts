import { storageError } from "../../base/errors.ts";
import { packagesAround } from "../../platform/children/child-process.ts";

/** What the store host and the rooms it uses import that does not lie in the kernel. */
const needed = ["@duckdb/node-api"] as const;
/** What it goes without where it is not installed. */
const optional = ["usearch", "faiss-node"] as const;

/** node-gyp-build, by which usearch finds its binary, looks whether the C library is musl's. */
const alpineMark = "/etc/alpine-release";

/** What the store host must read to load them; they bring dependencies of their own. It is public code only. */
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
