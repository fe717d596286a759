import { canonicalJson } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { sha256 } from "../platform/files/hash.ts";

/** A file that a manifest without a program names, with the digest of its bytes. */
interface BundledFile {
  /** Relative to the extension's folder. */
  readonly path: string;
  readonly hash: Hash;
}

/** Returns the digest of an agent without a program: over its manifest and the files that belong to it, in any order. */
export function digestOfBundle(manifestText: string, files: readonly BundledFile[]): Hash {
  const named = files.map(({ path, hash }) => [path, hash] as const);
  return sha256(
    canonicalJson({
      manifest: sha256(manifestText),
      files: named.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
    }),
  );
}
