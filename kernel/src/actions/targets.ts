import { canonicalJson } from "../base/json.ts";
import { sha256 } from "../platform/hash.ts";
import { slotOf } from "./metadata.ts";
import type { Operation } from "./operations.ts";

/**
 * Returns what stands for the set of things that the operations change: the paths, and beside an entry the tag, field or
 * sidecar. Of one agent's proposals with the same targets, the newest counts.
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
