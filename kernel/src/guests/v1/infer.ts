import { maxInlineBytes } from "../../base/vocabulary/bounds.ts";
import type { Caller } from "../../agents/ports.ts";
import { invalidParams, limitExceeded } from "../../base/errors.ts";
import { byteLengthOf, type NamedTensor, shownTensor, tensorBounds } from "../../base/tensors.ts";
import type { GuestCallParams, GuestCallResult, GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { inferCalls } from "../../protocol/guest/v1/infer.ts";

export interface InferPorts {
  readonly extensionModels: {
    /** Throws ModelError, or the signal's reason. */
    infer(request: {
      readonly agent: string;
      readonly model: string;
      readonly inputs: readonly NamedTensor[];
      readonly signal: AbortSignal;
    }): Promise<readonly NamedTensor[]>;
  };
}

type WireTensor = GuestCallParams<"ai/infer">["inputs"][number];

/** The guest ABI's `ai/infer`. By the time a call is here, policy has decided about it. */
export function inferServices({
  extensionModels,
}: InferPorts): Pick<GuestServices<Caller>, keyof typeof inferCalls> {
  return {
    "ai/infer": async ({ agent, blobs, signal }, { model, inputs }) => {
      const tensors = tensorsOf(inputs, blobs);
      const outputs = await extensionModels.infer({ agent, model, inputs: tensors, signal });
      return { outputs: wireOf(outputs, blobs) };
    },
  };
}

/** Checks all shapes before anything is decoded. Throws InvalidParams, LimitExceeded, or NotFound for a blob. */
function tensorsOf(inputs: readonly WireTensor[], blobs: Caller["blobs"]): NamedTensor[] {
  const names = new Set<string>();
  let together = 0;
  for (const [at, { name, type, dims, base64, blob }] of inputs.entries()) {
    const path = `inputs/${at}`;
    if (names.has(name)) throw invalidParams(`There are two inputs ${JSON.stringify(name)}.`, { path });
    names.add(name);
    if ((base64 === undefined) === (blob === undefined))
      throw invalidParams('Give either "base64" or "blob".', { path });
    const bytes = byteLengthOf({ type, dims });
    together += bytes;
    if (together > tensorBounds.maxBytes)
      throw limitExceeded(
        "inputs",
        tensorBounds.maxBytes,
        `The inputs of one run have at most ${tensorBounds.maxBytes / 1024 / 1024} MiB in all. Run the model on fewer data at a time.`,
      );
    if (base64 !== undefined && base64.length !== 4 * Math.ceil(bytes / 3))
      throw unfit(path, name, type, dims);
  }
  return inputs.map(({ name, type, dims, base64, blob = "" }, at) => {
    const path = `inputs/${at}`;
    const bytes = base64 === undefined ? blobs.whole(blob) : Buffer.from(base64, "base64");
    if (bytes.length !== byteLengthOf({ type, dims })) throw unfit(path, name, type, dims);
    if (base64 !== undefined && Buffer.from(bytes).toString("base64") !== base64)
      throw invalidParams('"base64" must be standard Base64, padded.', { path: `${path}/base64` });
    if (type === "bool" && bytes.some((byte) => byte > 1))
      throw invalidParams(`Each byte of the bool ${JSON.stringify(name)} must be 0 or 1.`, { path });
    return { name, type, dims, bytes };
  });
}

function unfit(path: string, name: string, type: WireTensor["type"], dims: readonly number[]): Error {
  return invalidParams(
    `The tensor ${shownTensor(name, type, dims)} takes ${byteLengthOf({ type, dims })} bytes, and its data have another length.`,
    { path },
  );
}

function wireOf(
  outputs: readonly NamedTensor[],
  blobs: Caller["blobs"],
): GuestCallResult<"ai/infer">["outputs"] {
  let inline = 0;
  return outputs.map(({ name, type, dims, bytes }) => {
    const shape = { name, type, dims: [...dims] };
    if (inline + bytes.length > maxInlineBytes) return { ...shape, blob: blobs.write(bytes) };
    inline += bytes.length;
    const { buffer, byteOffset, byteLength } = bytes;
    return { ...shape, base64: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
  });
}
