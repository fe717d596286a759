import { nobody } from "./face-clusters.ts";
import { maxFaces, overlap, vectorBounds, type Box, type DetectedFace } from "./detections.ts";

/** The kind of sidecar that holds the faces of a photo. */
export const facesSidecar = "faces";

/** The sidecar: the faces that models found in one state of a file. */
export interface FacesSidecar {
  readonly of: string;
  readonly model: string;
  readonly faces: readonly KeptFace[];
}

export interface KeptFace {
  /** Left, top, width and height as fractions of the upright photo. */
  readonly box: Box;
  readonly score: number;
  /** A vector in whole numbers from -127 to 127, a byte each, in Base64. */
  readonly vector?: string;
}

/** Bytes of all vectors of one photo: a batch of photos has to fit a message. */
const maxVectorBytes = 8192;
/** A face that covers the same part of a photo as before is the same. */
const leastSame = 0.5;

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;

/** Returns the faces as they are kept; beyond the bound, without their vectors. */
export function keptFaces(faces: readonly DetectedFace[]): KeptFace[] {
  let left = maxVectorBytes;
  return faces.slice(0, maxFaces).map(({ box: [x, y, width, height], score, vector }) => {
    const fits = vector !== undefined && vector.length <= left;
    if (fits) left -= vector.length;
    return {
      box: [rounded(x), rounded(y), rounded(width), rounded(height)],
      score: Math.round(score * 1000) / 1000,
      ...(fits ? { vector: quantised(vector) } : {}),
    };
  });
}

function quantised(vector: Float32Array): string {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const bytes = new Uint8Array(vector.length);
  new Int8Array(bytes.buffer).set(vector.map((value) => Math.round((value / largest) * 127)));
  return base64(bytes);
}

/** Returns the numbers of a vector as it is kept; undefined for any other text. */
export function vectorOf(text: unknown): Int8Array | undefined {
  if (typeof text !== "string" || text.length > 2 * vectorBounds.most) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return bytes.length < vectorBounds.least ? undefined : new Int8Array(bytes.buffer);
  } catch {
    return undefined;
  }
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Reads a sidecar; what does not have the expected shape is left out. Null if it is not one. */
export function facesIn(data: unknown): FacesSidecar | null {
  if (typeof data !== "object" || data === null) return null;
  const { of, model, faces } = data as Partial<Record<keyof FacesSidecar, unknown>>;
  if (typeof of !== "string" || typeof model !== "string" || !Array.isArray(faces)) return null;
  const found = faces.slice(0, maxFaces).flatMap((face: unknown): KeptFace[] => {
    const { box, score, vector } = (face ?? {}) as Partial<Record<keyof KeptFace, unknown>>;
    if (!isBox(box) || typeof score !== "number") return [];
    return [{ box, score, ...(typeof vector === "string" ? { vector } : {}) }];
  });
  return found.length === faces.length ? { of, model, faces: found } : null;
}

function isBox(value: unknown): value is Box {
  return (
    Array.isArray(value) &&
    value.length === 4 &&
    value.every((part) => typeof part === "number" && part >= 0 && part <= 1)
  );
}

/**
 * Returns the people of faces that were found again: those of the faces before that cover the same part of the photo, so that a
 * name outlives another model.
 */
export function peopleAgain(
  faces: readonly KeptFace[],
  before: readonly KeptFace[],
  people: readonly string[],
): string[] {
  return faces.map((face) => {
    const at = before.findIndex(({ box }) => overlap(box, face.box) >= leastSame);
    const person = people[at] ?? "";
    return person === nobody ? "" : person;
  });
}
