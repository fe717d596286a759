import type { Embedded, EmbedHere } from "../../memory-contract/store-port.ts";
import type { OnnxModel } from "../../memory-contract/store-settings.ts";
import { type Embedder, EmbeddingError } from "./port.ts";
import { inBatches, refuseBlank } from "./texts.ts";

/** Bounds of one call to the inference host. */
const batch = { maxTexts: 64, maxCharacters: 256 * 1024 };

type Vectors = Extract<Embedded, { name: string }>;

/** A sentence model of BERT's family from a file, which runs in the inference host. Throws EmbeddingError, with what to do. */
export async function createOnnxEmbedder(model: OnnxModel, embedHere: EmbedHere): Promise<Embedder> {
  const ask = async (texts: readonly string[]): Promise<Vectors> => {
    const answer = await embedHere(model, texts);
    if ("name" in answer) return answer;
    throw new EmbeddingError(answer.failure, { isRetryable: answer.isRetryable });
  };
  const { name, dimensions } = await ask([]);
  // One after the other: two runs at once would only take each other's processors.
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const run = async (texts: readonly string[]): Promise<Float32Array[]> => {
    const vectors: Float32Array[] = [];
    for (const part of inBatches(texts, batch)) {
      const answer = await ask(part);
      // A host that was started again has loaded what lies at the path by now.
      if (answer.name !== name)
        throw new EmbeddingError(
          `The model at ${model.path} is another one by now: ${answer.name}, not ${name}.`,
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
    async embed(texts) {
      refuseBlank(texts);
      if (isClosed) throw new EmbeddingError("The embedder was closed.", { isRetryable: true });
      const mine = last.then(() => run(texts));
      last = mine.catch(() => undefined);
      return await mine;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await last;
    },
  };
}
