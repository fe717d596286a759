import type { Tensor } from "@lares/sdk";
import type { FaceSettings } from "./face-settings.ts";

/** A face in a picture: the box as fractions of the picture's width and height. */
export interface DetectedFace {
  readonly box: Box;
  readonly score: number;
  /** The vector has length 1; absent if the detector gives none. */
  readonly vector?: Float32Array;
}

export type Box = readonly [left: number, top: number, width: number, height: number];

/** What a detector answered. `problem`: why it says nothing, for the person who named it. */
type Detections = { readonly faces: readonly DetectedFace[] } | { readonly problem: string };

/** The part of a model's input that the picture fills, from its top left, pixels. */
interface Filled {
  readonly width: number;
  readonly height: number;
}

/** Faces that are kept of one photo. */
export const maxFaces = 20;
/** Boxes that a detector may give for one photo; a detector that proposes places everywhere gives some ten thousand. */
const maxRows = 50_000;
/** Places of a map: those of the largest input, in steps of four pixels. */
const maxPlaces = 65_536;
/** If two boxes overlap more than this, the one with the higher score stays. */
const maxOverlap = 0.4;
/** Boxes with a high score that are compared with each other. */
const maxCompared = 200;
export const vectorBounds = { least: 2, most: 1024 };

/** A box in pixels of the input. */
interface Candidate {
  readonly corners: readonly [left: number, top: number, right: number, bottom: number];
  readonly score: number;
  /** The row of its vector; -1 without one. */
  readonly row: number;
}

/**
 * Reads what a detector answered. Nothing of it is trusted: what is not a number, lies outside of the picture or is too small is
 * left out, and only so many boxes are read.
 */
export function detectionsIn(outputs: readonly Tensor[], settings: FaceSettings, filled: Filled): Detections {
  const found = settings.heatmap === undefined ? inBoxes(outputs, settings) : inHeatmap(outputs, settings);
  if ("problem" in found) return found;
  const kept = withoutOverlaps(found.candidates.flatMap((candidate) => clipped(candidate, filled)));
  return {
    faces: kept.map(({ corners: [left, top, right, bottom], score, row }) => {
      const vector = found.vectors === null || row < 0 ? null : vectorAt(found.vectors, row);
      return {
        box: [
          left / filled.width,
          top / filled.height,
          (right - left) / filled.width,
          (bottom - top) / filled.height,
        ],
        score,
        ...(vector === null ? {} : { vector }),
      };
    }),
  };
}

type Found =
  | { readonly candidates: readonly Candidate[]; readonly vectors: Vectors | null }
  | { readonly problem: string };

interface Vectors {
  readonly data: Numbers;
  readonly dimensions: number;
}

type Numbers = Float32Array | Float64Array;

function inBoxes(outputs: readonly Tensor[], settings: FaceSettings): Found {
  const boxes = floats(outputs, settings.boxes, "boxes");
  if ("problem" in boxes) return boxes;
  const scores = floats(outputs, settings.scores, "scores");
  if ("problem" in scores) return scores;
  const rows = boxes.dims.at(-2) ?? 0;
  if (boxes.dims.at(-1) !== 4 || boxes.data.length !== rows * 4)
    return { problem: `The output "${settings.boxes}" is ${shown(boxes.dims)}; it must be N × 4.` };
  if (rows > maxRows)
    return { problem: `The detector gives ${rows} boxes for one photo; at most ${maxRows} are read.` };
  // If there are several classes, the last one is the face: the first one is usually the background.
  const classes = scores.data.length === rows ? 1 : rows === 0 ? 0 : scores.data.length / rows;
  if (!Number.isInteger(classes) || (classes > 1 && scores.dims.at(-1) !== classes))
    return {
      problem: `The output "${settings.scores}" is ${shown(scores.dims)}, and there are ${rows} boxes; it must have one score for each.`,
    };
  const best = new Highest();
  for (let row = 0; row < rows; row++) {
    const score = scores.data[row * classes + classes - 1] ?? 0;
    // Also false for what is not a number.
    if (!(score >= settings.leastScore && score <= maxScore)) continue;
    const corners = [0, 1, 2, 3].map((at) => boxes.data[row * 4 + at] ?? 0);
    const [left = 0, top = 0, right = 0, bottom = 0] = corners;
    if (!corners.every(Number.isFinite) || right <= left || bottom <= top) continue;
    best.add({ corners: [left, top, right, bottom], score, row });
  }
  const candidates = best.all;
  const isRelative =
    settings.coordinates === "relative" ||
    (settings.coordinates === "auto" &&
      candidates.every(({ corners }) => corners.every((value) => Math.abs(value) <= largestRelative)));
  return {
    candidates: isRelative
      ? candidates.map(({ corners: [left, top, right, bottom], ...more }) => ({
          ...more,
          corners: [
            left * settings.width,
            top * settings.height,
            right * settings.width,
            bottom * settings.height,
          ] as const,
        }))
      : candidates,
    vectors: vectorsIn(outputs, settings.embeddings, rows),
  };
}

/** Scores go from 0 to 1; a larger number is not a score. */
const maxScore = 1.001;
/** A box from 0 to 1 may reach over the edge; in pixels nothing is so small. */
const largestRelative = 1.5;

/**
 * Reads a map of the places that may be the centre of a face. Per place two further maps have the logarithm of its size, and how
 * far the centre is from the place, both in steps of the map: height first.
 */
function inHeatmap(outputs: readonly Tensor[], { heatmap: names, leastScore, width }: FaceSettings): Found {
  if (names === undefined) return { candidates: [], vectors: null };
  const map = floats(outputs, names.heatmap, "heatmap");
  if ("problem" in map) return map;
  const sizes = floats(outputs, names.sizes, "sizes");
  if ("problem" in sizes) return sizes;
  const offsets = floats(outputs, names.offsets, "offsets");
  if ("problem" in offsets) return offsets;
  const columns = map.dims.at(-1) ?? 0;
  const places = map.data.length;
  if (
    columns === 0 ||
    places > maxPlaces ||
    sizes.data.length !== places * 2 ||
    offsets.data.length !== places * 2
  )
    return {
      problem: `The outputs "${names.heatmap}" (${shown(map.dims)}), "${names.sizes}" (${shown(sizes.dims)}) and "${names.offsets}" (${shown(offsets.dims)}) do not fit together; the last two must have two maps of the first one's size.`,
    };
  const step = width / columns;
  const best = new Highest();
  for (let place = 0; place < places; place++) {
    const score = map.data[place] ?? 0;
    if (!(score >= leastScore && score <= maxScore)) continue;
    const high = Math.exp(sizes.data[place] ?? 0) * step;
    const wide = Math.exp(sizes.data[places + place] ?? 0) * step;
    const y = (Math.floor(place / columns) + (offsets.data[place] ?? 0) + 0.5) * step;
    const x = ((place % columns) + (offsets.data[places + place] ?? 0) + 0.5) * step;
    const corners = [x - wide / 2, y - high / 2, x + wide / 2, y + high / 2] as const;
    if (corners.every(Number.isFinite) && wide > 0 && high > 0) best.add({ corners, score, row: -1 });
  }
  return { candidates: best.all, vectors: null };
}

/** The candidates with the highest scores; others are dropped on the way, so that many cost neither memory nor time. */
class Highest {
  #candidates: Candidate[] = [];

  add(candidate: Candidate): void {
    this.#candidates.push(candidate);
    if (this.#candidates.length >= 4 * maxCompared) this.#candidates = this.all;
  }

  get all(): Candidate[] {
    // The order of the rows decides between equals, so that the same answer always gives the same faces.
    return this.#candidates
      .toSorted((one, other) => other.score - one.score || one.row - other.row)
      .slice(0, maxCompared);
  }
}

/** Cuts a box at the picture's edges. A face of less than a hundredth of the picture's side shows nothing. */
function clipped(candidate: Candidate, { width, height }: Filled): Candidate[] {
  const [left, top, right, bottom] = candidate.corners;
  const corners = [
    Math.min(Math.max(left, 0), width),
    Math.min(Math.max(top, 0), height),
    Math.min(Math.max(right, 0), width),
    Math.min(Math.max(bottom, 0), height),
  ] as const;
  const least = Math.max(width, height) / 100;
  return corners[2] - corners[0] < least || corners[3] - corners[1] < least
    ? []
    : [{ ...candidate, corners }];
}

function withoutOverlaps(candidates: readonly Candidate[]): Candidate[] {
  const kept: Candidate[] = [];
  for (const candidate of candidates) {
    if (kept.length === maxFaces) break;
    if (kept.every(({ corners }) => overlapOf(corners, candidate.corners) <= maxOverlap))
      kept.push(candidate);
  }
  return kept;
}

/** Returns the part that two boxes share, of what they cover together. */
function overlapOf(one: Candidate["corners"], other: Candidate["corners"]): number {
  const wide = Math.min(one[2], other[2]) - Math.max(one[0], other[0]);
  const high = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
  if (wide <= 0 || high <= 0) return 0;
  const area = ([left, top, right, bottom]: Candidate["corners"]): number => (right - left) * (bottom - top);
  return (wide * high) / (area(one) + area(other) - wide * high);
}

/** The same for boxes as they are kept. */
export function overlap(one: Box, other: Box): number {
  const corners = ([left, top, width, height]: Box) => [left, top, left + width, top + height] as const;
  return overlapOf(corners(one), corners(other));
}

/** Returns null for a detector that gives no embeddings. */
function vectorsIn(outputs: readonly Tensor[], name: string, rows: number): Vectors | null {
  const found = floats(outputs, name, "embeddings");
  if ("problem" in found || rows === 0) return null;
  const dimensions = found.data.length / rows;
  const isFit = Number.isInteger(dimensions) && found.dims.at(-1) === dimensions;
  return isFit && areDimensions(dimensions) ? { data: found.data, dimensions } : null;
}

const areDimensions = (count: number): boolean => count >= vectorBounds.least && count <= vectorBounds.most;

/** Reads the vector of a model that was given one face. */
export function embeddingIn(
  outputs: readonly Tensor[],
  name: string,
): { readonly vector: Float32Array | null } | { readonly problem: string } {
  const found = floats(outputs, name, "embedding.output");
  if ("problem" in found) return found;
  if (!areDimensions(found.data.length))
    return {
      problem: `The output "${name}" has ${found.data.length} numbers; a face's embedding has ${vectorBounds.least} to ${vectorBounds.most}.`,
    };
  return { vector: vectorAt({ data: found.data, dimensions: found.data.length }, 0) };
}

/** Returns the vector at length 1; null for a zero vector. */
function vectorAt({ data, dimensions }: Vectors, row: number): Float32Array | null {
  const vector = Float32Array.from(data.subarray(row * dimensions, (row + 1) * dimensions));
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (!Number.isFinite(sum) || sum === 0) return null;
  const length = Math.sqrt(sum);
  return vector.map((value) => value / length);
}

function floats(
  outputs: readonly Tensor[],
  name: string,
  key: string,
): { readonly data: Numbers; readonly dims: readonly number[] } | { readonly problem: string } {
  const output = outputs.find((one) => one.name === name);
  if (output === undefined) {
    const names = outputs.map((one) => JSON.stringify(one.name)).join(", ");
    return {
      problem: `The model has no output "${name}"; it has ${names.slice(0, 500)}. Name it as faces.${key} in config.`,
    };
  }
  if (output.type !== "float32" && output.type !== "float64")
    return { problem: `The output "${name}" is of ${output.type}; it must be of float32 or float64.` };
  return { data: output.data, dims: output.dims };
}

const shown = (dims: readonly number[]): string => `[${dims.join(", ")}]`;
