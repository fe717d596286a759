import type { BertShape } from "../host/onnx/graph.ts";
import type { Safetensors } from "../host/onnx/safetensors.ts";

/**
 * What a sentence model of BERT's family makes of one text's tokens, in plain arithmetic at double precision: the mean
 * of the tokens' vectors, of length 1. Written from the model's description, so that the graph is not its own judge.
 */
export function referenceVector(
  tokens: readonly number[],
  weights: Safetensors,
  shape: BertShape,
): Float32Array {
  const { hidden_size: width, num_attention_heads: heads, layer_norm_eps: epsilon } = shape;
  const numbersOf = (name: string): Float64Array => {
    const stored = weights.tensors.get(name);
    if (stored === undefined) throw new Error(`The weights lack ${name}.`);
    // A copy of its own: a Buffer's `slice` would share the memory of the whole file.
    const bytes = Uint8Array.from(weights.numbers.subarray(stored.offset, stored.offset + stored.bytes));
    return Float64Array.from(new Float16Array(bytes.buffer));
  };
  const dense = (rows: readonly number[][], name: string): number[][] => {
    const [weight, bias] = [numbersOf(`${name}.weight`), numbersOf(`${name}.bias`)];
    return rows.map((row) =>
      Array.from(bias, (start, out) =>
        row.reduce((sum, value, at) => sum + value * (weight[out * row.length + at] ?? 0), start),
      ),
    );
  };
  const norm = (rows: readonly number[][], name: string): number[][] => {
    const [weight, bias] = [numbersOf(`${name}.weight`), numbersOf(`${name}.bias`)];
    return rows.map((row) => {
      const mean = sumOf(row) / row.length;
      const spread = Math.sqrt(sumOf(row.map((value) => (value - mean) ** 2)) / row.length + epsilon);
      return row.map((value, at) => ((value - mean) / spread) * (weight[at] ?? 0) + (bias[at] ?? 0));
    });
  };

  const [words, places, types] = ["word", "position", "token_type"].map((kind) =>
    numbersOf(`embeddings.${kind}_embeddings.weight`),
  );
  let hidden = norm(
    tokens.map((token, place) =>
      Array.from(
        { length: width },
        (_, at) =>
          (words?.[token * width + at] ?? 0) + (places?.[place * width + at] ?? 0) + (types?.[at] ?? 0),
      ),
    ),
    "embeddings.LayerNorm",
  );
  for (let layer = 0; layer < shape.num_hidden_layers; layer += 1) {
    const name = `encoder.layer.${layer}`;
    const [queries = [], keys = [], values = []] = ["query", "key", "value"].map((part) =>
      dense(hidden, `${name}.attention.self.${part}`),
    );
    const size = width / heads;
    const seen = queries.map((query) =>
      Array.from({ length: heads }, (_, head) => head * size).flatMap((start) => {
        const part = (row: readonly number[]): number[] => row.slice(start, start + size);
        const scores = keys.map((key) => dot(part(query), part(key)) / Math.sqrt(size));
        const highest = Math.max(...scores);
        const shares = scores.map((score) => Math.exp(score - highest));
        const whole = sumOf(shares);
        return Array.from({ length: size }, (_, at) =>
          sumOf(values.map((value, token) => ((shares[token] ?? 0) / whole) * (value[start + at] ?? 0))),
        );
      }),
    );
    hidden = norm(
      added(dense(seen, `${name}.attention.output.dense`), hidden),
      `${name}.attention.output.LayerNorm`,
    );
    const wide = dense(hidden, `${name}.intermediate.dense`).map((row) =>
      row.map((value) => 0.5 * value * (1 + erf(value / Math.SQRT2))),
    );
    hidden = norm(added(dense(wide, `${name}.output.dense`), hidden), `${name}.output.LayerNorm`);
  }
  const mean = Array.from({ length: width }, (_, at) => sumOf(hidden.map((row) => row[at] ?? 0)));
  const length = Math.hypot(...mean);
  return Float32Array.from(mean, (value) => value / length);
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const dot = (one: readonly number[], other: readonly number[]): number =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
const added = (one: readonly number[][], other: readonly number[][]): number[][] =>
  one.map((row, index) => row.map((value, at) => value + (other[index]?.[at] ?? 0)));

/** Abramowitz and Stegun 7.1.26, exact to 1.5e-7. */
function erf(value: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(value));
  const series =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(value) * (1 - series * Math.exp(-value * value));
}
