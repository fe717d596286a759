import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { InferenceSession, Tensor } from "onnxruntime-common";
import { messageOf } from "../../../base/errors.ts";
import { unitVector } from "../../../base/unit-vector.ts";
import type { OnnxModel } from "../../../memory-contract/store-settings.ts";
import { unusable } from "../../unusable.ts";
import { inTokenBatches } from "./token-batches.ts";
import { fieldOf, loadWordPieces, parsed, readText, type TextTokens } from "./word-pieces.ts";

/** Maximum tokens of a text: the length that sentence models were trained with, half of what most accept. */
const maxTokens = 256;
/** Maximum tokens in one run, including padding: its memory grows with them. */
const batchTokens = 1_024;
/** Fewer threads than processors, so that the rest of the machine stays responsive; embedding is not urgent. */
const threads = 2;

export type OnnxRuntime = typeof import("onnxruntime-node");

export const sessionOptions: InferenceSession.SessionOptions = {
  intraOpNumThreads: threads,
  interOpNumThreads: 1,
  logSeverityLevel: 4,
  // Inputs are of any length. An arena, and a plan for each shape, would keep the most that all shapes ever took.
  enableCpuMemArena: false,
  enableMemPattern: false,
  // Between two operations a thread would otherwise turn in circles, on a processor that others wait for.
  extra: { session: { intra_op: { allow_spinning: "0" } } },
};
type Pooling = "mean" | "first";

export interface OnnxEmbedder extends AsyncDisposable {
  /** Names kind, model and dimensions: vectors of one name can be compared. */
  readonly name: string;
  readonly dimensions: number;
  /** Returns unit vectors, in order. Throws UnusableModel. */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
}

/**
 * A sentence model of BERT's family from a file, with its vocabulary beside it. `onnxruntime-node` is installed by
 * those who want it. `digest` names the model's contents. Throws UnusableModel, with what to do.
 */
export async function createOnnxEmbedder(
  { path, dimensions: wanted, fetchedAs }: OnnxModel,
  digest: Promise<string>,
  loadRuntime: () => Promise<OnnxRuntime>,
): Promise<OnnxEmbedder> {
  const runtime = await runtimeFrom(loadRuntime, 'The embedder "onnx"');
  const session = await openSession(path, runtime, fetchedAs);
  try {
    const model = new Model(session, runtime, await loadWordPieces(path), await poolingOf(path), path);
    const [probe] = await model.run([model.encode("probe")]);
    const made = probe?.length ?? 0;
    const dimensions = wanted ?? made;
    if (made < dimensions || made === 0) {
      throw unusable(
        `${path} makes vectors of ${made} dimensions, not ${dimensions}: write "dimensions: ${made}" or leave it out.`,
      );
    }
    // Vectors of another model at the same path, with as many dimensions, mean something else.
    return embedderOf(model, path, `onnx/${basename(path)}@${await digest}/${dimensions}`, dimensions);
  } catch (error) {
    await session.release();
    throw error;
  }
}

function embedderOf(model: Model, path: string, name: string, dimensions: number): OnnxEmbedder {
  // One run at a time: two at once would only compete for the processors.
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const run = async (texts: readonly string[]): Promise<Float32Array[]> => {
    const encoded = texts.map((text) => model.encode(text));
    const vectors = new Map<readonly number[], Float32Array>();
    for (const batch of inTokenBatches(encoded, batchTokens)) {
      for (const [index, values] of (await model.run(batch)).entries()) {
        const vector = unitVector(values, dimensions);
        if (!(vector instanceof Float32Array)) throw unusable(`${path} made a vector that is ${vector}.`);
        vectors.set(batch[index] ?? [], vector);
      }
    }
    return encoded.flatMap((tokens) => vectors.get(tokens) ?? []);
  };
  return {
    name,
    dimensions,
    async embed(texts) {
      if (isClosed) throw new Error("The embedder was closed.");
      const mine = last.then(() => run(texts));
      last = mine.catch(() => undefined);
      return await mine;
    },
    async [Symbol.asyncDispose]() {
      if (isClosed) return;
      isClosed = true;
      await last;
      await model.session.release();
    },
  };
}

/** `what` begins a sentence: `The embedder "onnx"`. Throws UnusableModel if the package cannot be loaded. */
export async function runtimeFrom(load: () => Promise<OnnxRuntime>, what: string): Promise<OnnxRuntime> {
  try {
    return await load();
  } catch (error) {
    throw unusable(
      `${what} needs the package onnxruntime-node: install it beside lares (npm install onnxruntime-node). ${messageOf(error)}`,
      error,
    );
  }
}

async function openSession(
  path: string,
  { InferenceSession }: OnnxRuntime,
  fetchedAs: string | undefined,
): Promise<InferenceSession> {
  const found = await stat(path).catch(() => null);
  if (found?.isFile() !== true) {
    const remedy =
      fetchedAs === undefined ? "Write the path of an .onnx file." : `Run: lares models fetch ${fetchedAs}`;
    throw unusable(`There is no model at ${path}. ${remedy}`);
  }
  try {
    return await InferenceSession.create(path, sessionOptions);
  } catch (error) {
    throw unusable(`${path} is not a model that onnxruntime can load: ${messageOf(error)}`, error);
  }
}

/** As sentence-transformers write it down beside a model; the mean where they do not. */
async function poolingOf(path: string): Promise<Pooling> {
  for (const folder of [dirname(path), dirname(dirname(path))]) {
    const config = parsed(await readText(join(folder, "1_Pooling", "config.json")), folder);
    if (config !== null) return fieldOf(config, "pooling_mode_cls_token") === true ? "first" : "mean";
  }
  return "mean";
}

const inputs = {
  input_ids: (id: number) => BigInt(id),
  attention_mask: (_: number, isText: boolean) => (isText ? 1n : 0n),
  token_type_ids: () => 0n,
} as const;

class Model {
  readonly session: InferenceSession;
  readonly #runtime: OnnxRuntime;
  readonly #tokens: TextTokens;
  readonly #pooling: Pooling;
  readonly #path: string;

  constructor(
    session: InferenceSession,
    runtime: OnnxRuntime,
    tokens: TextTokens,
    pooling: Pooling,
    path: string,
  ) {
    this.session = session;
    this.#runtime = runtime;
    this.#tokens = tokens;
    this.#pooling = pooling;
    this.#path = path;
    const strange = session.inputNames.filter((name) => !Object.hasOwn(inputs, name));
    if (strange.length > 0) {
      throw unusable(
        `${path} wants ${strange.join(", ")}; an embedding model of BERT's family takes ${Object.keys(inputs).join(", ")}.`,
      );
    }
  }

  encode(text: string): number[] {
    return this.#tokens.encode(text, maxTokens);
  }

  /** One vector for each text, not yet of unit length. */
  async run(encoded: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const width = Math.max(...encoded.map(({ length }) => length));
    const shape = [encoded.length, width];
    const feeds = Object.fromEntries(
      Object.entries(inputs)
        .filter(([name]) => this.session.inputNames.includes(name))
        .map(([name, value]) => {
          const cells = encoded.flatMap((tokens) =>
            Array.from({ length: width }, (_, at) => value(tokens[at] ?? 0, at < tokens.length)),
          );
          return [name, new this.#runtime.Tensor("int64", BigInt64Array.from(cells), shape)];
        }),
    );
    let outputs: InferenceSession.OnnxValueMapType;
    try {
      outputs = await this.session.run(feeds);
    } catch (error) {
      throw unusable(`${this.#path} could not be run: ${messageOf(error)}`, error);
    }
    return this.#pooled(
      outputs,
      encoded.map(({ length }) => length),
    );
  }

  #pooled(outputs: InferenceSession.OnnxValueMapType, lengths: readonly number[]): Float32Array[] {
    const tensors = Object.values(outputs);
    const fits = ({ type, dims }: Tensor, rank: number): boolean =>
      type === "float32" && dims.length === rank && dims[0] === lengths.length;
    // An output with this name was pooled by the model. "pooler_output", which many have, is not an embedding: the
    // tokens' own vectors come first.
    const named = outputs["sentence_embedding"];
    const isNamed = named !== undefined && fits(named, 2);
    const each = isNamed ? undefined : tensors.find((output) => fits(output, 3));
    const whole = isNamed ? named : tensors.find((output) => fits(output, 2));
    if (whole === undefined && each === undefined) {
      const made = tensors.map(({ type, dims }) => `${type}[${dims.join(", ")}]`).join(", ");
      throw unusable(`${this.#path} makes ${made}, from which no embedding of a text can be read.`);
    }
    const [data, width, size] =
      each === undefined
        ? [whole?.data as Float32Array, 1, whole?.dims[1] ?? 0]
        : [each.data as Float32Array, each.dims[1] ?? 0, each.dims[2] ?? 0];
    return lengths.map((length, text) => {
      const counted = each === undefined || this.#pooling === "first" ? 1 : Math.min(length, width);
      const vector = new Float32Array(size);
      for (let token = 0; token < counted; token += 1) {
        const start = (text * width + token) * size;
        for (let at = 0; at < size; at += 1)
          vector[at] = (vector[at] ?? 0) + (data[start + at] ?? 0) / counted;
      }
      return vector;
    });
  }
}
