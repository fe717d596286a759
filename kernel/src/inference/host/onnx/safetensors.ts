import { unusable } from "../../unusable.ts";

/** The range of a tensor's numbers, counted from the first number of the file. */
export interface StoredTensor {
  readonly type: string;
  readonly shape: readonly number[];
  readonly offset: number;
  readonly bytes: number;
}

export interface Safetensors {
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** The numbers of all tensors, without the header. */
  readonly numbers: Uint8Array;
}

const lengthBytes = 8;

/** Parses a `.safetensors` file. Throws UnusableModel if the bytes are not in that format. */
export function parseSafetensors(file: Uint8Array): Safetensors {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const headBytes = file.length < lengthBytes ? Infinity : Number(view.getBigUint64(0, true));
  if (headBytes > file.length - lengthBytes) throw notOne("it is cut short");
  const numbers = file.subarray(lengthBytes + headBytes);
  const tensors = new Map<string, StoredTensor>();
  for (const [name, entry] of Object.entries(headOf(file.subarray(lengthBytes, lengthBytes + headBytes)))) {
    if (name === "__metadata__") continue;
    const { dtype, shape, data_offsets: [start, end] = [NaN, NaN] } = entry;
    if (!(start >= 0 && start <= end && end <= numbers.length) || !Array.isArray(shape))
      throw notOne(`${name} does not lie in it`);
    tensors.set(name, { type: String(dtype), shape, offset: start, bytes: end - start });
  }
  return { tensors, numbers };
}

interface HeadEntry {
  readonly dtype?: unknown;
  readonly shape?: readonly number[];
  readonly data_offsets?: readonly [start: number, end: number];
}

function headOf(bytes: Uint8Array): Record<string, HeadEntry> {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8")) as Record<string, HeadEntry>;
  } catch {
    throw notOne("its header is not JSON");
  }
}

const notOne = (why: string): Error => unusable(`The weights are not a safetensors file: ${why}.`);
