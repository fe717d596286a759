export type EngineName = "exact" | "faiss" | "usearch";
/** `auto`: exact below 10,000 vectors; above, faiss if it loads, else usearch. */
export type EngineChoice = EngineName | "auto";

/** The resolved `memory.embedder` of the documents. What can reach out comes from the user's document only. */
export type EmbedderSpec =
  | { readonly kind: "hash"; readonly dimensions?: number }
  | {
      readonly kind: "openai-compatible";
      /** Base URL: the endpoint is `<url>/v1/embeddings`, or `<url>/embeddings` if the base already ends in /v1. */
      readonly url: string;
      readonly model: string;
      readonly dimensions?: number;
      /** From the environment (LARES_EMBEDDER_KEY); never logged and never stored. */
      readonly key?: string;
    }
  | {
      readonly kind: "onnx";
      readonly path: string;
      readonly dimensions?: number;
      /** The name by which `lares models fetch` downloads it; absent if a person named a file of their own. */
      readonly fetchedAs?: string;
    };

/** A sentence model in a file, which runs in the inference host. */
export type OnnxModel = Extract<EmbedderSpec, { kind: "onnx" }>;

/** How a memory's projections are built. A change is applied in the background; the old projections serve meanwhile. */
export interface StoreSettings {
  readonly vectors: EngineChoice;
  readonly embedder: EmbedderSpec;
  /** Maximum vectors that are stored; beyond it, the coldest items lose theirs and can be found by text. */
  readonly maxVectors: number;
  /** True while an import is still giving vectors: nothing is embedded meanwhile. */
  readonly isGivenVectors?: boolean;
}
