/** How kernel and sandbox host talk: `u32 payload length, u8 type, u32 guest, payload`, little endian. */
export const frameType = {
  /** Words, and bytes that go with them: see `encodeControl`. Both directions. */
  control: 1,
  /** Kernel → host: bytes for a guest's stdin. */
  stdin: 2,
  /** Host → kernel: bytes of a guest's stdout. */
  stdout: 3,
  /** Host → kernel: u32, so many bytes of stdin were read by the guest. */
  stdinTaken: 4,
  /** Kernel → host: u32, so many more bytes of stdout may be sent. */
  stdoutCredit: 5,
  /** Host → kernel: text of a guest's stderr. */
  stderr: 6,
  /** Host → kernel: f64 CPU time in ms, f64 bytes of memory, u8 whether it computes. */
  usage: 7,
} as const;

const headerLength = 9;

/** A payload up to here is copied behind its header: one piece is sent faster than two. */
const maxCopiedBytes = 16 * 1024;

export function frame(type: number, guest: number, payload: Uint8Array): Uint8Array[] {
  const isCopied = payload.length <= maxCopiedBytes;
  const head = new Uint8Array(headerLength + (isCopied ? payload.length : 0));
  const view = new DataView(head.buffer);
  view.setUint32(0, payload.length, true);
  view.setUint8(4, type);
  view.setUint32(5, guest, true);
  if (!isCopied) return [head, payload];
  head.set(payload, headerLength);
  return [head];
}

export function countFrame(type: number, guest: number, count: number): Uint8Array[] {
  const payload = new Uint8Array(4);
  new DataView(payload.buffer).setUint32(0, count, true);
  return frame(type, guest, payload);
}

export function readCount(payload: Uint8Array): number {
  return view(payload).getUint32(0, true);
}

export interface UsageSample {
  /** The guest thread's own, since the guest began. */
  readonly cpuTimeMs: number;
  /** Linear memory; it never shrinks, so this is also the most there was. */
  readonly memoryBytes: number;
  /** False where it waits for input or for time to pass. */
  readonly isComputing: boolean;
}

export function usageFrame(guest: number, sample: UsageSample): Uint8Array[] {
  const payload = new Uint8Array(17);
  const out = view(payload);
  out.setFloat64(0, sample.cpuTimeMs, true);
  out.setFloat64(8, sample.memoryBytes, true);
  out.setUint8(16, sample.isComputing ? 1 : 0);
  return frame(frameType.usage, guest, payload);
}

export function readUsage(payload: Uint8Array): UsageSample {
  const from = view(payload);
  return {
    cpuTimeMs: from.getFloat64(0, true),
    memoryBytes: from.getFloat64(8, true),
    isComputing: from.getUint8(16) === 1,
  };
}

/** Words as JSON, their length in front, and bytes behind. */
export function controlFrames(words: unknown, bytes: Uint8Array = new Uint8Array()): Uint8Array[] {
  const json = new TextEncoder().encode(JSON.stringify(words));
  const head = new Uint8Array(headerLength + 4);
  const out = view(head);
  out.setUint32(0, 4 + json.length + bytes.length, true);
  out.setUint8(4, frameType.control);
  out.setUint32(headerLength, json.length, true);
  return [head, json, bytes];
}

export function readControl(payload: Uint8Array): { words: unknown; bytes: Uint8Array } {
  const length = view(payload).getUint32(0, true);
  const json = new TextDecoder().decode(payload.subarray(4, 4 + length));
  return { words: JSON.parse(json), bytes: payload.subarray(4 + length) };
}

/** Takes a stream apart into frames. Throws on one that is longer than allowed: the stream is then lost. */
export class FrameReader {
  readonly #maxFrameBytes: number;
  readonly #onFrame: (type: number, guest: number, payload: Uint8Array) => void;
  #chunks: Uint8Array[] = [];
  #available = 0;

  constructor(maxFrameBytes: number, onFrame: (type: number, guest: number, payload: Uint8Array) => void) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#onFrame = onFrame;
  }

  /** The payload handed on is valid only during the call where it is a part of `chunk`. */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#available += chunk.length;
    while (this.#available >= headerLength) {
      // The header is looked at in place; chunks are joined only once a frame is complete.
      const first = this.#first(headerLength);
      const header = view(first);
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

  /** The first chunk, made to hold at least so many bytes. */
  #first(length: number): Uint8Array {
    const first = this.#chunks[0] ?? new Uint8Array();
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

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
