import { createHashEmbedder } from "./hash.ts";
import { createOnnxEmbedder } from "./onnx.ts";
import { createOpenAiCompatibleEmbedder } from "./openai-compatible.ts";
import type { Embedder } from "./port.ts";
import type { EmbedderSpec } from "../../memory-contract/store-settings.ts";

/**
 * The embedder that a document asks for. One for each memory: `hash` learns from its texts. Throws InvalidParams for
 * what the document says wrong; EmbeddingError where a model cannot be loaded, or a service has to be asked for its
 * dimensions and does not answer.
 */
export async function createEmbedder(spec: EmbedderSpec): Promise<Embedder> {
  switch (spec.kind) {
    case "hash":
      return createHashEmbedder(spec);
    case "openai-compatible":
      return await createOpenAiCompatibleEmbedder(spec);
    case "onnx":
      return await createOnnxEmbedder(spec);
  }
}
