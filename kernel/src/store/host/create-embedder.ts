import { createHashEmbedder } from "../embedding/hash.ts";
import { createOnnxEmbedder } from "../embedding/onnx/onnx.ts";
import { createOpenAiCompatibleEmbedder } from "../embedding/openai-compatible.ts";
import type { Embedder } from "../embedding/port.ts";
import type { PostOutside } from "../../memory-contract/store-port.ts";
import type { EmbedderSpec } from "../../memory-contract/store-settings.ts";

/**
 * The embedder that a document asks for. One for each memory: `hash` learns from its texts. Throws InvalidParams for
 * what the document says wrong; EmbeddingError where a model cannot be loaded, or a service has to be asked for its
 * dimensions and does not answer.
 */
export async function createEmbedder(spec: EmbedderSpec, post: PostOutside): Promise<Embedder> {
  switch (spec.kind) {
    case "hash":
      return createHashEmbedder(spec);
    case "openai-compatible":
      return await createOpenAiCompatibleEmbedder(spec, post);
    case "onnx":
      return await createOnnxEmbedder(spec);
  }
}
