import { readFile } from "node:fs/promises";
import type { InferenceSession, Tensor } from "onnxruntime-common";
import { messageOf } from "../../base/errors.ts";
import {
  byteLengthOf,
  isTensorType,
  shownTensor,
  tensorBounds,
  type TensorType,
} from "../../base/tensors.ts";
import { sha256Hex } from "../../platform/files/hash.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import type { TensorCall, TensorHeader } from "../messages.ts";
import { DamagedModel, RefusedRun, unusable } from "../unusable.ts";
import { graphFault } from "./onnx/graph-check.ts";
import { type OnnxRuntime, runtimeFrom, sessionOptions } from "./onnx/onnx.ts";

interface Loaded {
  readonly session: InferenceSession;
  readonly fileBytes: number;
}

interface Outputs {
  readonly outputs: readonly TensorHeader[];
  readonly bytes: Uint8Array;
}

const arrays = {
  float32: Float32Array,
  float64: Float64Array,
  int64: BigInt64Array,
  int32: Int32Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
} as const satisfies Record<TensorType, unknown>;

/** The models that extensions bring. The kernel sends one run at a time. */
export class TensorModels {
  readonly #loadOnnx: () => Promise<OnnxRuntime>;
  /** By digest, from the least to the most recently used. */
  readonly #loaded = new Map<string, Loaded>();

  constructor(loadOnnx: () => Promise<OnnxRuntime>) {
    this.#loadOnnx = loadOnnx;
  }

  /** Calls `began` when the model is loaded. Throws UnusableModel, DamagedModel or RefusedRun. */
  async infer(call: TensorCall, bytes: Uint8Array, began: () => void): Promise<Outputs> {
    const runtime = await runtimeFrom(this.#loadOnnx, "A model of an extension");
    const session = await this.#sessionOf(call, runtime);
    began();
    let results: InferenceSession.OnnxValueMapType;
    try {
      results = await session.run(feedsOf(call, bytes, session, runtime));
    } catch (error) {
      if (error instanceof RefusedRun) throw error;
      throw new RefusedRun(`${capitalised(call.title)} could not be run: ${short(error)}`);
    }
    return outputsOf(call, session, results);
  }

  async #sessionOf({ file, sha256, title }: TensorCall, runtime: OnnxRuntime): Promise<InferenceSession> {
    const known = this.#loaded.get(sha256);
    if (known !== undefined) {
      this.#loaded.delete(sha256);
      this.#loaded.set(sha256, known);
      return known.session;
    }
    // The checked bytes are loaded, because the file could be another one a moment later.
    const content = await contentOf(file, title);
    if (sha256Hex(content) !== sha256)
      throw new DamagedModel(`${capitalised(title)} is damaged in the cache of models.`);
    const fault = graphFault(content);
    if (fault !== null) throw unusable(`${capitalised(title)} ${fault}.`);
    await this.#makeRoomFor(content.length);
    let session: InferenceSession;
    try {
      session = await runtime.InferenceSession.create(content, sessionOptions);
    } catch (error) {
      throw unusable(`${capitalised(title)} is not one that onnxruntime can load: ${short(error)}`);
    }
    this.#loaded.set(sha256, { session, fileBytes: content.length });
    return session;
  }

  async #makeRoomFor(bytes: number): Promise<void> {
    let together = bytes;
    for (const { fileBytes } of this.#loaded.values()) together += fileBytes;
    for (const [sha256, { session, fileBytes }] of this.#loaded) {
      if (together <= bounds.maxLoadedTensorBytes && this.#loaded.size < bounds.maxLoadedModels) return;
      this.#loaded.delete(sha256);
      together -= fileBytes;
      await session.release();
    }
  }
}

async function contentOf(file: string, title: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new DamagedModel(`${capitalised(title)} cannot be read: ${messageOf(error)}`);
  }
}

function feedsOf(
  { inputs, title }: TensorCall,
  bytes: Uint8Array,
  { inputNames, inputMetadata }: InferenceSession,
  { Tensor }: OnnxRuntime,
): Record<string, Tensor> {
  const takes = (): string =>
    `It takes ${inputMetadata.map((each) => (each.isTensor ? shownTensor(each.name, each.type, each.shape) : JSON.stringify(each.name))).join(", ")}.`;
  const strange = inputs.find(({ name }) => !inputNames.includes(name));
  if (strange !== undefined)
    throw new RefusedRun(`${capitalised(title)} has no input ${JSON.stringify(strange.name)}. ${takes()}`);
  const missing = inputNames.find((name) => !inputs.some((input) => input.name === name));
  if (missing !== undefined)
    throw new RefusedRun(`The input ${JSON.stringify(missing)} of ${title} is missing. ${takes()}`);
  let at = 0;
  return Object.fromEntries(
    inputs.map(({ name, type, dims, byteLength }) => {
      const { buffer } = bytes.slice(at, at + byteLength);
      at += byteLength;
      return [name, new Tensor(type, new arrays[type](buffer), dims)];
    }),
  );
}

function outputsOf(
  { title, maxOutputBytes }: TensorCall,
  { outputNames }: InferenceSession,
  results: Readonly<Record<string, Tensor>>,
): Outputs {
  if (outputNames.length > tensorBounds.maxTensors)
    throw new RefusedRun(`${capitalised(title)} has more than ${tensorBounds.maxTensors} outputs.`);
  let together = 0;
  const tensors = outputNames.flatMap((name) => {
    const found = results[name];
    // An optional output that the graph left out.
    if (found === undefined) return [];
    const { type, dims } = found;
    if (!isTensorType(type))
      throw new RefusedRun(
        `The output ${shownTensor(name, type, dims)} of ${title} has a type that cannot be passed on. Add a Cast to the model.`,
      );
    const byteLength = byteLengthOf({ type, dims });
    together += byteLength;
    if (together > maxOutputBytes || dims.length > tensorBounds.maxDimensions)
      throw new RefusedRun(
        `The outputs of ${title} are too large: ${shownTensor(name, type, dims)}. All outputs have at most ${maxOutputBytes} bytes, and ${tensorBounds.maxDimensions} dimensions.`,
      );
    return [{ header: { name, type, dims: [...dims], byteLength }, data: found.data as Float32Array }];
  });
  const bytes = new Uint8Array(together);
  let at = 0;
  for (const { header, data } of tensors) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, header.byteLength), at);
    at += header.byteLength;
  }
  return { outputs: tensors.map(({ header }) => header), bytes };
}

const maxReasonLength = 600;

/** A library's sentence may quote the model's own texts. */
function short(error: unknown): string {
  return messageOf(error).slice(0, maxReasonLength).toWellFormed();
}

function capitalised(title: string): string {
  return `${title.slice(0, 1).toUpperCase()}${title.slice(1)}`;
}
