import { canonicalJson } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { ModelMessage, ModelTool } from "../base/vocabulary/model.ts";
import { sha256 } from "../platform/files/hash.ts";

/** Digests of messages and tools; requests of one conversation share most of them. */
const digests = new WeakMap<object, Hash>();

/**
 * Returns the digest of a request: SHA-256 of the canonical JSON of the digests of its messages and of its tools, so that
 * only what is new since the last request is hashed.
 */
export function requestDigest({
  messages,
  tools,
}: {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
}): Hash {
  // Digests need no escapes and the keys are in order, so this is canonical already.
  return sha256(JSON.stringify({ messages: messages.map(digestOf), tools: tools.map(digestOf) }));
}

function digestOf(part: ModelMessage | ModelTool): Hash {
  const known = digests.get(part);
  if (known !== undefined) return known;
  const digest = sha256(canonicalJson(part));
  digests.set(part, digest);
  return digest;
}
