/** Why a vector cannot be used. */
type VectorFault = "too short" | "not finite" | "zero";

/**
 * The first `dimensions` numbers, made a unit vector. Shortening is what Matryoshka models are made for; others lose
 * by it what the one who asked for fewer dimensions chose to lose.
 */
export function unitVector(values: ArrayLike<number>, dimensions: number): Float32Array | VectorFault {
  if (values.length < dimensions) return "too short";
  const vector = new Float32Array(dimensions);
  let largest = 0;
  for (let index = 0; index < dimensions; index += 1) {
    const value = values[index];
    if (typeof value !== "number" || !Number.isFinite(value)) return "not finite";
    largest = Math.max(largest, Math.abs(value));
  }
  if (largest === 0) return "zero";
  // By the largest first: squares of what is very small or very large would vanish, or be infinite.
  let squares = 0;
  for (let index = 0; index < dimensions; index += 1) squares += ((values[index] ?? 0) / largest) ** 2;
  const length = Math.sqrt(squares);
  for (let index = 0; index < dimensions; index += 1) vector[index] = (values[index] ?? 0) / largest / length;
  return vector;
}
