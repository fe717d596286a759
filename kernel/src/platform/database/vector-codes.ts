/**
 * Short codes of vectors, by which a search finds the few vectors that it has to compare in full: a third of their bytes,
 * and a table look-up for three numbers at once. Each number becomes one of five steps around zero, as far apart as suits
 * the vector's own numbers.
 */

const steps = 5;
const most = 2;
/** Numbers in a byte: 5³ values. */
const packed = 3;
/** The width of a step, in root mean squares of the vector: it loses the least where numbers are distributed normally. */
const stepWidth = 0.84;
const factorBytes = 4;

const codeBytes = (dimensions: number): number => Math.ceil(dimensions / packed);

/** Returns the codes of vectors of `bytesOfVector` that stand one after the other: their factors, and then their steps. */
export function codesOf(vectors: Int8Array, count: number): Uint8Array {
  const dimensions = count === 0 ? 0 : Math.floor(vectors.length / count);
  const width = codeBytes(dimensions);
  const factors = new Float32Array(count);
  const codes = new Uint8Array(count * (factorBytes + width));
  for (let index = 0; index < count; index++) {
    const vector = vectors.subarray(index * dimensions, (index + 1) * dimensions);
    let squares = 0;
    for (const value of vector) squares += value * value;
    const step = stepWidth * Math.sqrt(squares / dimensions);
    let product = 0;
    const from = count * factorBytes + index * width;
    for (let at = 0; at < width; at++) {
      let code = 0;
      for (let inside = packed - 1; inside >= 0; inside--) {
        const value = vector[at * packed + inside] ?? 0;
        const level = step === 0 ? 0 : Math.max(-most, Math.min(most, Math.round(value / step)));
        product += level * value;
        code = code * steps + level + most;
      }
      codes[from + at] = code;
    }
    // So that the estimate is right for the vector itself.
    factors[index] = product === 0 ? 0 : Math.sqrt(squares) / product;
  }
  codes.set(new Uint8Array(factors.buffer), 0);
  return codes;
}

/** Estimates how similar vectors are to a query, by their codes. */
export class CodeSearch {
  readonly #width: number;
  /** For each byte of a code and each of its values, what it adds to the product with the query. */
  readonly #table: Int32Array;
  readonly #length: number;

  constructor(query: Int8Array) {
    this.#width = codeBytes(query.length);
    this.#table = new Int32Array(this.#width * 256);
    for (let at = 0; at < this.#width; at++)
      for (let code = 0; code < steps ** packed; code++) {
        let sum = 0;
        for (let inside = 0, rest = code; inside < packed; inside++, rest = Math.floor(rest / steps))
          sum += ((rest % steps) - most) * (query[at * packed + inside] ?? 0);
        this.#table[at * 256 + code] = sum;
      }
    this.#length = Math.sqrt(query.reduce((squares, value) => squares + value * value, 0));
  }

  /** Calls `take` with the estimate for each of `count` vectors. Codes for other dimensions are left out. */
  each(codes: Uint8Array, count: number, take: (index: number, similarity: number) => void): void {
    const [width, table, length] = [this.#width, this.#table, this.#length];
    if (codes.length !== count * (factorBytes + width) || length === 0) return;
    const factors = new Float32Array(codes.slice(0, count * factorBytes).buffer);
    for (let index = 0, from = count * factorBytes; index < count; index++, from += width) {
      let sum = 0;
      for (let at = 0; at < width; at++) sum = (sum + table[(at << 8) | codes[from + at]!]!) | 0;
      take(index, (sum * factors[index]!) / length);
    }
  }
}
