/** ONNX models of a few bytes, written as protobuf (onnx.proto3) by hand, for tests. */

const int64 = 7;
const float32 = 1;

type Field = readonly [number: number, value: number | string | Uint8Array];

function message(...fields: readonly Field[]): Uint8Array {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === "number") return [varint(number << 3), varint(value)];
      const bytes = typeof value === "string" ? Buffer.from(value) : value;
      return [varint((number << 3) | 2), varint(bytes.length), bytes];
    }),
  );
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Uint8Array.of(...bytes, rest);
}

/** A dimension is a number, or a name where it is any. */
function valueInfo(name: string, type: number, dims: readonly (number | string)[]): Uint8Array {
  const shape = dims.map((dim): Field => [1, message(typeof dim === "number" ? [1, dim] : [2, dim])]);
  return message([1, name], [2, message([1, message([1, type], [2, message(...shape)])])]);
}

function node(
  kind: string,
  inputs: readonly string[],
  output: string,
  ...attributes: readonly Uint8Array[]
): Uint8Array {
  return message(
    ...inputs.map((input): Field => [1, input]),
    [2, output],
    [4, kind],
    ...attributes.map((attribute): Field => [5, attribute]),
  );
}

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
  const [rows, columns] = [table.length, table[0]?.length ?? 0];
  const raw = new Uint8Array(Float32Array.from(table.flat()).buffer);
  const graph = message(
    ...nodes.map((each): Field => [1, each]),
    [2, "tiny"],
    [5, message([1, rows], [1, columns], [2, float32], [8, "table"], [9, raw])],
    ...inputs.map((name): Field => [11, valueInfo(name, int64, ["batch", "sequence"])]),
    ...outputs.map(({ name, type, dims }): Field => [
      12,
      valueInfo(name, type === "int" ? int64 : float32, dims),
    ]),
  );
  return message([1, 8], [7, graph], [8, message([1, ""], [2, 13])]);
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
  const axes = message([1, "axes"], [8, 1], [20, 7]);
  const keepDims = message([1, "keepdims"], [3, 0], [20, 2]);
  const mean = node("ReduceMean", ["last_hidden_state"], output, axes, keepDims);
  return model(table, [gather, mean], bertInputs, [
    { name: output, type: "float", dims: ["batch", columns] },
    tokens(columns),
  ]);
}

/** Gives its input back, which is no embedding. */
export function echoModel(): Uint8Array {
  return model([[0]], [node("Identity", ["input_ids"], "echo")], bertInputs, [
    { name: "echo", type: "int", dims: ["batch", "sequence"] },
  ]);
}
