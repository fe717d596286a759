import { canonicalJson } from "../../base/json.ts";
import type { Actor } from "../../base/vocabulary/principal.ts";
import { sha256 } from "../../platform/files/hash.ts";
import { slotOf } from "../metadata.ts";
import type { Operation } from "../operations.ts";

/**
 * Returns a key for the set of things that the operations change: paths, and tags, fields or sidecars of entries. A new
 * proposal of an agent supersedes its older one with the same key, if both are of the same work.
 */
export function targetsOf({ operations }: { readonly operations: readonly Operation[] }): string {
  const targets = new Set(operations.flatMap(targetOf));
  return sha256(canonicalJson([...targets].toSorted()));
}

/**
 * Returns a key for the work that a proposal belongs to: the processes of minds that led to it, and the same one if there
 * are none. Two processes of a mind are one agent, but work on different tasks: neither revises what the other proposed.
 */
export function workOf(onBehalfOf: readonly Actor[] = []): string {
  const processes = onBehalfOf.flatMap((actor) =>
    actor.kind === "process" ? [canonicalJson([actor.agent, actor.conversation, actor.id ?? ""])] : [],
  );
  return canonicalJson(processes.toSorted());
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
