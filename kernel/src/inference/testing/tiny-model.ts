import { attribute, node, onnxFile, onnxTypes, tensor, valueInfo } from "../host/onnx/onnx-file.ts";

/** ONNX models of a few bytes, for tests. */

interface Output {
  readonly name: string;
  readonly type: "float" | "int";
  readonly dims: readonly (number | string)[];
}

function model(
  table: readonly (readonly number[])[],
  nodes: readonly Uint8Array[],
  inputs: readonly string[],
  outputs: readonly Output[],
): Uint8Array {
  const shape = [table.length, table[0]?.length ?? 0];
  const bytes = new Uint8Array(Float32Array.from(table.flat()).buffer);
  return onnxFile({
    name: "tiny",
    operators: 13,
    nodes,
    tensors: [tensor("table", onnxTypes.float32, shape, bytes)],
    inputs: inputs.map((name) => valueInfo(name, onnxTypes.int64, ["batch", "sequence"])),
    outputs: outputs.map(({ name, type, dims }) =>
      valueInfo(name, type === "int" ? onnxTypes.int64 : onnxTypes.float32, dims),
    ),
  });
}

const bertInputs = ["input_ids", "attention_mask", "token_type_ids"];
const gather = node("Gather", ["table", "input_ids"], "last_hidden_state");
const tokens = (columns: number): Output => ({
  name: "last_hidden_state",
  type: "float",
  dims: ["batch", "sequence", columns],
});

/** Each token's row of the table, as the models of BERT's family end. */
export function tokenModel(
  table: readonly (readonly number[])[],
  inputs: readonly string[] = bertInputs,
): Uint8Array {
  return model(table, [gather], inputs, [tokens(table[0]?.length ?? 0)]);
}

/** Beside the tokens' rows their mean, padding and all: a model that pools by itself, under the name given. */
export function poolingModel(table: readonly (readonly number[])[], output: string): Uint8Array {
  const columns = table[0]?.length ?? 0;
  const mean = node(
    "ReduceMean",
    ["last_hidden_state"],
    output,
    attribute.ints("axes", [1]),
    attribute.int("keepdims", 0),
  );
  return model(table, [gather, mean], bertInputs, [
    { name: output, type: "float", dims: ["batch", columns] },
    tokens(columns),
  ]);
}

/** Returns its input, which is not an embedding. */
export function echoModel(): Uint8Array {
  return model([[0]], [node("Identity", ["input_ids"], "echo")], bertInputs, [
    { name: "echo", type: "int", dims: ["batch", "sequence"] },
  ]);
}
