import { neverAborted } from "../../base/abort.ts";
import type { Embedded, EmbedHere } from "../../memory-contract/store-port.ts";
import type { OnnxModel } from "../../memory-contract/store-settings.ts";
import { type Embedder, EmbeddingError } from "./port.ts";
import { inBatches, refuseBlank } from "./texts.ts";

/** Limits of one call to the inference host. */
const batch = { maxTexts: 64, maxCharacters: 256 * 1024 };

type Vectors = Extract<Embedded, { name: string }>;

/**
 * Returns an embedder for a sentence model of the BERT family in a file, which runs in the inference host.
 * Throws an EmbeddingError that says what to do.
 */
export async function createOnnxEmbedder(model: OnnxModel, embedHere: EmbedHere): Promise<Embedder> {
  const ask = async (texts: readonly string[]): Promise<Vectors> => {
    const answer = await embedHere(model, texts);
    if ("name" in answer) return answer;
    throw new EmbeddingError(answer.failure, { isRetryable: answer.isRetryable });
  };
  const { name, dimensions } = await ask([]);
  // One call at a time: two at once would only compete for the processors.
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const run = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const vectors: Float32Array[] = [];
    for (const part of inBatches(texts, batch)) {
      signal.throwIfAborted();
      const answer = await ask(part);
      // A restarted inference host loads the file again, which may have changed.
      if (answer.name !== name)
        throw new EmbeddingError(
          `The model at ${model.path} has changed: it is ${answer.name} now, not ${name}.`,
          {
            isRetryable: true,
          },
        );
      const values = new Float32Array(answer.vectors.slice().buffer);
      vectors.push(...part.map((_, at) => values.slice(at * dimensions, (at + 1) * dimensions)));
    }
    return vectors;
  };
  return {
    name,
    dimensions,
    knows: "meanings",
    isImmediate: false,
    async embed(texts, _purpose, signal = neverAborted) {
      refuseBlank(texts);
      if (isClosed) throw new EmbeddingError("The embedder was closed.", { isRetryable: true });
      const mine = last.then(() => run(texts, signal));
      last = mine.catch(() => undefined);
      return await mine;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await last;
    },
  };
}
