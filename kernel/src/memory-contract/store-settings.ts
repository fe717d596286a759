export type EngineName = "exact" | "faiss" | "usearch";
/** `auto`: exact below 10,000 vectors; above, faiss where it loads, else usearch. */
export type EngineChoice = EngineName | "auto";

/** As `memory.embedder` in the documents says it, resolved; what can reach out comes from the user's document only. */
export type EmbedderSpec =
  | { readonly kind: "hash"; readonly dimensions?: number }
  | {
      readonly kind: "openai-compatible";
      /** Base: the endpoint is `<url>/v1/embeddings`, or `<url>/embeddings` where the base already ends in /v1. */
      readonly url: string;
      readonly model: string;
      readonly dimensions?: number;
      /** From the environment (LARES_EMBEDDER_KEY); never logged, never written down. */
      readonly key?: string;
    }
  | {
      readonly kind: "onnx";
      readonly path: string;
      readonly dimensions?: number;
      /** The name by which `lares models fetch` brings it; absent where a person named a file of their own. */
      readonly fetchedAs?: string;
    };

/** A sentence model in a file, which runs in the inference host. */
export type OnnxModel = Extract<EmbedderSpec, { kind: "onnx" }>;

/** What a memory's projections are to be like. A change is followed in the background; the old serves meanwhile. */
export interface StoreSettings {
  readonly vectors: EngineChoice;
  readonly embedder: EmbedderSpec;
  /** Vectors kept at most; beyond it the coldest lose theirs and stay findable by text. */
  readonly maxVectors: number;
  /** Nothing is embedded while vectors that came with an import are still being given. */
  readonly isGivenVectors?: boolean;
}
