import { type Embedder, EmbeddingError } from "../../embedding/port.ts";
import type { EmbedderSpec } from "../../../memory-contract/store-settings.ts";

const toyDimensions = 64;

/**
 * An embedder in which each word has a direction of its own, so texts that share words are similar.
 * Deterministic. With kind "hash" it answers at once; any other kind is a service, which a test can make fail
 * or wait.
 */
export class ToyEmbedder implements Embedder {
  readonly name: string;
  readonly dimensions: number;
  readonly knows = "meanings";
  readonly isImmediate: boolean;
  readonly asked: string[] = [];
  /** Called before each answer. */
  before: (texts: readonly string[], purpose: "item" | "query") => Promise<void> | void = () => {};
  isClosed = false;
  readonly #seed: number;

  constructor(spec: EmbedderSpec) {
    const model = spec.kind === "openai-compatible" ? spec.model : spec.kind;
    this.dimensions = spec.dimensions ?? toyDimensions;
    this.name = `toy/${model}/${this.dimensions}`;
    this.isImmediate = spec.kind === "hash";
    this.#seed = hashOf(model);
  }

  async embed(texts: readonly string[], purpose: "item" | "query"): Promise<Float32Array[]> {
    if (this.isClosed) throw new EmbeddingError("closed", { isRetryable: true });
    this.asked.push(...texts);
    await this.before(texts, purpose);
    return texts.map((text) => this.vectorOf(text));
  }

  vectorOf(text: string): Float32Array {
    const vector = new Float32Array(this.dimensions);
    for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["?"]) {
      let state = (hashOf(word) ^ this.#seed) >>> 0;
      for (let index = 0; index < vector.length; index += 1) {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        vector[index] = (vector[index] ?? 0) + state / 2 ** 31 - 1;
      }
    }
    const length = Math.hypot(...vector);
    return vector.map((value) => value / length);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true;
  }
}

function hashOf(word: string): number {
  let hash = 2_166_136_261;
  for (let index = 0; index < word.length; index += 1) {
    hash = Math.imul(hash ^ word.charCodeAt(index), 16_777_619);
  }
  return hash >>> 0;
}
