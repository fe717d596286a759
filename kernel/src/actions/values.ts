import type { JsonValue } from "../base/json.ts";
import { invalidParams, messageOf } from "../base/errors.ts";
import { canonicalJson, isJsonObject } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { ObjectStore } from "../platform/files/object-store.ts";
import type { HashedValue } from "./content-requests.ts";
import { actionLimits } from "./limits.ts";
import { restoring } from "./metadata.ts";
import { valueOf, type Operation } from "./operations.ts";

/** A content of the object store that an action needs. */
export interface KeptObject {
  readonly hash: Hash;
  readonly bytes: number;
}

/**
 * Returns the operation as stored: a large value becomes an object, under the hash that the operation leaves, and only
 * its hash remains.
 */
export function withoutLargeValue(operation: Operation): {
  readonly operation: Operation;
  readonly content: Uint8Array | null;
} {
  const value = operation.do === "metadata" ? valueOf(operation.change) : undefined;
  if (operation.do !== "metadata" || value === undefined) return { operation, content: null };
  const content = new TextEncoder().encode(canonicalJson(value));
  if (content.length <= actionLimits.metadataInlineBytes) return { operation, content: null };
  return { operation: withValueStored(operation), content };
}

/** Throws InvalidParams if the value has no canonical JSON. */
export function hashedValue(value: JsonValue): HashedValue {
  let content: Uint8Array;
  try {
    content = new TextEncoder().encode(canonicalJson(value));
  } catch (error) {
    throw invalidParams(`The value cannot be written as JSON: ${messageOf(error)}`);
  }
  return {
    hash: sha256(content),
    content: content.length <= actionLimits.metadataInlineBytes ? null : content,
  };
}

/** Returns the operation for a value that is stored as an object, under the hash that the operation leaves. */
export function withValueStored(operation: MetadataOperation): MetadataOperation {
  return { ...operation, change: restoring(operation.change, undefined), isStored: true };
}

type MetadataOperation = Extract<Operation, { do: "metadata" }>;

/** True if a value is small enough to be serialized at once: few parts and short texts. */
export function isSmallValue(value: unknown): boolean {
  let left = smallValueParts;
  const count = (part: unknown): boolean => {
    left -= 1 + (typeof part === "string" ? part.length : 0);
    if (left < 0) return false;
    if (Array.isArray(part)) return part.every(count);
    if (!isJsonObject(part)) return true;
    for (const key in part) {
      left -= key.length;
      if (!count(part[key])) return false;
    }
    return true;
  };
  return count(value);
}

/** Values, and characters of names and texts. */
const smallValueParts = 4096;

/** Returns the operation with its value, wherever that is stored. */
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
