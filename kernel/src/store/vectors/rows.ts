import { decodeHalf, dotFloat, dotHalf, encodeHalf } from "./half.ts";

/** Vectors are stored in blocks of this many, so that growing copies nothing. */
export const rowsPerBlock = 256;

export type Precision = "f32" | "f16";
type Block = Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>;

/** Vectors in consecutive rows (0 and up). Callers check rows. */
export interface Rows {
  readonly precision: Precision;
  readonly dimensions: number;
  readonly count: number;
  append(vector: Float32Array): void;
  dot(row: number, query: Float32Array): number;
  read(row: number, into: Float32Array): void;
  /** Moves the last row into the place of `row`, and removes the last row. */
  fillWithLast(row: number): void;
  /** Returns the bytes, block by block. They do not change, whatever is changed here afterwards. */
  snapshot(): Uint8Array[];
}

export function bytesPerRow(precision: Precision, dimensions: number): number {
  return dimensions * (precision === "f32" ? 4 : 2);
}

/** Returns buffers into which the bytes of this many rows are read, block by block; then `rowsFrom` takes them. */
export function blocksFor(precision: Precision, dimensions: number, count: number): Block[] {
  const blocks: Block[] = [];
  for (let row = 0; row < count; row += rowsPerBlock) blocks.push(emptyBlock(precision, dimensions));
  return blocks;
}

export function bytesOf(block: Block, rows: number, dimensions: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(block.buffer, 0, rows * dimensions * block.BYTES_PER_ELEMENT);
}

export function rowsFrom(precision: Precision, dimensions: number, blocks: Block[], count: number): Rows {
  return precision === "f32"
    ? new FloatRows(dimensions, blocks as Float32Array<ArrayBuffer>[], count)
    : new HalfRows(dimensions, blocks as Uint16Array<ArrayBuffer>[], count);
}

function emptyBlock(precision: Precision, dimensions: number): Block {
  const length = rowsPerBlock * dimensions;
  return precision === "f32" ? new Float32Array(length) : new Uint16Array(length);
}

abstract class BlockRows<B extends Block> {
  abstract readonly precision: Precision;
  readonly dimensions: number;
  protected readonly blocks: B[];
  /** Blocks that a snapshot shares: they are copied before they change. */
  #shown = new WeakSet<B>();
  #count: number;

  constructor(dimensions: number, blocks: B[], count: number) {
    this.dimensions = dimensions;
    this.blocks = blocks;
    this.#count = count;
  }

  get count(): number {
    return this.#count;
  }

  protected abstract write(block: B, offset: number, vector: Float32Array): void;

  append(vector: Float32Array): void {
    const at = Math.floor(this.#count / rowsPerBlock);
    this.blocks[at] ??= emptyBlock(this.precision, this.dimensions) as B;
    this.write(this.#own(at), this.offset(this.#count), vector);
    this.#count++;
  }

  fillWithLast(row: number): void {
    const last = this.#count - 1;
    if (row !== last) {
      const from = this.blocks[Math.floor(last / rowsPerBlock)]!;
      const start = this.offset(last);
      this.#own(Math.floor(row / rowsPerBlock)).set(
        from.subarray(start, start + this.dimensions),
        this.offset(row),
      );
    }
    this.#count = last;
    if (last % rowsPerBlock === 0) this.blocks.length = last / rowsPerBlock;
  }

  snapshot(): Uint8Array[] {
    return this.blocks.map((block, at) => {
      this.#shown.add(block);
      return bytesOf(block, Math.min(rowsPerBlock, this.#count - at * rowsPerBlock), this.dimensions);
    });
  }

  protected offset(row: number): number {
    return (row % rowsPerBlock) * this.dimensions;
  }

  #own(at: number): B {
    const block = this.blocks[at]!;
    if (!this.#shown.has(block)) return block;
    return (this.blocks[at] = block.slice() as B);
  }
}

class FloatRows extends BlockRows<Float32Array<ArrayBuffer>> implements Rows {
  readonly precision = "f32";

  dot(row: number, query: Float32Array): number {
    return dotFloat(this.blocks[Math.floor(row / rowsPerBlock)]!, this.offset(row), query);
  }

  read(row: number, into: Float32Array): void {
    const start = this.offset(row);
    into.set(this.blocks[Math.floor(row / rowsPerBlock)]!.subarray(start, start + this.dimensions));
  }

  protected override write(block: Float32Array, offset: number, vector: Float32Array): void {
    block.set(vector, offset);
  }
}

class HalfRows extends BlockRows<Uint16Array<ArrayBuffer>> implements Rows {
  readonly precision = "f16";

  dot(row: number, query: Float32Array): number {
    return dotHalf(this.blocks[Math.floor(row / rowsPerBlock)]!, this.offset(row), query);
  }

  read(row: number, into: Float32Array): void {
    decodeHalf(this.blocks[Math.floor(row / rowsPerBlock)]!, this.offset(row), into);
  }

  protected override write(block: Uint16Array, offset: number, vector: Float32Array): void {
    encodeHalf(vector, block, offset);
  }
}
