/** The parts of an ONNX file (onnx.proto3), as protobuf. They are few enough that a library would add more than it saves. */

export const onnxTypes = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
} as const;
type OnnxType = (typeof onnxTypes)[keyof typeof onnxTypes];

type Field = readonly [number: number, value: number | string | Uint8Array];

/** An attribute of a node, as `attribute` makes it. */
export type Attribute = Uint8Array;

/** A dimension is a number, or a name where any number fits. */
type Dimensions = readonly (number | string)[];

/** A message of protobuf: numbers as varints, everything else with its length in front. */
function message(...fields: readonly Field[]): Uint8Array {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === "number") return [varint(number << 3), varint(value)];
      const bytes = typeof value === "string" ? Buffer.from(value) : value;
      return [varint((number << 3) | 2), varint(bytes.length), bytes];
    }),
  );
}

/** Negative numbers take ten bytes, as 64 bits in two's complement. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Uint8Array.of(...bytes, Number(rest));
}

const attributeTypes = { float: 1, int: 2, graph: 5, ints: 7 } as const;

export const attribute = {
  int: (name: string, value: number): Attribute => message([1, name], [3, value], [20, attributeTypes.int]),
  ints: (name: string, values: readonly number[]): Attribute =>
    message([1, name], ...values.map((value): Field => [8, value]), [20, attributeTypes.ints]),
  /** The body of a loop or a condition, by `graphOf`. */
  graph: (name: string, graph: Uint8Array): Attribute =>
    message([1, name], [6, graph], [20, attributeTypes.graph]),
  /** A fixed 32-bit value, not a varint. */
  float: (name: string, value: number): Attribute => {
    const tag = (2 << 3) | 5;
    return Buffer.concat([
      message([1, name]),
      Uint8Array.of(tag),
      new Uint8Array(Float32Array.of(value).buffer),
      message([20, attributeTypes.float]),
    ]);
  },
};

export function node(
  kind: string,
  inputs: readonly string[],
  output: string,
  ...attributes: readonly Attribute[]
): Uint8Array {
  return message(
    ...inputs.map((input): Field => [1, input]),
    [2, output],
    [4, kind],
    ...attributes.map((each): Field => [5, each]),
  );
}

export function valueInfo(name: string, type: OnnxType, dimensions: Dimensions): Uint8Array {
  const shape = dimensions.map((size): Field => [
    1,
    message(typeof size === "number" ? [1, size] : [2, size]),
  ]);
  return message([1, name], [2, message([1, message([1, type], [2, message(...shape)])])]);
}

/** Numbers in the file itself, little-endian. */
export function tensor(
  name: string,
  type: OnnxType,
  shape: readonly number[],
  bytes: Uint8Array,
): Uint8Array {
  return message(...shape.map((size): Field => [1, size]), [2, type], [8, name], [9, bytes]);
}

interface ElsewhereOptions {
  readonly type: OnnxType;
  readonly shape: readonly number[];
  /** The name of a file in the model's own folder. */
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
}

/** Numbers in another file, which is mapped into memory and not read. */
export function tensorElsewhere(
  name: string,
  { type, shape, file, offset, bytes }: ElsewhereOptions,
): Uint8Array {
  const entry = (key: string, value: string): Field => [13, message([1, key], [2, value])];
  const isExternal = 1;
  return message(
    ...shape.map((size): Field => [1, size]),
    [2, type],
    [8, name],
    entry("location", file),
    entry("offset", String(offset)),
    entry("length", String(bytes)),
    [14, isExternal],
  );
}

interface Graph {
  readonly name: string;
  readonly nodes: readonly Uint8Array[];
  readonly tensors: readonly Uint8Array[];
  readonly inputs: readonly Uint8Array[];
  readonly outputs: readonly Uint8Array[];
}

const formatVersion = 8;

export function graphOf({ name, nodes, tensors, inputs, outputs }: Graph): Uint8Array {
  return message(
    ...nodes.map((each): Field => [1, each]),
    [2, name],
    ...tensors.map((each): Field => [5, each]),
    ...inputs.map((each): Field => [11, each]),
    ...outputs.map((each): Field => [12, each]),
  );
}

/** The bytes of a `.onnx` file. `operators`: the version of ONNX's own operators. */
export function onnxFile({ operators, ...graph }: Graph & { readonly operators: number }): Uint8Array {
  return message([1, formatVersion], [7, graphOf(graph)], [8, message([1, ""], [2, operators])]);
}
