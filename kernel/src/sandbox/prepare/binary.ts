/** Reads and writes the primitives of the WebAssembly binary format. Pure; every read is checked against the end. */

/** A module that cannot be accepted. The message is for its author. */
export class ModuleRefusal extends Error {
  override readonly name = "ModuleRefusal";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function overlong(bits: number): ModuleRefusal {
  return new ModuleRefusal("malformed", `A number in the module does not fit in ${bits} bits.`);
}

export class BinaryReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  position: number;

  constructor(bytes: Uint8Array, position = 0, end = bytes.length) {
    this.bytes = bytes;
    this.position = position;
    this.end = end;
  }

  get done(): boolean {
    return this.position >= this.end;
  }

  byte(): number {
    if (this.position >= this.end) throw new ModuleRefusal("malformed", "The module is truncated.");
    return this.bytes[this.position++] as number;
  }

  /** Returns the next byte without consuming it. */
  peek(): number {
    const byte = this.byte();
    this.position--;
    return byte;
  }

  /** Throws ModuleRefusal if unread bytes are left. */
  expectEnd(what: string): void {
    if (!this.done)
      throw new ModuleRefusal(
        "feature",
        `The module has ${this.end - this.position} unexpected bytes after the end of ${what}.`,
      );
  }

  /** Reads an unsigned LEB128 of at most 32 bits, in at most 5 bytes. */
  u32(): number {
    let result = 0;
    let scale = 1;
    for (let index = 0; index < 5; index++) {
      const byte = this.byte();
      if (index === 4 && byte > 0x0f) break;
      result += (byte & 0x7f) * scale;
      if (byte < 0x80) return result;
      scale *= 128;
    }
    throw overlong(32);
  }

  /** Reads a signed LEB128 of 32 bits. */
  s32(): number {
    return Number(BigInt.asIntN(32, this.#signed(32)));
  }

  /** Reads a signed LEB128 of 33 bits. */
  s33(): number {
    return Number(this.#signed(33));
  }

  /** Skips a signed LEB128 of 64 bits. */
  skipS64(): void {
    this.#signed(64);
  }

  /** The unused bits of the last byte must repeat the sign, as the specification requires. */
  #signed(bits: 32 | 33 | 64): bigint {
    const first = this.byte();
    // Fast path: nearly all numbers are this short.
    if (first < 0x80) return BigInt(first < 0x40 ? first : first - 0x80);
    const most = Math.ceil(bits / 7);
    let result = BigInt(first & 0x7f);
    for (let index = 1; index < most; index++) {
      const byte = this.byte();
      result |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte >= 0x80) continue;
      const value = BigInt.asIntN(7 * (index + 1), result);
      if (value !== BigInt.asIntN(bits, value)) break;
      return value;
    }
    throw overlong(bits);
  }

  skip(length: number): void {
    if (length > this.end - this.position) {
      throw new ModuleRefusal("malformed", "The module is truncated.");
    }
    this.position += length;
  }

  /** Returns the next `length` bytes, or all that are left. */
  take(length = this.end - this.position): Uint8Array {
    const start = this.position;
    this.skip(length);
    return this.bytes.subarray(start, this.position);
  }

  text(): string {
    const bytes = this.take(this.u32());
    try {
      return utf8.decode(bytes);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new ModuleRefusal("malformed", "A name in the module is not UTF-8.");
    }
  }

  /** Returns a reader over the next `length` bytes and skips them here. */
  slice(length: number): BinaryReader {
    const start = this.position;
    this.skip(length);
    return new BinaryReader(this.bytes, start, this.position);
  }
}

export class BinaryWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** The bytes written so far; valid until the next write. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  byte(value: number): this {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
    return this;
  }

  u32(value: number): this {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
    return this.byte(rest);
  }

  /** Writes a signed LEB128 of 32 bits, as i32.const takes it. Larger values are taken modulo 2^32. */
  s32(value: number): this {
    let rest = value | 0;
    while (rest < -0x40 || rest >= 0x40) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>= 7;
    }
    return this.byte(rest & 0x7f);
  }

  raw(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  range(bytes: Uint8Array, start: number, end: number): this {
    return start === end ? this : this.raw(bytes.subarray(start, end));
  }

  text(value: string): this {
    const bytes = new TextEncoder().encode(value);
    return this.u32(bytes.length).raw(bytes);
  }

  /** Writes the content of `other`, preceded by its length. */
  sized(other: BinaryWriter): this {
    return this.u32(other.length).raw(other.view());
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.view());
    this.#bytes = grown;
  }
}
