import type { JsonValue } from "../base/json.ts";
import { canonicalJson } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { ObjectStore } from "../platform/object-store.ts";
import { actionLimits } from "./limits.ts";
import { restoring } from "./metadata.ts";
import { valueOf, type Operation } from "./operations.ts";

/** A content of the object store that an action needs. */
export interface KeptObject {
  readonly hash: Hash;
  readonly bytes: number;
}

/**
 * The operation as it is written down: a large value goes to the object store, under the hash that the
 * operation leaves, and only its hash stays.
 */
export function withoutLargeValue(operation: Operation): {
  readonly operation: Operation;
  readonly content: Uint8Array | null;
} {
  const value = operation.do === "metadata" ? valueOf(operation.change) : undefined;
  if (operation.do !== "metadata" || value === undefined) return { operation, content: null };
  const content = new TextEncoder().encode(canonicalJson(value));
  if (content.length <= actionLimits.metadataInlineBytes) return { operation, content: null };
  return {
    operation: { ...operation, change: restoring(operation.change, undefined), isStored: true },
    content,
  };
}

/** The operation with its value, wherever that is. */
export async function withValue(
  objects: Pick<ObjectStore, "stream">,
  operation: Operation,
): Promise<Operation> {
  if (operation.do !== "metadata" || operation.isStored !== true || operation.after === null)
    return operation;
  const { isStored: _stored, ...rest } = operation;
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of objects.stream(operation.after)) text += decoder.decode(bytes, { stream: true });
  return { ...rest, change: restoring(operation.change, JSON.parse(text) as JsonValue) };
}
