/**
 * Bytes from one thread to one other through shared memory. A guest's thread waits in it without a turn of any
 * loop; the other end waits without holding its own. Cheaper by far than messages between threads.
 */
export class ByteRing {
  readonly buffer: SharedArrayBuffer;
  readonly #slots: Int32Array<SharedArrayBuffer>;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;

  /** Over a buffer of `newByteRing`, once in each of the two threads. */
  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#slots = new Int32Array(buffer, 0, slotCount);
    this.#bytes = new Uint8Array(buffer, slotCount * 4);
  }

  /** Bytes that can be read now. */
  get readable(): number {
    return (Atomics.load(this.#slots, slot.written) - Atomics.load(this.#slots, slot.taken)) | 0;
  }

  /** Bytes that can be written now. */
  get writable(): number {
    return this.#bytes.length - this.readable;
  }

  get isClosed(): boolean {
    return Atomics.load(this.#slots, slot.isClosed) === 1;
  }

  /** Writes as much as there is room for; how much that was. One thread writes. */
  write(source: Uint8Array): number {
    const count = this.put(source);
    if (count > 0) this.announce();
    return count;
  }

  /** As `write`, but who waits to read is told by the next `announce` only: one wake-up may do for many pieces. */
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

  /** Wakes who waits to read. */
  announce(): void {
    this.#tell(slot.readerSignal);
  }

  /** Reads as much as there is and fits; how much that was. One thread reads. */
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

  /** Nothing more will be written, or nothing more read: whoever waits goes on. What is in it can still be read. */
  close(): void {
    Atomics.store(this.#slots, slot.isClosed, 1);
    this.#tell(slot.readerSignal);
    this.#tell(slot.writerSignal);
  }

  /** Holds the thread until there is something to read, it is closed, or the time is over. */
  waitReadable(timeoutMs = Number.POSITIVE_INFINITY): void {
    const seen = Atomics.load(this.#slots, slot.readerSignal);
    if (this.readable === 0 && !this.isClosed) Atomics.wait(this.#slots, slot.readerSignal, seen, timeoutMs);
  }

  /** Holds the thread until there is room, or it is closed. */
  waitWritable(): void {
    const seen = Atomics.load(this.#slots, slot.writerSignal);
    if (this.writable === 0 && !this.isClosed) Atomics.wait(this.#slots, slot.writerSignal, seen);
  }

  /** Resolves when there is something to read, or it is closed. */
  async untilReadable(): Promise<void> {
    const seen = Atomics.load(this.#slots, slot.readerSignal);
    if (this.readable > 0 || this.isClosed) return;
    const waiting = Atomics.waitAsync(this.#slots, slot.readerSignal, seen);
    if (waiting.async) await waiting.value;
  }

  /** Resolves when there is room, or it is closed. */
  async untilWritable(): Promise<void> {
    const seen = Atomics.load(this.#slots, slot.writerSignal);
    if (this.writable > 0 || this.isClosed) return;
    const waiting = Atomics.waitAsync(this.#slots, slot.writerSignal, seen);
    if (waiting.async) await waiting.value;
  }

  /** Counts run over at 2^32; the size is a power of two, so places stay right. */
  #place(count: number): number {
    return count & (this.#bytes.length - 1);
  }

  #tell(signal: number): void {
    Atomics.add(this.#slots, signal, 1);
    Atomics.notify(this.#slots, signal);
  }
}

const slot = {
  /** Bytes ever written, and ever read, modulo 2^32. */
  written: 0,
  taken: 1,
  isClosed: 2,
  /** Counted up with each thing its side waits for, so that none is missed between looking and waiting. */
  readerSignal: 3,
  writerSignal: 4,
} as const;
const slotCount = 8;

/** `size` bytes, a power of two. */
export function newByteRing(size: number): SharedArrayBuffer {
  if (size <= 0 || (size & (size - 1)) !== 0) throw new RangeError(`${size} is not a power of two.`);
  return new SharedArrayBuffer(slotCount * 4 + size);
}
