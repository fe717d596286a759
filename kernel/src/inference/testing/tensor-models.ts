import {
  attribute,
  graphOf,
  node,
  onnxFile,
  onnxTypes,
  tensor,
  tensorElsewhere,
  valueInfo,
} from "../host/onnx/onnx-file.ts";

/** Models of a few bytes as extensions bring them, for tests. */

const floats = (...values: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);

/** `y = x + offset`, for three numbers. */
export function addingModel(offset: number): Uint8Array {
  return onnxFile({
    name: "adding",
    operators: 13,
    nodes: [node("Add", ["x", "offset"], "y")],
    tensors: [tensor("offset", onnxTypes.float32, [1], floats(offset))],
    inputs: [valueInfo("x", onnxTypes.float32, ["batch", 3])],
    outputs: [valueInfo("y", onnxTypes.float32, ["batch", 3])],
  });
}

/** Returns its input. */
export function identityModel(type: keyof typeof onnxTypes): Uint8Array {
  return onnxFile({
    name: "identity",
    operators: 13,
    nodes: [node("Identity", ["x"], "y")],
    tensors: [],
    inputs: [valueInfo("x", onnxTypes[type], ["length"])],
    outputs: [valueInfo("y", onnxTypes[type], ["length"])],
  });
}

/** Makes a tensor of the shape that it is given, and returns it or only its sum. */
export function allocatingModel(returns: "all" | "sum"): Uint8Array {
  return onnxFile({
    name: "allocating",
    operators: 13,
    nodes: [
      node("ConstantOfShape", ["shape"], "all"),
      ...(returns === "sum" ? [node("ReduceSum", ["all"], "sum", attribute.int("keepdims", 0))] : []),
    ],
    tensors: [],
    inputs: [valueInfo("shape", onnxTypes.int64, [1])],
    outputs: [valueInfo(returns, onnxTypes.float32, returns === "sum" ? [] : ["length"])],
  });
}

/** Never ends. */
export function endlessModel(): Uint8Array {
  const body = graphOf({
    name: "body",
    nodes: [node("Identity", ["goes_on"], "goes_on_out"), node("Identity", ["value"], "value_out")],
    tensors: [],
    inputs: [
      valueInfo("at", onnxTypes.int64, []),
      valueInfo("goes_on", onnxTypes.bool, []),
      valueInfo("value", onnxTypes.float32, [1]),
    ],
    outputs: [valueInfo("goes_on_out", onnxTypes.bool, []), valueInfo("value_out", onnxTypes.float32, [1])],
  });
  return onnxFile({
    name: "endless",
    operators: 13,
    nodes: [node("Loop", ["", "yes", "x"], "y", attribute.graph("body", body))],
    tensors: [tensor("yes", onnxTypes.bool, [], Uint8Array.of(1))],
    inputs: [valueInfo("x", onnxTypes.float32, [1])],
    outputs: [valueInfo("y", onnxTypes.float32, [1])],
  });
}

/** Keeps its numbers in another file. */
export function borrowingModel(file: string): Uint8Array {
  return onnxFile({
    name: "borrowing",
    operators: 13,
    nodes: [node("Add", ["x", "w"], "y")],
    tensors: [tensorElsewhere("w", { type: onnxTypes.float32, shape: [3], file, offset: 0, bytes: 12 })],
    inputs: [valueInfo("x", onnxTypes.float32, [3])],
    outputs: [valueInfo("y", onnxTypes.float32, [3])],
  });
}

/** Has a tensor of another file within the body of a loop. */
export function deepBorrowingModel(file: string): Uint8Array {
  const body = graphOf({
    name: "body",
    nodes: [node("Identity", ["w"], "y")],
    tensors: [tensorElsewhere("w", { type: onnxTypes.float32, shape: [3], file, offset: 0, bytes: 12 })],
    inputs: [],
    outputs: [valueInfo("y", onnxTypes.float32, [3])],
  });
  return onnxFile({
    name: "deep",
    operators: 13,
    nodes: [
      node("If", ["c"], "y", attribute.graph("then_branch", body), attribute.graph("else_branch", body)),
    ],
    tensors: [],
    inputs: [valueInfo("c", onnxTypes.bool, [])],
    outputs: [valueInfo("y", onnxTypes.float32, [3])],
  });
}
