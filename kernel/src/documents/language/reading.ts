import { maxDiagnostics } from "../text/diagnostics.ts";
import { plainReading } from "../text/plain-values.ts";
import {
  documentLimits,
  TooComplex,
  type DocumentFormat,
  type Reading,
  type ReportFault,
  type SourceNode,
} from "../text/source.ts";
import { inTurns, type Steps } from "../text/turns.ts";
import { readYaml } from "../text/yaml.ts";
import { readTomlLeniently, type TomlStatement } from "./lenient-toml.ts";

/** The readable part of a text that is being typed. */
export interface LenientReading extends Reading {
  /** Offsets of syntax errors. */
  readonly faults: readonly { readonly start: number; readonly end: number }[];
  /** TOML's headers and pairs; empty for YAML. */
  readonly statements: readonly TomlStatement[];
}

/**
 * Reads as much of a document as possible for an editor. Returns null if it is empty or beyond {@link
 * documentLimits}. Never throws. The authoritative reader is `parseDocument`.
 */
export function* readingSteps(text: string, format: DocumentFormat): Steps<LenientReading | null> {
  if (text.length > documentLimits.characters) return null;
  const faults: { start: number; end: number }[] = [];
  const report: ReportFault = (_code, start, end) => faults.push({ start, end }) <= maxDiagnostics;
  try {
    if (format === "toml") return plainReading({ faults, ...readTomlLeniently(text) }, report);
    const reading = yield* readYaml(text, report, true);
    return reading === null ? null : plainReading({ ...reading, faults, statements: [] }, report);
  } catch (error) {
    // RangeError: the parsers are recursive, and a text that exhausts the stack is nested beyond every bound.
    if (error instanceof TooComplex || error instanceof RangeError) return null;
    throw error;
  }
}

/** Maximum number of cached readings. */
const maxKeptReadings = 4;
const kept: { text: string; format: DocumentFormat; reading: Promise<LenientReading | null> }[] = [];

/**
 * Reads in steps and caches the result per version of a text, because hovers, hints and the outline request it
 * repeatedly.
 */
export function readingOf(text: string, format: DocumentFormat): Promise<LenientReading | null> {
  const known = kept.find((each) => each.format === format && each.text === text);
  if (known !== undefined) return known.reading;
  const reading = inTurns(readingSteps(text, format));
  kept.unshift({ text, format, reading });
  kept.length = Math.min(kept.length, maxKeptReadings);
  return reading;
}

/** A key or value of a document, identified by its JSON pointer's keys. */
export interface FoundNode {
  readonly keys: readonly string[];
  readonly part: "key" | "value";
  readonly node: SourceNode;
}

/** Returns the innermost key or scalar that contains `offset` or ends at it; null if there is none. */
export function nodeAt(root: SourceNode, offset: number): FoundNode | null {
  let found: FoundNode | null = null;
  const search = (node: SourceNode, keys: readonly string[]): void => {
    for (const [name, child] of node.children) {
      if (found !== null) return;
      const path = [...keys, name];
      const { key } = child;
      search(child, path);
      if (found !== null) return;
      if (key !== undefined && key.start <= offset && offset <= key.end) {
        // In TOML, a list position has the same place as the list's name.
        found = { keys: isPosition(name) ? keys : path, part: "key", node: child };
      } else if (child.children.size === 0 && child.start <= offset && offset <= child.end) {
        found = { keys: path, part: "value", node: child };
      }
    }
  };
  search(root, []);
  return found;
}

function isPosition(name: string): boolean {
  return /^\d+$/.test(name);
}
