import { crc32, deflateSync } from "node:zlib";
import {
  attribute,
  node,
  onnxFile,
  onnxTypes,
  tensor,
  valueInfo,
} from "../../../kernel/src/inference/host/onnx/onnx-file.ts";

/** Pixels of a side of the toy detector's input, and of a place in it that may be a face. */
export const inputPx = 320;
export const facePx = 32;
const places = inputPx / facePx;

const numbers = (values: readonly number[]): Uint8Array =>
  new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer);

/**
 * A detector for which a face is a bright square of a grid: its score is the square's brightest colour, its embedding the mean
 * colour. Like other detectors, it gives a box for each place, whatever its score.
 */
export function toyDetector({ embeds }: { readonly embeds: boolean }): Uint8Array {
  const boxes = Float32Array.from({ length: places * places * 4 }, (_, at) => {
    const [place, side] = [Math.floor(at / 4), at % 4];
    const start = (side % 2 === 0 ? place % places : Math.floor(place / places)) * facePx;
    return side < 2 ? start : start + facePx;
  });
  const rows = places * places;
  return onnxFile({
    name: "toy_detector",
    operators: 13,
    nodes: [
      node(
        "AveragePool",
        ["input"],
        "means",
        attribute.ints("kernel_shape", [facePx, facePx]),
        attribute.ints("strides", [facePx, facePx]),
      ),
      node("ReduceMax", ["means"], "brightest", attribute.ints("axes", [1])),
      node("Reshape", ["brightest", "one_each"], "scores"),
      node("Identity", ["grid"], "boxes"),
      ...(embeds
        ? [
            node("Transpose", ["means"], "by_place", attribute.ints("perm", [0, 2, 3, 1])),
            node("Reshape", ["by_place", "three_each"], "embeddings"),
          ]
        : []),
    ],
    tensors: [
      tensor("grid", onnxTypes.float32, [rows, 4], new Uint8Array(boxes.buffer)),
      tensor("one_each", onnxTypes.int64, [1], numbers([rows])),
      ...(embeds ? [tensor("three_each", onnxTypes.int64, [2], numbers([rows, 3]))] : []),
    ],
    inputs: [valueInfo("input", onnxTypes.float32, [1, 3, inputPx, inputPx])],
    outputs: [
      valueInfo("boxes", onnxTypes.float32, [rows, 4]),
      valueInfo("scores", onnxTypes.float32, [rows]),
      ...(embeds ? [valueInfo("embeddings", onnxTypes.float32, [rows, 3])] : []),
    ],
  });
}

/** A model for which a face's embedding is its mean colour. */
export function toyEmbedder(): Uint8Array {
  return onnxFile({
    name: "toy_embedder",
    operators: 13,
    nodes: [node("GlobalAveragePool", ["input"], "mean"), node("Flatten", ["mean"], "embedding")],
    tensors: [],
    inputs: [valueInfo("input", onnxTypes.float32, [1, 3, "height", "width"])],
    outputs: [valueInfo("embedding", onnxTypes.float32, [1, 3])],
  });
}

export interface ToyFace {
  readonly column: number;
  readonly row: number;
  readonly colour: readonly [red: number, green: number, blue: number];
}

/** A black PNG with a square of a colour for each face. */
export function photoOf(faces: readonly ToyFace[], width = inputPx, height = 240): Uint8Array {
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (const { column, row, colour } of faces)
    for (let y = row * facePx; y < (row + 1) * facePx; y++)
      for (let x = column * facePx; x < (column + 1) * facePx; x++)
        rows.set(colour, y * (width * 3 + 1) + 1 + x * 3);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits for each of three colours.
  header.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
