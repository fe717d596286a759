/** Numbers of 16 bits, in memory and on the disk. */

/** The value of each of the 65,536 bit patterns: a look-up is faster than a conversion, on every processor. */
const meanings = (() => {
  const table = new Float32Array(65_536);
  const bits = new Uint16Array(1);
  const half = new Float16Array(bits.buffer);
  for (let pattern = 0; pattern < table.length; pattern++) {
    bits[0] = pattern;
    table[pattern] = half[0]!;
  }
  return table;
})();

/** Rounds to the nearest; writes into `into` from `offset` on. */
export function encodeHalf(vector: Float32Array, into: Uint16Array, offset = 0): void {
  new Float16Array(into.buffer, into.byteOffset + offset * 2, vector.length).set(vector);
}

/** Reads numbers from `offset` on into `into`. */
export function decodeHalf(halves: Uint16Array, offset: number, into: Float32Array): void {
  for (let at = 0; at < into.length; at++) into[at] = meanings[halves[offset + at]!]!;
}

/** Returns the dot product of `query` and the vector at `offset`. */
export function dotHalf(halves: Uint16Array, offset: number, query: Float32Array): number {
  // Four independent sums, so that the processor can compute them in parallel.
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  const length = query.length;
  const whole = length & ~3;
  let at = 0;
  for (; at < whole; at += 4) {
    const place = offset + at;
    first += meanings[halves[place]!]! * query[at]!;
    second += meanings[halves[place + 1]!]! * query[at + 1]!;
    third += meanings[halves[place + 2]!]! * query[at + 2]!;
    fourth += meanings[halves[place + 3]!]! * query[at + 3]!;
  }
  for (; at < length; at++) first += meanings[halves[offset + at]!]! * query[at]!;
  return first + second + third + fourth;
}

/** The same for numbers of 32 bits. */
export function dotFloat(floats: Float32Array, offset: number, query: Float32Array): number {
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  const length = query.length;
  const whole = length & ~3;
  let at = 0;
  for (; at < whole; at += 4) {
    const place = offset + at;
    first += floats[place]! * query[at]!;
    second += floats[place + 1]! * query[at + 1]!;
    third += floats[place + 2]! * query[at + 2]!;
    fourth += floats[place + 3]! * query[at + 3]!;
  }
  for (; at < length; at++) first += floats[offset + at]! * query[at]!;
  return first + second + third + fourth;
}
