import type { maxInlineBytes as kernelMaxInlineBytes } from "../../../../kernel/src/base/vocabulary/bounds.ts";
import type { GuestCallParams } from "../../../../kernel/src/protocol/guest/v1/calls.ts";
import type {
  InferAnswer,
  InferRequest,
  Tensor,
  TensorInput,
  TensorType,
  TensorValues,
} from "../types/infer.ts";
import { blobOf, bytesOfBlob } from "./blobs.ts";
import { base64Of, bytesOf } from "./bytes.ts";
import { type Kernel, withSignal } from "./kernel.ts";

type WireTensor = GuestCallParams<"ai/infer">["inputs"][number];

/** Bytes of all inputs that one message holds itself. */
const maxInlineBytes: typeof kernelMaxInlineBytes = 600_000;

const arrays = {
  float32: Float32Array,
  float64: Float64Array,
  int64: BigInt64Array,
  int32: Int32Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
} as const satisfies Record<TensorType, unknown>;

/** Runs a model of the extension. Inputs and outputs that do not fit a message travel as blobs. */
export async function inferred(
  kernel: Kernel,
  { model, inputs, signal }: InferRequest,
): Promise<InferAnswer> {
  const wire: WireTensor[] = [];
  let inline = 0;
  for (const input of inputs) {
    const bytes = bytesOfValues(input.data);
    const fits = inline + bytes.length <= maxInlineBytes;
    if (fits) inline += bytes.length;
    const content = fits ? { base64: base64Of(bytes) } : { blob: await blobOf(kernel, bytes) };
    wire.push({ name: input.name, type: typeOf(input), dims: [...input.dims], ...content });
  }
  const answer = await kernel.call("ai/infer", { model, inputs: wire }, withSignal(signal));
  const outputs: Tensor[] = [];
  for (const { name, type, dims, base64 = "", blob } of answer.outputs) {
    const bytes = blob === undefined ? bytesOf(base64) : await bytesOfBlob(kernel, blob);
    outputs.push({ name, dims, ...valuesOf(type, bytes) });
  }
  return { outputs };
}

/** Returns the type that was given, or the array's. */
export function typeOf({ type, data, name }: TensorInput): TensorType {
  if (type !== undefined) return type;
  const found = Object.entries(arrays).find(([, array]) => data instanceof array);
  if (found === undefined)
    throw new TypeError(
      `The data of ${JSON.stringify(name)} must be one of ${[...new Set(Object.values(arrays).map((array) => array.name))].join(", ")}.`,
    );
  return found[0] as TensorType;
}

export function bytesOfValues({ buffer, byteOffset, byteLength }: TensorValues["data"]): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** The bytes are copied, because an array of larger numbers cannot begin anywhere. */
export function valuesOf(type: TensorType, bytes: Uint8Array): TensorValues {
  return { type, data: new arrays[type](bytes.slice().buffer) } as TensorValues;
}
