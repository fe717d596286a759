/** Deterministic vectors for tests. */

/** Returns numbers from 0 to 1 (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns vectors around this many centres, like embeddings of few subjects; the first `count` do not depend on it. */
export function clustered(count: number, dimensions: number, clusters: number, seed: number): Float32Array[] {
  const next = numbers(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const middles = Array.from({ length: clusters }, () => Array.from({ length: dimensions }, normal));
  return Array.from({ length: count }, () => {
    const middle = middles[Math.floor(next() * clusters)] ?? [];
    return Float32Array.from(middle, (value) => value + 0.5 * normal());
  });
}

export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    const [x = 0, y = 0] = [a[index], b[index]];
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return dot / Math.sqrt(aa * bb);
}

/** Returns the labels (indices) of the nearest vectors, by comparing with all. */
export function exactly(
  vectors: readonly ArrayLike<number>[],
  query: ArrayLike<number>,
  count: number,
): number[] {
  return vectors
    .map((vector, label) => ({ label, similarity: cosine(vector, query) }))
    .toSorted((a, b) => b.similarity - a.similarity)
    .slice(0, count)
    .map(({ label }) => label);
}
