import { node, onnxFile, onnxTypes, tensor, valueInfo } from "./onnx-file.ts";

/** The types of an extension's tensors that JSON can give. */
const constantTypes = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;

type ConstantType = keyof typeof constantTypes;

interface ConstantInput {
  readonly name: string;
  readonly type: ConstantType;
  /** A name where any number fits. */
  readonly dims: readonly (number | string)[];
}

interface ConstantOutput extends ConstantInput {
  readonly dims: readonly number[];
  /** As many as the dimensions say. */
  readonly data: readonly number[];
}

/** Returns an .onnx file that takes these inputs and always answers with these outputs: a stand-in for a model. */
export function constantModel(
  inputs: readonly ConstantInput[],
  outputs: readonly ConstantOutput[],
): Uint8Array {
  return onnxFile({
    name: "constant",
    operators: 13,
    nodes: outputs.map(({ name }) => node("Identity", [`the ${name}`], name)),
    tensors: outputs.map(({ name, type, dims, data }) =>
      tensor(`the ${name}`, onnxTypes[type], dims, new Uint8Array(constantTypes[type].from(data).buffer)),
    ),
    inputs: inputs.map(({ name, type, dims }) => valueInfo(name, onnxTypes[type], dims)),
    outputs: outputs.map(({ name, type, dims }) => valueInfo(name, onnxTypes[type], dims)),
  });
}
