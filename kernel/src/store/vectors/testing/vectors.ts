import { pseudoRandom } from "../../../base/pseudo-random.ts";

/** Makes vectors one by one, the same ones for the same seed. */
type VectorSource = () => Float32Array;

/** Vectors in uniformly random directions: no embedder makes such, and they are the hardest for a graph. */
export function randomVectors(dimensions: number, seed: number): VectorSource {
  const normal = normals(seed);
  return () => unit(Float32Array.from({ length: dimensions }, normal));
}

/**
 * Vectors distributed like embeddings: subjects with subtopics of very different sizes and densities, a few dominant
 * directions, and a common offset. On average, about a hundred of 100,000 vectors are in one subtopic.
 */
export function clusteredVectors(dimensions: number, seed: number, expected: number): VectorSource {
  const uniform = pseudoRandom(seed);
  const normal = normals(seed + 1);
  const spreads = Float32Array.from({ length: dimensions }, (_, at) => 1 / Math.sqrt(1 + at / 16));
  const around = (centre: Float32Array, spread: number): Float32Array =>
    centre.map((value, at) => value + spread * spreads[at]! * normal());
  const subjects = Math.max(4, Math.round(Math.sqrt(expected) / 4));
  const common = around(new Float32Array(dimensions), 0.5);
  const subtopics = Array.from({ length: subjects }, () => {
    const subject = around(common, 1);
    return Array.from({ length: 12 }, () => ({
      centre: around(subject, 0.6),
      spread: 0.3 + 0.9 * uniform(),
    }));
  });
  return () => {
    const ofSubject = subtopics[Math.floor(subjects * uniform() * uniform())]!;
    const { centre, spread } = ofSubject[Math.floor(ofSubject.length * uniform())]!;
    return unit(around(centre, spread));
  };
}

export function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** Normally distributed numbers. */
function normals(seed: number): () => number {
  const uniform = pseudoRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
