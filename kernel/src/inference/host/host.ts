import { messageOf } from "../../base/errors.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import type { EmbedCall, InferenceFailure } from "../messages.ts";
import { modelDigest } from "./onnx/model-digest.ts";
import { createOnnxEmbedder, type OnnxEmbedder, type OnnxRuntime } from "./onnx/onnx.ts";
import { DamagedModel, RefusedRun, UnusableModel } from "../unusable.ts";

interface Loaded {
  readonly digest: Promise<string>;
  readonly embedder: Promise<OnnxEmbedder>;
}

interface Embedded {
  readonly name: string;
  readonly dimensions: number;
  readonly vectors: Uint8Array;
}

/** The inference host without its pipe. All memories with the same model share one. */
export class InferenceHost {
  readonly #loadOnnx: () => Promise<OnnxRuntime>;
  /** From the least to the most recently used. */
  readonly #loaded = new Map<string, Loaded>();

  constructor(loadOnnx: () => Promise<OnnxRuntime>) {
    this.#loadOnnx = loadOnnx;
  }

  /** Throws UnusableModel, with what to do. */
  async embed(call: EmbedCall): Promise<Embedded> {
    const { name, dimensions, embed } = await this.#modelOf(call);
    const vectors = new Float32Array(call.texts.length * dimensions);
    for (const [at, vector] of (await embed(call.texts)).entries()) vectors.set(vector, at * dimensions);
    return { name, dimensions, vectors: new Uint8Array(vectors.buffer) };
  }

  async #modelOf({ model, files, texts }: EmbedCall): Promise<OnnxEmbedder> {
    const key = JSON.stringify([model.path, model.dimensions]);
    const found = this.#loaded.get(key);
    // Opening checks the files again: a person may have replaced the model.
    const digest = found !== undefined && texts.length > 0 ? found.digest : modelDigest(model.path, files);
    // If the model cannot be read, the embedder reports it.
    digest.catch(() => undefined);
    if (found !== undefined && (await sameText(found.digest, digest)) && this.#loaded.get(key) === found) {
      this.#loaded.delete(key);
      this.#loaded.set(key, found);
      return await found.embedder;
    }
    const loaded: Loaded = { digest, embedder: createOnnxEmbedder(model, digest, this.#loadOnnx) };
    this.#release(key);
    this.#loaded.set(key, loaded);
    for (const oldest of this.#loaded.keys()) {
      if (this.#loaded.size <= bounds.maxLoadedModels) break;
      this.#release(oldest);
    }
    // The error comes from `embedder`; the next call tries again.
    loaded.embedder.catch(() => this.#loaded.get(key) === loaded && this.#loaded.delete(key));
    return await loaded.embedder;
  }

  /** A run that is under way is still answered. */
  #release(key: string): void {
    const loaded = this.#loaded.get(key);
    this.#loaded.delete(key);
    loaded?.embedder.then(
      (embedder) => embedder[Symbol.asyncDispose](),
      () => undefined,
    );
  }
}

async function sameText(one: Promise<string>, other: Promise<string>): Promise<boolean> {
  if (one === other) return true;
  const [first, second] = await Promise.allSettled([one, other]);
  return first.status === "fulfilled" && second.status === "fulfilled" && first.value === second.value;
}

export function failureOf(error: unknown): InferenceFailure {
  return { class: classOf(error), message: messageOf(error) };
}

function classOf(error: unknown): InferenceFailure["class"] {
  if (error instanceof UnusableModel) return "Unusable";
  if (error instanceof RefusedRun) return "Refused";
  return error instanceof DamagedModel ? "Damaged" : "Died";
}
