import { canonicalJson } from "../../base/json.ts";
import { sha256 } from "../../platform/files/hash.ts";
import { slotOf } from "../metadata.ts";
import type { Operation } from "../operations.ts";

/**
 * Returns a key for the set of things that the operations change: paths, and tags, fields or sidecars of entries. A new
 * proposal of an agent supersedes its older one with the same key.
 */
export function targetsOf({ operations }: { readonly operations: readonly Operation[] }): string {
  const targets = new Set(operations.flatMap(targetOf));
  return sha256(canonicalJson([...targets].toSorted()));
}

function targetOf(operation: Operation): string[] {
  switch (operation.do) {
    case "move":
      return [operation.from, operation.to];
    case "metadata":
      return [slotOf(operation.change)];
    case "put":
    case "remove":
    case "mkdir":
    case "rmdir":
      return [operation.path];
  }
}
