import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../corpus");

interface CorpusCase<Value> {
  readonly file: string;
  readonly value: Value;
}

interface CorpusFile {
  readonly property: string;
  /** A description of the fault, for a reader; optional. */
  readonly says?: string;
  readonly value: unknown;
}

/** The cases kept for one property; a file without a target's property is refused, so that none is forgotten. */
export function corpusOf<Value>(target: string, property: string): CorpusCase<Value>[] {
  const place = join(folder, target);
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .map((name) => ({
      name,
      case: JSON.parse(readFileSync(join(place, name), "utf8"), revive) as CorpusFile,
    }))
    .filter((entry) => entry.case.property === property)
    .map((entry) => ({ file: entry.name, value: entry.case.value as Value }));
}

/** Writes a case and returns its file's name, relative to the corpus. */
export function keepInCorpus(target: string, property: string, value: unknown): string {
  const text = `${JSON.stringify({ property, value }, preserve, 2)}\n`;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  mkdirSync(join(folder, target), { recursive: true });
  const name = `${target}/${digest}.json`;
  writeFileSync(join(folder, name), text);
  return name;
}

function preserve(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return { $base64: Buffer.from(value).toString("base64") };
  return typeof value === "bigint" ? { $bigint: String(value) } : value;
}

function revive(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("$base64" in value) return new Uint8Array(Buffer.from(String(value.$base64), "base64"));
  return "$bigint" in value ? BigInt(String(value.$bigint)) : value;
}
