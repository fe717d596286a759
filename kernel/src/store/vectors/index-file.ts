import { joinPath } from "../../platform/files/data-files.ts";
import { type IndexDescription, isCount, parseDescription, recordOf } from "./manifest.ts";
import type { IndexShape } from "./port.ts";
import type { Precision, Rows } from "./rows.ts";
import { maxVectors } from "./unit.ts";

/**
 * One file: "LARESVEC", the length of the header (32 bits), the header as JSON, labels (64-bit floats, 0 for a removed
 * row), rows, and the graph as its library wrote it. Little-endian. Beside it, `knowledge.json` describes it, with its
 * length and digest.
 */
const magic = Buffer.from("LARESVEC");
export const prefixBytes = magic.length + 4;
const maxHeaderBytes = 16 * 1024;
/** The names of all files here begin with this, including temporary ones. */
export const filePrefix = "knowledge.";

/** The content of an index that is to be saved. */
export interface SavedParts {
  readonly shape: IndexShape;
  readonly engineVersion: string;
  readonly rows: Rows;
  /** By row; `removed` for a removed vector. */
  readonly labels: Float64Array;
  readonly count: number;
  readonly graph: { readonly size: number; readonly mostBytes: number; write(path: string): void } | null;
}

/** The content from which an index is restored. Its bytes were proven, but not that its parts fit together. */
export interface LoadedParts {
  readonly dimensions: number;
  readonly rows: Rows;
  readonly labels: Float64Array;
  readonly count: number;
  /** A private copy of the proven bytes is at `path`. */
  readonly graph: { readonly size: number; readonly path: string } | null;
}

export interface Header extends IndexDescription {
  readonly precision: Precision;
  readonly rows: number;
  readonly graphSize: number;
  readonly graphBytes: number;
}

export function headOf(header: Header): Uint8Array {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([magic, length, json]);
}

/** Returns the length of the header; null if these are not the first bytes of such a file. */
export function headerBytesIn(prefix: Buffer): number | null {
  const bytes = prefix.readUInt32LE(magic.length);
  return prefix.subarray(0, magic.length).equals(magic) && bytes <= maxHeaderBytes ? bytes : null;
}

/** Returns the header; null if the store did not write it, or if no index has such numbers. */
export function parseHeader(text: string): Header | null {
  const value = recordOf(text);
  const description = parseDescription(value);
  if (value === null || description === null) return null;
  const { precision, rows, graphSize, graphBytes } = value;
  if (precision !== "f32" && precision !== "f16") return null;
  if (!isCount(rows, 2 * maxVectors) || rows < description.count) return null;
  if (!isCount(graphSize, rows) || !isCount(graphBytes, Number.MAX_SAFE_INTEGER)) return null;
  if ((graphSize === 0) !== (graphBytes === 0)) return null;
  return { ...description, precision, rows, graphSize, graphBytes };
}

/** A marker file that exists while a library reads this folder. It remains only if the process died meanwhile. */
export function openingPath(folder: string): string {
  return joinPath(folder, `${filePrefix}opening`);
}
