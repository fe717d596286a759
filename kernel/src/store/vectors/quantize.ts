import { nextTurn } from "../../base/next-turn.ts";
import { invalidParams } from "../../base/errors.ts";
import { pseudoRandom } from "../../base/pseudo-random.ts";
import { decodeHalf, encodeHalf } from "./half.ts";
import { checkDimensions, maxDimensions } from "./unit.ts";

/** How a vector lies on the disk: hot at 32 bits a number, warm at 16, cold as product-quantized codes. */
export type Tier = "hot" | "warm" | "cold";

/** Neighbouring numbers that one byte stands for; what it leaves over takes a byte a number. */
const partWidth = 4;
/** As many as a byte can name. */
const centroids = 256;
/** More teach it nothing, and take longer. */
export const maxTrainingVectors = 4_096;
/** Fewer say too little of what is to come: what is cold then has to wait. */
export const minTrainingVectors = 1_024;
const rounds = 6;
const seed = 384;

/** "LPQ", version 1, and the dimensions; then the centroids and a step for each number, 32-bit floats. Little-endian. */
const magic = 0x0151504c;
const headBytes = 8;
/** What is left over beyond as many standard deviations is cut off: finer steps for all others are worth it. */
const deviationsKept = 5;
const middle = 128;

/**
 * What the bytes of cold vectors mean. Vectors can be decoded only with the codebook they were encoded with: keep its
 * bytes beside them.
 */
export interface Codebook {
  readonly dimensions: number;
  /** Of an encoded vector. */
  readonly bytesPerVector: number;
  /** To keep; `readCodebook` takes them. */
  readonly bytes: Uint8Array;
  encode(vector: Float32Array): Uint8Array;
  /** InvalidParams for other than `bytesPerVector` bytes. */
  decode(code: Uint8Array): Float32Array;
}

/**
 * Learns from unit vectors, of which it takes at most `maxTrainingVectors`, spread evenly; the same from the same.
 * Takes a few seconds, and gives way to others between parts. InvalidParams for fewer than `minTrainingVectors`.
 */
export async function trainCodebook(vectors: readonly Float32Array[], dimensions: number): Promise<Codebook> {
  checkDimensions(dimensions);
  if (vectors.length < minTrainingVectors)
    throw invalidParams(`A codebook needs ${minTrainingVectors} vectors at least, not ${vectors.length}.`);
  const step = Math.max(1, vectors.length / maxTrainingVectors);
  const count = Math.floor(vectors.length / step);
  const sample = Array.from({ length: count }, (_, at) => vectors[Math.floor(at * step)]!);
  if (sample.some((vector) => vector.length !== dimensions || !vector.every(Number.isFinite)))
    throw invalidParams(`A codebook of ${dimensions} dimensions learns from finite vectors of as many.`);
  const table = new Float32Array(dimensions * (centroids + 1));
  const random = pseudoRandom(seed);
  for (let first = 0; first < dimensions; first += partWidth) {
    const width = Math.min(partWidth, dimensions - first);
    const points = new Float32Array(count * width);
    for (const [at, vector] of sample.entries())
      points.set(vector.subarray(first, first + width), at * width);
    const centres = centresOf(points, width, random);
    table.set(centres, first * centroids);
    table.set(stepsOf(points, width, centres), dimensions * centroids + first);
    await nextTurn();
  }
  return codebookOf(table, dimensions);
}

/** InvalidParams for bytes that `Codebook.bytes` never were, or of a later version. */
export function readCodebook(bytes: Uint8Array): Codebook {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isHead = bytes.byteLength >= headBytes && view.getUint32(0, true) === magic;
  const dimensions = isHead ? view.getUint32(4, true) : 0;
  if (
    dimensions < 1 ||
    dimensions > maxDimensions ||
    bytes.byteLength !== headBytes + dimensions * (centroids + 1) * 4
  )
    throw invalidParams("These bytes are no codebook of this version.");
  const table = new Float32Array(bytes.slice(headBytes).buffer);
  if (!table.every(Number.isFinite))
    throw invalidParams("This codebook has numbers in it that are not finite.");
  return codebookOf(table, dimensions);
}

/** The bytes of a vector at rest. A cold one needs the codebook. */
export function encodeVector(vector: Float32Array, tier: "hot" | "warm"): Uint8Array;
export function encodeVector(vector: Float32Array, tier: Tier, codebook: Codebook): Uint8Array;
export function encodeVector(vector: Float32Array, tier: Tier, codebook?: Codebook): Uint8Array {
  switch (tier) {
    case "hot":
      return new Uint8Array(vector.slice().buffer);
    case "warm": {
      const halves = new Uint16Array(vector.length);
      encodeHalf(vector, halves);
      return new Uint8Array(halves.buffer);
    }
    case "cold":
      return codebook!.encode(vector);
  }
}

/** What `encodeVector` made, as well as the tier keeps it. InvalidParams for bytes of another length. */
export function decodeVector(
  bytes: Uint8Array,
  tier: Tier,
  dimensions: number,
  codebook: Codebook | null,
): Float32Array {
  if (tier === "cold") {
    if (codebook?.dimensions !== dimensions)
      throw invalidParams("A cold vector needs the codebook it was made with.");
    return codebook.decode(bytes);
  }
  const bytesPerNumber = tier === "hot" ? 4 : 2;
  if (bytes.byteLength !== dimensions * bytesPerNumber)
    throw invalidParams(
      `A ${tier} vector of ${dimensions} dimensions has ${dimensions * bytesPerNumber} bytes.`,
    );
  // A copy: bytes out of a database may begin anywhere.
  const { buffer } = bytes.slice();
  if (tier === "hot") return new Float32Array(buffer);
  const vector = new Float32Array(dimensions);
  decodeHalf(new Uint16Array(buffer), 0, vector);
  return vector;
}

/** `table`: part after part, one centroid after the other; then the steps. */
function codebookOf(table: Float32Array, dimensions: number): Codebook {
  const parts = Math.ceil(dimensions / partWidth);
  const bytesPerVector = parts + dimensions;
  const steps = table.subarray(dimensions * centroids);
  const bytes = new Uint8Array(headBytes + table.byteLength);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, magic, true);
  view.setUint32(4, dimensions, true);
  bytes.set(new Uint8Array(table.buffer), headBytes);
  return {
    dimensions,
    bytesPerVector,
    bytes,
    encode(vector) {
      if (vector.length !== dimensions)
        throw invalidParams(`The codebook is for ${dimensions} dimensions, not ${vector.length}.`);
      const code = new Uint8ClampedArray(bytesPerVector);
      for (let part = 0; part < parts; part++) {
        const first = part * partWidth;
        const width = Math.min(partWidth, dimensions - first);
        const centre = nearestCentre(vector, first, table, first * centroids, width);
        code[part] = centre;
        for (let number = first; number < first + width; number++) {
          const left = vector[number]! - table[first * centroids + centre * width + number - first]!;
          code[parts + number] = middle + left / steps[number]!;
        }
      }
      return new Uint8Array(code.buffer);
    },
    decode(code) {
      if (code.length !== bytesPerVector)
        throw invalidParams(`A cold vector of ${dimensions} dimensions has ${bytesPerVector} bytes.`);
      const vector = new Float32Array(dimensions);
      for (let part = 0; part < parts; part++) {
        const first = part * partWidth;
        const width = Math.min(partWidth, dimensions - first);
        const place = first * centroids + code[part]! * width;
        for (let number = first; number < first + width; number++)
          vector[number] = table[place + number - first]! + (code[parts + number]! - middle) * steps[number]!;
      }
      return vector;
    },
  };
}

/** How wide a step of what is left over is, for each number of a part. */
function stepsOf(points: Float32Array, width: number, centres: Float32Array): Float32Array {
  const squares = new Float64Array(width);
  for (let at = 0; at < points.length; at += width) {
    const centre = nearestCentre(points, at, centres, 0, width);
    for (let number = 0; number < width; number++)
      squares[number]! += (points[at + number]! - centres[centre * width + number]!) ** 2;
  }
  const count = points.length / width;
  // Never zero: it is divided by.
  return Float32Array.from(squares, (sum) =>
    Math.max(1e-9, (deviationsKept * Math.sqrt(sum / count)) / middle),
  );
}

/** k-means: starts at points drawn by chance, and ends after as many rounds. */
function centresOf(points: Float32Array, width: number, random: () => number): Float32Array {
  const count = points.length / width;
  const centres = new Float32Array(centroids * width);
  for (let centre = 0; centre < centroids; centre++) {
    const from = Math.floor(random() * count) * width;
    centres.set(points.subarray(from, from + width), centre * width);
  }
  const sums = new Float64Array(centroids * width);
  const counts = new Uint32Array(centroids);
  for (let round = 0; round < rounds; round++) {
    sums.fill(0);
    counts.fill(0);
    for (let point = 0; point < count; point++) {
      const centre = nearestCentre(points, point * width, centres, 0, width);
      counts[centre]!++;
      for (let at = 0; at < width; at++) sums[centre * width + at]! += points[point * width + at]!;
    }
    for (let centre = 0; centre < centroids; centre++) {
      if (counts[centre] === 0) {
        // Nobody is near it: it tries elsewhere.
        const from = Math.floor(random() * count) * width;
        centres.set(points.subarray(from, from + width), centre * width);
      } else
        for (let at = 0; at < width; at++)
          centres[centre * width + at] = sums[centre * width + at]! / counts[centre]!;
    }
  }
  return centres;
}

/** Which of the centres, which begin at `first`, is nearest to the `width` values at `offset`. */
function nearestCentre(
  values: Float32Array,
  offset: number,
  centres: Float32Array,
  first: number,
  width: number,
): number {
  let nearest = 0;
  let least = Infinity;
  // The width all parts have but perhaps the last, without an inner loop: three times as fast.
  if (width === 4) {
    const one = values[offset]!;
    const two = values[offset + 1]!;
    const three = values[offset + 2]!;
    const four = values[offset + 3]!;
    for (let centre = 0, at = first; centre < centroids; centre++, at += 4) {
      const a = one - centres[at]!;
      const b = two - centres[at + 1]!;
      const c = three - centres[at + 2]!;
      const d = four - centres[at + 3]!;
      const distance = a * a + b * b + c * c + d * d;
      if (distance < least) {
        least = distance;
        nearest = centre;
      }
    }
    return nearest;
  }
  for (let centre = 0; centre < centroids; centre++) {
    let distance = 0;
    for (let at = 0; at < width; at++) {
      const difference = values[offset + at]! - centres[first + centre * width + at]!;
      distance += difference * difference;
    }
    if (distance < least) {
      least = distance;
      nearest = centre;
    }
  }
  return nearest;
}
