import { createHashEmbedder } from "../embedding/hash.ts";
import { createOnnxEmbedder } from "../embedding/onnx.ts";
import { createOpenAiCompatibleEmbedder } from "../embedding/openai-compatible.ts";
import type { Embedder } from "../embedding/port.ts";
import type { EmbedHere, PostOutside } from "../../memory-contract/store-port.ts";
import type { EmbedderSpec } from "../../memory-contract/store-settings.ts";

/** What embedders ask of the kernel. */
export interface EmbedderPorts {
  readonly post: PostOutside;
  readonly embedHere: EmbedHere;
}

/**
 * The embedder that a document asks for. One for each memory: `hash` learns from its texts. Throws InvalidParams for
 * what the document says wrong; EmbeddingError where a model cannot be loaded, or a service has to be asked for its
 * dimensions and does not answer.
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
