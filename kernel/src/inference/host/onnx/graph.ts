import {
  type Attribute,
  attribute,
  node,
  onnxFile,
  onnxTypes,
  tensor,
  tensorElsewhere,
  valueInfo,
} from "./onnx-file.ts";
import { unusable } from "../../unusable.ts";
import type { StoredTensor } from "./safetensors.ts";

/** As `config.json` beside the weights names them. */
export interface BertShape {
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly layer_norm_eps: number;
}

/** LayerNormalization came with 17; 18 moved the axes of ReduceL2 elsewhere. */
const operators = 17;
/** Added to what must get no attention: far below every score, and far above what float32 cannot hold. */
const unattended = -1e9;

/**
 * A sentence model of BERT's family as an ONNX file: from tokens and their mask to `sentence_embedding`, the mean of
 * the tokens' vectors, of length 1. The weights stay in `weightsFile` at half precision, one after the other as
 * `weights` says; arithmetic is at single precision. Throws UnusableModel where weights are missing.
 */
export function bertGraph(
  weights: ReadonlyMap<string, StoredTensor>,
  shape: BertShape,
  weightsFile: string,
): Uint8Array {
  const graph = new GraphBuilder(weights, weightsFile);
  const { hidden_size: width, num_hidden_layers: layers, num_attention_heads: heads } = shape;
  const epsilon = attribute.float("epsilon", shape.layer_norm_eps);
  const linear = (input: string, name: string): string =>
    graph.add(
      "Gemm",
      [input, graph.weight(`${name}.weight`), graph.weight(`${name}.bias`)],
      attribute.int("transB", 1),
    );
  const normalized = (input: string, name: string): string =>
    graph.add(
      "LayerNormalization",
      [input, graph.weight(`${name}.weight`), graph.weight(`${name}.bias`)],
      epsilon,
    );

  // Texts and tokens share one dimension wherever they need not be distinguished: [texts * tokens, width].
  const size = graph.add("Shape", ["input_ids"]);
  const tokens = graph.add("Gather", [size, graph.ints([1])]);
  const inHeads = graph.add("Concat", [size, graph.ints([heads, width / heads])], attribute.int("axis", 0));
  const inTexts = graph.add("Concat", [size, graph.ints([width])], attribute.int("axis", 0));
  const flat = graph.ints([-1, width]);
  const counted = graph.add("Cast", ["attention_mask"], toFloat32);
  const ignored = graph.add("Sub", [graph.float(1), counted]);
  const bias = graph.add("Mul", [
    graph.add("Unsqueeze", [ignored, graph.ints([1, 2])]),
    graph.float(unattended),
  ]);

  // The table of words is half of all weights: only the rows that are used are widened.
  const words = graph.add("Gather", [graph.halfWeight("embeddings.word_embeddings.weight"), "input_ids"]);
  const from = graph.ints([0]);
  const places = graph.add("Slice", [
    graph.weight("embeddings.position_embeddings.weight"),
    from,
    tokens,
    from,
  ]);
  const types = graph.weight("embeddings.token_type_embeddings.weight");
  const firstType = graph.add("Slice", [types, from, graph.ints([1]), from]);
  const sum = graph.add("Add", [
    graph.add("Cast", [words], toFloat32),
    graph.add("Add", [places, firstType]),
  ]);
  let hidden = normalized(graph.add("Reshape", [sum, flat]), "embeddings.LayerNorm");

  for (let layer = 0; layer < layers; layer += 1) {
    const name = `encoder.layer.${layer}`;
    const part = (which: string, order: readonly number[]): string =>
      graph.add(
        "Transpose",
        [graph.add("Reshape", [linear(hidden, `${name}.attention.self.${which}`), inHeads])],
        attribute.ints("perm", order),
      );
    const [queries, keys, values] = [
      part("query", [0, 2, 1, 3]),
      part("key", [0, 2, 3, 1]),
      part("value", [0, 2, 1, 3]),
    ];
    const likeness = graph.add("Mul", [
      graph.add("MatMul", [queries, keys]),
      graph.float(1 / Math.sqrt(width / heads)),
    ]);
    const attention = graph.add("Softmax", [graph.add("Add", [likeness, bias])], attribute.int("axis", -1));
    const seen = graph.add(
      "Transpose",
      [graph.add("MatMul", [attention, values])],
      attribute.ints("perm", [0, 2, 1, 3]),
    );
    const attended = linear(graph.add("Reshape", [seen, flat]), `${name}.attention.output.dense`);
    hidden = normalized(graph.add("Add", [attended, hidden]), `${name}.attention.output.LayerNorm`);
    const wide = gelu(graph, linear(hidden, `${name}.intermediate.dense`));
    const narrow = linear(wide, `${name}.output.dense`);
    hidden = normalized(graph.add("Add", [narrow, hidden]), `${name}.output.LayerNorm`);
  }

  const byText = graph.add("Reshape", [hidden, inTexts]);
  const weighed = graph.add("Mul", [byText, graph.add("Unsqueeze", [counted, graph.ints([2])])]);
  const total = graph.add("ReduceSum", [weighed, graph.ints([1])], attribute.int("keepdims", 0));
  const count = graph.add("ReduceSum", [counted, graph.ints([1])], attribute.int("keepdims", 1));
  const mean = graph.add("Div", [total, count]);
  const length = graph.add("ReduceL2", [mean], attribute.ints("axes", [1]), attribute.int("keepdims", 1));
  graph.name("Div", [mean, length], "sentence_embedding");
  return graph.file(width);
}

const toFloat32 = attribute.int("to", onnxTypes.float32);

/** The exact one, which the models of this family were trained with. */
function gelu(graph: GraphBuilder, input: string): string {
  const erf = graph.add("Erf", [graph.add("Div", [input, graph.float(Math.SQRT2)])]);
  const gate = graph.add("Add", [erf, graph.float(1)]);
  return graph.add("Mul", [graph.add("Mul", [input, gate]), graph.float(0.5)]);
}

/** Names what each node makes, and keeps each weight and number once. */
class GraphBuilder {
  readonly #weights: ReadonlyMap<string, StoredTensor>;
  readonly #weightsFile: string;
  readonly #nodes: Uint8Array[] = [];
  readonly #tensors = new Map<string, Uint8Array>();
  readonly #widened = new Map<string, string>();

  constructor(weights: ReadonlyMap<string, StoredTensor>, weightsFile: string) {
    this.#weights = weights;
    this.#weightsFile = weightsFile;
  }

  /** The name of what the node makes. */
  add(kind: string, inputs: readonly string[], ...attributes: readonly Attribute[]): string {
    return this.name(kind, inputs, `${kind}_${this.#nodes.length}`, ...attributes);
  }

  name(kind: string, inputs: readonly string[], output: string, ...attributes: readonly Attribute[]): string {
    this.#nodes.push(node(kind, inputs, output, ...attributes));
    return output;
  }

  halfWeight(name: string): string {
    const stored = this.#weights.get(name);
    if (stored === undefined)
      throw unusable(`The weights lack ${name}: they are of no model of BERT's family.`);
    if (stored.type !== "F16") throw unusable(`The weights have ${name} as ${stored.type}; F16 is read.`);
    const { shape, offset, bytes } = stored;
    this.#tensors.set(
      name,
      tensorElsewhere(name, { type: onnxTypes.float16, shape, file: this.#weightsFile, offset, bytes }),
    );
    return name;
  }

  /** At single precision; widened once, when the model is loaded. */
  weight(name: string): string {
    const known = this.#widened.get(name);
    if (known !== undefined) return known;
    const widened = this.add("Cast", [this.halfWeight(name)], toFloat32);
    this.#widened.set(name, widened);
    return widened;
  }

  ints(values: readonly number[]): string {
    const name = `ints ${values.join(" ")}`;
    const bytes = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
    this.#tensors.set(name, tensor(name, onnxTypes.int64, [values.length], bytes));
    return name;
  }

  float(value: number): string {
    const name = `float ${value}`;
    this.#tensors.set(
      name,
      tensor(name, onnxTypes.float32, [], new Uint8Array(Float32Array.of(value).buffer)),
    );
    return name;
  }

  file(width: number): Uint8Array {
    return onnxFile({
      name: "bert",
      operators,
      nodes: this.#nodes,
      tensors: [...this.#tensors.values()],
      inputs: ["input_ids", "attention_mask"].map((name) =>
        valueInfo(name, onnxTypes.int64, ["texts", "tokens"]),
      ),
      outputs: [valueInfo("sentence_embedding", onnxTypes.float32, ["texts", width])],
    });
  }
}
