/**
 * Carries bytes from one thread to another through shared memory. A guest's thread blocks on it without an event
 * loop; the other end waits asynchronously. Much cheaper than messages between threads.
 */
export class ByteRing {
  readonly buffer: SharedArrayBuffer;
  readonly #slots: Int32Array<SharedArrayBuffer>;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;

  /** Each of the two threads creates its own ring over the same buffer, made by `newByteRing`. */
  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#slots = new Int32Array(buffer, 0, slotCount);
    this.#bytes = new Uint8Array(buffer, slotCount * 4);
  }

  /** The number of bytes that can be read now. */
  get readable(): number {
    return (Atomics.load(this.#slots, slot.written) - Atomics.load(this.#slots, slot.taken)) | 0;
  }

  /** The number of bytes that can be written now. */
  get writable(): number {
    return this.#bytes.length - this.readable;
  }

  get isClosed(): boolean {
    return Atomics.load(this.#slots, slot.isClosed) === 1;
  }

  /** Writes as much as fits and wakes the reader. Returns the number of bytes written. Only one thread may write. */
  write(source: Uint8Array): number {
    const count = this.put(source);
    if (count > 0) this.announce();
    return count;
  }

  /** Like `write`, but only the next `announce` wakes the reader, so one wake-up can cover many pieces. */
  put(source: Uint8Array): number {
    const count = Math.min(source.length, this.writable);
    if (count === 0) return 0;
    const written = Atomics.load(this.#slots, slot.written);
    const start = this.#place(written);
    const first = Math.min(count, this.#bytes.length - start);
    this.#bytes.set(source.subarray(0, first), start);
    this.#bytes.set(source.subarray(first, count), 0);
    Atomics.store(this.#slots, slot.written, (written + count) | 0);
    return count;
  }

  /** Wakes a waiting reader. */
  announce(): void {
    this.#tell(slot.readerSignal);
  }

  /** Reads as much as is there and fits. Returns the number of bytes read. Only one thread may read. */
  read(target: Uint8Array): number {
    const count = Math.min(target.length, this.readable);
    if (count === 0) return 0;
    const taken = Atomics.load(this.#slots, slot.taken);
    const start = this.#place(taken);
    const first = Math.min(count, this.#bytes.length - start);
    target.set(this.#bytes.subarray(start, start + first));
    target.set(this.#bytes.subarray(0, count - first), first);
    Atomics.store(this.#slots, slot.taken, (taken + count) | 0);
    this.#tell(slot.writerSignal);
    return count;
  }

  /** Wakes both sides and ends waiting. Bytes that are already in the ring can still be read. */
  close(): void {
    Atomics.store(this.#slots, slot.isClosed, 1);
    this.#tell(slot.readerSignal);
    this.#tell(slot.writerSignal);
  }

  /** Blocks the thread until there is something to read, the ring is closed, or the time is over. */
  waitReadable(timeoutMs = Number.POSITIVE_INFINITY): void {
    const seen = Atomics.load(this.#slots, slot.readerSignal);
    if (this.readable === 0 && !this.isClosed) Atomics.wait(this.#slots, slot.readerSignal, seen, timeoutMs);
  }

  /** Blocks the thread until there is room, or the ring is closed. */
  waitWritable(): void {
    const seen = Atomics.load(this.#slots, slot.writerSignal);
    if (this.writable === 0 && !this.isClosed) Atomics.wait(this.#slots, slot.writerSignal, seen);
  }

  /** Resolves when there is something to read, or the ring is closed. */
  async untilReadable(): Promise<void> {
    const seen = Atomics.load(this.#slots, slot.readerSignal);
    if (this.readable > 0 || this.isClosed) return;
    const waiting = Atomics.waitAsync(this.#slots, slot.readerSignal, seen);
    if (waiting.async) await waiting.value;
  }

  /** Resolves when there is room, or the ring is closed. */
  async untilWritable(): Promise<void> {
    const seen = Atomics.load(this.#slots, slot.writerSignal);
    if (this.writable > 0 || this.isClosed) return;
    const waiting = Atomics.waitAsync(this.#slots, slot.writerSignal, seen);
    if (waiting.async) await waiting.value;
  }

  /** The counts overflow at 2^32. The size is a power of two, so positions stay correct. */
  #place(count: number): number {
    return count & (this.#bytes.length - 1);
  }

  #tell(signal: number): void {
    Atomics.add(this.#slots, signal, 1);
    Atomics.notify(this.#slots, signal);
  }
}

const slot = {
  /** The number of bytes ever written and ever read, modulo 2^32. */
  written: 0,
  taken: 1,
  isClosed: 2,
  /** Incremented at every event that the side waits for, so that no event is missed between checking and waiting. */
  readerSignal: 3,
  writerSignal: 4,
} as const;
const slotCount = 8;

/** Allocates a ring of `size` bytes, which must be a power of two. */
export function newByteRing(size: number): SharedArrayBuffer {
  if (size <= 0 || (size & (size - 1)) !== 0) throw new RangeError(`${size} is not a power of two.`);
  return new SharedArrayBuffer(slotCount * 4 + size);
}
