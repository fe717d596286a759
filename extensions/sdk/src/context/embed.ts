import type { maxEmbeddedTexts } from "../../../../kernel/src/base/vocabulary/bounds.ts";
import type { GuestCallResult } from "../../../../kernel/src/protocol/guest/v1/calls.ts";
import { isLaresError, LaresError } from "../errors.ts";
import type { CallOptions } from "../types/call.ts";
import type { Embeddings } from "../types/outside.ts";
import type { Kernel } from "./kernel.ts";

const maxTexts: typeof maxEmbeddedTexts = 64;
/** Six bytes each at most: so many fit a message. */
const maxCharacters = 150_000;

/** Embeds the texts in as many calls as they and their vectors need. */
export async function embedded(
  kernel: Kernel,
  texts: readonly string[],
  options?: CallOptions,
): Promise<Embeddings> {
  const embeddings: number[][] = [];
  let first: GuestCallResult<"ai/embed"> | undefined;
  let most: number = maxTexts;
  for (let from = 0; from < texts.length || first === undefined;) {
    const part = texts.slice(from, from + fitting(texts, from, most));
    try {
      const answer = await kernel.call("ai/embed", { texts: part }, options);
      first ??= answer;
      if (answer.embedder !== first.embedder)
        throw new LaresError("Busy", "The embedder was changed meanwhile. Embed the texts again.");
      embeddings.push(...answer.embeddings);
      from += part.length;
    } catch (error) {
      const fewer = isLaresError(error, "LimitExceeded") ? vectorsThatFit(error) : null;
      // A limit that this part keeps would be refused for ever.
      if (fewer === null || fewer >= part.length) throw error;
      most = fewer;
    }
  }
  const { dimensions, embedder } = first;
  return { embeddings, dimensions, embedder };
}

/** Returns how many texts one call takes; at least one, also if it is too long. */
function fitting(texts: readonly string[], from: number, most: number): number {
  let characters = 0;
  let count = 0;
  while (count < most && from + count < texts.length) {
    characters += texts[from + count]?.length ?? 0;
    if (count > 0 && characters > maxCharacters) break;
    count++;
  }
  return count;
}

function vectorsThatFit({ facts }: LaresError): number | null {
  const { limit, value } = facts;
  return limit === "texts" && typeof value === "number" && value >= 1 ? value : null;
}
