import { createHashEmbedder } from "../embedding/hash.ts";
import { createOnnxEmbedder } from "../embedding/onnx.ts";
import { createOpenAiCompatibleEmbedder } from "../embedding/openai-compatible.ts";
import type { Embedder } from "../embedding/port.ts";
import type { EmbedHere, PostOutside } from "../../memory-contract/store-port.ts";
import type { EmbedderSpec } from "../../memory-contract/store-settings.ts";

/** Sends the embedders' requests to the kernel. */
export interface EmbedderPorts {
  readonly post: PostOutside;
  readonly embedHere: EmbedHere;
}

/**
 * Creates the embedder that a document asks for, one for each memory because `hash` learns from its texts.
 * Throws InvalidParams for errors in the document; EmbeddingError if a model cannot be loaded, or if a
 * service that is asked for its dimensions does not answer.
 */
export async function createEmbedder(
  spec: EmbedderSpec,
  { post, embedHere }: EmbedderPorts,
): Promise<Embedder> {
  switch (spec.kind) {
    case "hash":
      return createHashEmbedder(spec);
    case "openai-compatible":
      return await createOpenAiCompatibleEmbedder(spec, post);
    case "onnx":
      return await createOnnxEmbedder(spec, embedHere);
  }
}
