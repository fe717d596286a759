import { canonicalJson } from "../base/json.ts";
import { PrefixFold } from "../base/prefix-fold.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { ModelMessage, ModelTool } from "../base/vocabulary/model.ts";
import { sha256, sha256Sum, type Sha256Sum } from "../platform/files/hash.ts";

/** Digests of messages and tools; requests of one conversation share most of them. */
const digests = new WeakMap<object, Hash>();

/** A sum over the text before the end of the messages. */
interface Summed {
  readonly sum: Sha256Sum;
  readonly isEmpty: boolean;
}

const summed = new PrefixFold<ModelMessage, Summed>({
  begin: () => ({ sum: sha256Sum().update('{"messages":['), isEmpty: true }),
  take: ({ sum, isEmpty }, message) => ({
    sum: sum.update(`${isEmpty ? "" : ","}"${digestOf(message)}"`),
    isEmpty: false,
  }),
  copy: ({ sum, isEmpty }) => ({ sum: sum.copy(), isEmpty }),
});

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
  const sum = summed.over(messages).sum.update(`],"tools":${JSON.stringify(tools.map(digestOf))}}`);
  return `sha256:${Buffer.from(sum.digest()).toString("hex")}`;
}

function digestOf(part: ModelMessage | ModelTool): Hash {
  const known = digests.get(part);
  if (known !== undefined) return known;
  const digest = sha256(canonicalJson(part));
  digests.set(part, digest);
  return digest;
}
