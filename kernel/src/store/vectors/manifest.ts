import { joinPath } from "../../platform/files/data-files.ts";
import type { EngineName } from "../../memory-contract/store-settings.ts";
import type { IndexShape, IndexWatermark } from "./port.ts";
import { maxDimensions, maxVectors } from "./unit.ts";

/** Has to be increased when the format changes. */
const indexFormat = 1;
const manifestName = "knowledge.json";
/** More bytes than three descriptions ever take. */
export const maxManifestBytes = 64 * 1024;
const maxWordLength = 1_024;
/** The newest file, and those that may remain if a process died before the rename, even twice. */
const maxDescriptions = 3;

/** The description of one file, in `knowledge.json` and at the file's own beginning. */
export interface IndexDescription extends IndexShape {
  readonly engineVersion: string;
  /** Number of vectors that can be found. */
  readonly count: number;
  readonly watermark: IndexWatermark;
}
export interface DescribedFile extends IndexDescription {
  readonly bytes: number;
  /** Digest of the whole file, 64 hexadecimal digits. */
  readonly sha256: string;
}

export const engineNames: readonly EngineName[] = ["exact", "usearch", "faiss"];

export function indexFileName(engine: EngineName): string {
  return `knowledge.${engine}`;
}

export function manifestPath(folder: string): string {
  return joinPath(folder, manifestName);
}

export function manifestText(files: readonly DescribedFile[]): string {
  return `${JSON.stringify({ format: indexFormat, files: files.slice(0, maxDescriptions) }, null, 2)}\n`;
}

/** Null if the store did not write it. */
export function parseManifest(text: string): DescribedFile[] | null {
  const manifest = recordOf(text);
  if (manifest === null || manifest["format"] !== indexFormat || !Array.isArray(manifest["files"]))
    return null;
  const files = manifest["files"].slice(0, maxDescriptions).map(describedFile);
  return files.every((file) => file !== null) ? files : null;
}

/** Null if the store did not write it; `extra` numbers are checked to be whole and at least 0. */
export function parseDescription(value: unknown): IndexDescription | null {
  if (typeof value !== "object" || value === null) return null;
  const { engine, engineVersion, dimensions, count, watermark } = value as Record<string, unknown>;
  if (!engineNames.includes(engine as EngineName) || !isWord(engineVersion)) return null;
  if (!isCount(dimensions, maxDimensions) || dimensions === 0 || !isCount(count, maxVectors)) return null;
  if (typeof watermark !== "object" || watermark === null) return null;
  const { seq, hash, embedder } = watermark as Record<string, unknown>;
  if (!isCount(seq, Number.MAX_SAFE_INTEGER) || !isWord(hash) || !isWord(embedder)) return null;
  return {
    engine: engine as EngineName,
    engineVersion,
    dimensions,
    count,
    watermark: { seq, hash, embedder },
  };
}

export function isCount(value: unknown, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

/** Returns the object in a JSON text; null if it is not one. */
export function recordOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function isSameDescription(one: IndexDescription, other: IndexDescription): boolean {
  return (
    one.engine === other.engine &&
    one.engineVersion === other.engineVersion &&
    one.dimensions === other.dimensions &&
    one.count === other.count &&
    one.watermark.seq === other.watermark.seq &&
    one.watermark.hash === other.watermark.hash &&
    one.watermark.embedder === other.watermark.embedder
  );
}

function describedFile(value: unknown): DescribedFile | null {
  const description = parseDescription(value);
  if (description === null) return null;
  const { bytes, sha256 } = value as Record<string, unknown>;
  if (!isCount(bytes, Number.MAX_SAFE_INTEGER) || typeof sha256 !== "string") return null;
  return /^[0-9a-f]{64}$/.test(sha256) ? { ...description, bytes, sha256 } : null;
}

function isWord(value: unknown): value is string {
  return typeof value === "string" && value.length <= maxWordLength;
}
