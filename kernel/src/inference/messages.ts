import type { ModelEvent, ModelRequest } from "../base/vocabulary/model.ts";
import type { TensorShape } from "../base/tensors.ts";
import type { OnnxModel } from "../memory-contract/store-settings.ts";

/** Where the host finds the package that it may load; null: not installed. */
export type Runtimes = Readonly<Partial<Record<RuntimePackage, string | null>>>;
export type RuntimePackage = "onnxruntime-node" | "node-llama-cpp";

export interface EmbedCall {
  readonly model: OnnxModel;
  /** All files that decide the model's vectors, by path, in the order of its digest; they may be missing. */
  readonly files: readonly string[];
  /** Empty: only the name and the dimensions are asked for, and the files are checked again. */
  readonly texts: readonly string[];
}

/** A language model as the person's document names it. */
export interface ModelFiles {
  /** The files, absolute; more than one if the model is split. */
  readonly files: readonly [string, ...string[]];
  /** Where the document names it: "models.providers.local.models.qwen.path". */
  readonly place: string;
}

export interface GenerateCall {
  readonly model: ModelFiles;
  /** The number in the document; null if it gives none. */
  readonly contextTokens: number | null;
  readonly request: ModelRequest;
}

/** What a run does; while it loads, the model's file may end the process. */
export type RunPhase = "loading" | "answering";

export interface InspectedModel {
  /** Its window; null if neither the document nor the file gives it. */
  readonly contextTokens: number | null;
}

/** A tensor on its way between kernel and host; the numbers of all follow each other in the message's bytes. */
export interface TensorHeader extends TensorShape {
  readonly byteLength: number;
}

export interface TensorCall {
  /** The path of the `.onnx` file, and what its content must be. */
  readonly file: string;
  readonly sha256: string;
  /** Completes sentences: `the model "faces"`. */
  readonly title: string;
  readonly inputs: readonly TensorHeader[];
  readonly maxOutputBytes: number;
}

/**
 * Why there is no answer. `Unusable`: a retry does not help until a person fixes it. `Refused`: the model does not take this
 * input, or gives what cannot be passed on. `Damaged`: the file is missing or is not what it should be.
 */
export interface InferenceFailure {
  readonly class: "Unusable" | "Busy" | "Died" | "Refused" | "Damaged";
  readonly message: string;
}

export type ToHost =
  | { readonly kind: "embed"; readonly id: number; readonly call: EmbedCall }
  | {
      readonly kind: "inspect";
      readonly id: number;
      readonly model: ModelFiles;
      /** The number in the document; null if it gives none. */
      readonly contextTokens: number | null;
    }
  /** bytes: the numbers of the inputs, in order. */
  | { readonly kind: "infer"; readonly id: number; readonly call: TensorCall }
  /** Answered with events, of which the host sends no more than it was granted. */
  | { readonly kind: "generate"; readonly id: number; readonly call: GenerateCall }
  | { readonly kind: "grant"; readonly id: number; readonly events: number }
  | { readonly kind: "cancel"; readonly id: number };

export type FromHost =
  /** bytes: the vectors in order, as 32-bit floats. */
  | { readonly kind: "embedded"; readonly id: number; readonly name: string; readonly dimensions: number }
  | { readonly kind: "inspected"; readonly id: number; readonly model: InspectedModel }
  /** bytes: the numbers of the outputs, in order. */
  | { readonly kind: "inferred"; readonly id: number; readonly outputs: readonly TensorHeader[] }
  | { readonly kind: "event"; readonly id: number; readonly event: ModelEvent }
  /** Something was computed. */
  | { readonly kind: "progress"; readonly id: number; readonly phase: RunPhase }
  | { readonly kind: "failed"; readonly id: number; readonly failure: InferenceFailure };
