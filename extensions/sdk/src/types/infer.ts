import type { CallOptions } from "./call.ts";

/** The numbers of a tensor, row by row. A `bool` is a byte with 0 or 1. */
export type TensorValues =
  | { readonly type: "float32"; readonly data: Float32Array }
  | { readonly type: "float64"; readonly data: Float64Array }
  | { readonly type: "int64"; readonly data: BigInt64Array }
  | { readonly type: "int32"; readonly data: Int32Array }
  | { readonly type: "int8"; readonly data: Int8Array }
  | { readonly type: "uint8" | "bool"; readonly data: Uint8Array };
export type TensorType = TensorValues["type"];

interface TensorShape {
  /** The model's input or output. */
  readonly name: string;
  /** Its length in each dimension; empty for a single number. */
  readonly dims: readonly number[];
}

/** An output of a model. */
export type Tensor = TensorShape & TensorValues;

/** An input of a model. Its type is by default the array's. */
export type TensorInput = TensorShape & {
  readonly type?: TensorType;
  readonly data: TensorValues["data"];
};

export interface InferRequest extends CallOptions {
  /** Its name under `models` in the manifest. */
  readonly model: string;
  /** At most 32 MiB in all. */
  readonly inputs: readonly TensorInput[];
}

export interface InferAnswer {
  /** In the model's order; at most 32 MiB in all. */
  readonly outputs: readonly Tensor[];
}

/** A model that the agent may run by `ctx.ai.infer`; it may still have to be fetched. */
export interface OwnModel {
  readonly name: string;
  /** Free text; absent if none is declared. */
  readonly version?: string;
  /** 64 hexadecimal digits; another digest is another model. */
  readonly sha256: string;
}
