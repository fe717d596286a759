import { Lines, type Range } from "../text/diagnostics.ts";

/** A document with one place marked by «…», as tests write it. */
export function marked(source: string): { text: string; range: Range | null } {
  const start = source.indexOf("«");
  const end = source.indexOf("»") - 1;
  const text = source.replace("«", "").replace("»", "");
  return { text, range: start < 0 ? null : new Lines(text).range(start, end) };
}
