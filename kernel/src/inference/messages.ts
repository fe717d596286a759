import type { OnnxModel } from "../memory-contract/store-settings.ts";

/** Where the host finds the packages that it loads; null: not installed. */
export type Runtimes = Readonly<Record<"onnxruntime-node", string | null>>;

export interface EmbedCall {
  readonly model: OnnxModel;
  /** All files that decide the model's vectors, by path, in the order of its digest; they may be missing. */
  readonly files: readonly string[];
  /** Empty: only the name and the dimensions are asked for, and the files are looked at again. */
  readonly texts: readonly string[];
}

/** Why there is no answer. `Unusable`: trying again does not help until a person mends it. */
export interface InferenceFailure {
  readonly class: "Unusable" | "Busy" | "Died";
  readonly message: string;
}

export type ToHost = { readonly kind: "embed"; readonly id: number; readonly call: EmbedCall };

export type FromHost =
  /** bytes: the vectors in order, as 32-bit floats. */
  | { readonly kind: "embedded"; readonly id: number; readonly name: string; readonly dimensions: number }
  | { readonly kind: "failed"; readonly id: number; readonly failure: InferenceFailure };
