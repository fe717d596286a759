import { createHash } from "node:crypto";
import { addingModel, allocatingModel } from "../../kernel/src/inference/testing/tensor-models.ts";

const floats = (...values: readonly number[]): string =>
  Buffer.from(Float32Array.from(values).buffer).toString("base64");
const integer = (value: bigint): string => Buffer.from(BigInt64Array.of(value).buffer).toString("base64");

/**
 * Calls of `ai/infer` and what a kernel answers. Only the slow tests have what runs models: they check that it is so, and the
 * reference shows it.
 */
export const inferExample = {
  model: addingModel(1),
  params: {
    model: "adding",
    inputs: [{ name: "x", type: "float32", dims: [1, 3], base64: floats(1, 2, 3) }],
  },
  result: { outputs: [{ name: "y", type: "float32", dims: [1, 3], base64: floats(2, 3, 4) }] },
} as const;

/** Its output is too large for the answer itself. The blob's id is another one each time. */
export const largeInferExample = {
  model: allocatingModel("all"),
  params: {
    model: "allocating",
    inputs: [{ name: "shape", type: "int64", dims: [1], base64: integer(200_000n) }],
  },
  result: {
    outputs: [
      { name: "all", type: "float32", dims: [200_000], blob: "0197a000-0000-7000-8000-00000000b10b" },
    ],
  },
} as const;

/** Returns how a manifest declares a model that `origin` serves as `/<name>.onnx`. */
export function declared(origin: string, name: string, model: Uint8Array) {
  return {
    name,
    version: "1.0",
    source: { url: `${origin}/${name}.onnx` },
    sha256: createHash("sha256").update(model).digest("hex"),
    size_mb: 1,
  };
}
