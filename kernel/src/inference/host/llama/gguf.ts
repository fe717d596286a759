import { llamaBounds as bounds } from "./bounds.ts";
import { ggmlTypes } from "./ggml-types.ts";

/** What Lares wants to know of a model file before native code reads it. */
export interface GgufHead {
  /** Null in the further files of a model that is split. */
  readonly architecture: string | null;
  /** The window that the model was trained with; null: the file does not say. */
  readonly contextTokens: number | null;
}

/** The file is not a model that can be loaded; the message completes "The file PATH …". */
export class NotGguf extends Error {}

/** Reads a file from its beginning. */
interface ByteSource {
  readonly sizeBytes: number;
  /** Returns exactly so many bytes from the offset; fewer only at the file's end. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

const magic = "GGUF";
const chunkBytes = 1024 * 1024;
/** Bytes of a value, by its type; 8 is a text and 9 an array. */
const valueBytes: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
};
const typeOfText = 8;
const typeOfArray = 9;

/**
 * Checks everything that a loader would believe: magic, version, counts, lengths, types, and that all tensors lie within
 * the file. Native code ends the process for some of it. Throws NotGguf.
 */
export async function readGgufHead(source: ByteSource): Promise<GgufHead> {
  const reader = new HeadReader(source);
  const first = await reader.take(4);
  if (new TextDecoder("latin1").decode(first) !== magic)
    throw new NotGguf(`is not a GGUF file: it does not begin with "${magic}".`);
  const version = await reader.u32();
  if (version !== 2 && version !== 3)
    throw new NotGguf(`is a GGUF file of version ${version}, and only 2 and 3 can be read.`);
  const tensors = await reader.count(bounds.maxTensors, "tensors");
  const fields = await reader.count(bounds.maxFields, "fields");
  const values = new Map<string, string | number>();
  for (let at = 0; at < fields; at++) {
    const name = await reader.text();
    const value = await reader.value();
    if (value !== null) values.set(name, value);
  }
  const alignment = values.get("general.alignment") ?? 32;
  if (typeof alignment !== "number" || alignment < 8 || alignment > 65_536 || alignment % 8 !== 0)
    throw new NotGguf(`is damaged: its alignment is ${alignment}.`);
  let end = 0;
  for (let at = 0; at < tensors; at++) end = Math.max(end, await reader.tensorEnd());
  const start = Math.ceil(reader.position / alignment) * alignment;
  if (start + end > source.sizeBytes)
    throw new NotGguf(
      `is cut off: it has ${source.sizeBytes} bytes, and its tensors end at ${start + end}. Download it again.`,
    );
  const named = values.get("general.architecture");
  const architecture = typeof named === "string" && named !== "" ? named : null;
  const context = values.get(`${architecture}.context_length`);
  return {
    architecture,
    contextTokens: typeof context === "number" && context >= 1 ? Math.floor(context) : null,
  };
}

class HeadReader {
  readonly #source: ByteSource;
  #chunk: Uint8Array = new Uint8Array();
  #chunkStart = 0;
  position = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  async take(length: number): Promise<Uint8Array> {
    const offset = this.position - this.#chunkStart;
    if (offset + length <= this.#chunk.length) {
      this.position += length;
      return this.#chunk.subarray(offset, offset + length);
    }
    this.#checkEnd(length);
    this.#chunk = await this.#source.read(this.position, Math.max(length, chunkBytes));
    this.#chunkStart = this.position;
    if (this.#chunk.length < length) throw this.#cutOff();
    this.position += length;
    return this.#chunk.subarray(0, length);
  }

  skip(length: number): void {
    this.#checkEnd(length);
    this.position += length;
  }

  async u32(): Promise<number> {
    return view(await this.take(4)).getUint32(0, true);
  }

  /** Returns a number that may be too large to be exact, and is then too large for every bound. */
  async u64(): Promise<number> {
    return Number(view(await this.take(8)).getBigUint64(0, true));
  }

  async count(most: number, what: string): Promise<number> {
    const count = await this.u64();
    if (count > most) throw new NotGguf(`is damaged: it would have ${count} ${what}.`);
    return count;
  }

  /** Returns a short text; a long one is skipped and empty. */
  async text(): Promise<string> {
    const length = await this.u64();
    if (length > bounds.maxTextBytes) {
      this.skip(length);
      return "";
    }
    return new TextDecoder().decode(await this.take(length));
  }

  /** Returns a text or a number; null for everything else. */
  async value(): Promise<string | number | null> {
    const type = await this.u32();
    if (type === typeOfText) return await this.text();
    if (type === typeOfArray) {
      await this.#skipArray();
      return null;
    }
    const bytes = await this.take(this.#sizeOf(type));
    const data = view(bytes);
    switch (type) {
      case 4:
        return data.getUint32(0, true);
      case 5:
        return data.getInt32(0, true);
      case 10:
        return Number(data.getBigUint64(0, true));
      default:
        return null;
    }
  }

  /** Returns where a tensor's data ends, from the beginning of all data. */
  async tensorEnd(): Promise<number> {
    const name = await this.text();
    const dimensions = await this.u32();
    if (dimensions > 8) throw new NotGguf(`is damaged: the tensor "${name}" has ${dimensions} dimensions.`);
    let count = 1;
    for (let at = 0; at < dimensions; at++) count *= await this.u64();
    const type = await this.u32();
    const offset = await this.u64();
    const layout = ggmlTypes[type];
    // A kind of number that is newer than this list: its first byte must be there.
    const bytes = layout === undefined ? 1 : (count / layout.block) * layout.bytes;
    if (!Number.isFinite(bytes) || bytes < 0 || (layout !== undefined && count % layout.block !== 0))
      throw new NotGguf(`is damaged: the tensor "${name}" would have ${count} numbers.`);
    return offset + bytes;
  }

  async #skipArray(): Promise<void> {
    const type = await this.u32();
    const length = await this.count(bounds.maxArrayLength, "values in one field");
    if (type === typeOfArray) throw new NotGguf("is damaged: it has a list of lists.");
    if (type === typeOfText)
      for (let at = 0; at < length; at++) {
        // Awaiting each of a hundred thousand words would take a second.
        const known = this.#bufferedLength();
        const size = known ?? (await this.u64());
        if (known !== null) this.position += 8;
        this.skip(size);
      }
    else this.skip(length * this.#sizeOf(type));
  }

  /** Returns the length of a text whose bytes are here already; null if it must be read. */
  #bufferedLength(): number | null {
    const offset = this.position - this.#chunkStart;
    if (offset < 0 || offset + 8 > this.#chunk.length) return null;
    return Number(view(this.#chunk).getBigUint64(offset, true));
  }

  #sizeOf(type: number): number {
    const bytes = valueBytes[type];
    if (bytes === undefined) throw new NotGguf(`is damaged: it has a value of the unknown type ${type}.`);
    return bytes;
  }

  #checkEnd(length: number): void {
    const end = this.position + length;
    if (end > this.#source.sizeBytes) throw this.#cutOff();
    if (end > bounds.maxHeadBytes)
      throw new NotGguf(`is damaged: its head has more than ${bounds.maxHeadBytes} bytes.`);
  }

  #cutOff(): NotGguf {
    return new NotGguf(
      `is cut off: it ends after ${this.#source.sizeBytes} bytes, within its head. Download it again.`,
    );
  }
}

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
