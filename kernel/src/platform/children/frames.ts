/** The frames between a process and its child: `u32 payload length, u8 type, u32 stream, payload`, little endian. */
const headerLength = 9;

/** The type of a frame with a JSON message and binary data. Rooms define all other types. */
export const wordsType = 1;

/** Payloads up to this size are copied after their header, because one write is faster than two. */
const maxCopiedBytes = 16 * 1024;
const encoder = new TextEncoder();
const noBytes = new Uint8Array();

export function frame(type: number, stream: number, payload: Uint8Array): Uint8Array[] {
  return framed(type, stream, [payload]);
}

export function countFrame(type: number, stream: number, count: number): Uint8Array[] {
  const payload = new Uint8Array(4);
  viewOf(payload).setUint32(0, count, true);
  return frame(type, stream, payload);
}

export function readCount(payload: Uint8Array): number {
  return viewOf(payload).getUint32(0, true);
}

/** Encodes a JSON message, preceded by its length and followed by the bytes. */
export function wordsFrame(words: unknown, bytes: Uint8Array = noBytes): Uint8Array[] {
  const json = encoder.encode(JSON.stringify(words));
  const length = new Uint8Array(4);
  viewOf(length).setUint32(0, json.length, true);
  return framed(wordsType, 0, [length, json, bytes]);
}

export function readWords(payload: Uint8Array): { words: unknown; bytes: Uint8Array } {
  const length = viewOf(payload).getUint32(0, true);
  const json = new TextDecoder().decode(payload.subarray(4, 4 + length));
  return { words: JSON.parse(json), bytes: payload.subarray(4 + length) };
}

/** Returns the parts after a header, in one piece if they are small. */
function framed(type: number, stream: number, parts: readonly Uint8Array[]): Uint8Array[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const isCopied = length <= maxCopiedBytes;
  const head = Buffer.allocUnsafe(headerLength + (isCopied ? length : 0));
  const view = viewOf(head);
  view.setUint32(0, length, true);
  view.setUint8(4, type);
  view.setUint32(5, stream, true);
  if (!isCopied) return [head, ...parts];
  let position = headerLength;
  for (const part of parts) {
    head.set(part, position);
    position += part.length;
  }
  return [head];
}

/** Splits a stream into frames. Throws for a frame that is too long; the stream cannot be used after that. */
export class FrameReader {
  readonly #maxFrameBytes: number;
  readonly #onFrame: (type: number, stream: number, payload: Uint8Array) => void;
  #chunks: Uint8Array[] = [];
  #available = 0;

  constructor(maxFrameBytes: number, onFrame: (type: number, stream: number, payload: Uint8Array) => void) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#onFrame = onFrame;
  }

  /** The payload is valid only during the callback if it is part of `chunk`. */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#available += chunk.length;
    while (this.#available >= headerLength) {
      // The header is read in place; chunks are joined only when a frame is complete.
      const first = this.#first(headerLength);
      const header = viewOf(first);
      const length = header.getUint32(0, true);
      if (length > this.#maxFrameBytes)
        throw new RangeError(`A frame of ${length} bytes; at most ${this.#maxFrameBytes} are allowed.`);
      if (this.#available < headerLength + length) return;
      const whole = this.#first(headerLength + length);
      this.#onFrame(
        header.getUint8(4),
        header.getUint32(5, true),
        whole.subarray(headerLength, headerLength + length),
      );
      this.#chunks =
        whole.length === headerLength + length
          ? this.#chunks.slice(1)
          : [whole.subarray(headerLength + length), ...this.#chunks.slice(1)];
      this.#available -= headerLength + length;
    }
  }

  /** Returns the first chunk, joined with others until it has at least this many bytes. */
  #first(length: number): Uint8Array {
    const first = this.#chunks[0] ?? noBytes;
    if (first.length >= length) return first;
    const joined = new Uint8Array(this.#available);
    let position = 0;
    for (const chunk of this.#chunks) {
      joined.set(chunk, position);
      position += chunk.length;
    }
    this.#chunks = [joined];
    return joined;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
