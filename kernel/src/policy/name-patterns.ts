import { foldName } from "../base/names.ts";

/** Returns whether a folded name matches one of the patterns. */
export type NamePatterns = (foldedName: string) => boolean;

/**
 * Compiles patterns of single names: "*" stands for any characters, "?" for one. Patterns are compared as folded names.
 * The usual shapes, a whole name and a star at one end, cost one look-up each.
 */
export function compileNames(patterns: readonly string[]): NamePatterns {
  const whole = new Set<string>();
  const prefixes: string[] = [];
  /** By what stands behind the last dot: nearly all that begin with a star are endings. */
  const endings = new Set<string>();
  const others: string[] = [];
  for (const pattern of patterns.map((each) => each.toLowerCase())) {
    if (!/[*?]/.test(pattern)) whole.add(foldFast(pattern));
    else if (/^\*\.[^.*?]+$/.test(pattern)) endings.add(pattern.slice(2));
    else if (/^[^*?]+\*$/.test(pattern)) prefixes.push(pattern.slice(0, -1));
    else
      others.push(
        pattern
          .replace(/[.+^${}()|[\]\\]/g, "\\$&")
          .replaceAll("*", ".*")
          .replaceAll("?", "."),
      );
  }
  const rest = others.length === 0 ? null : new RegExp(`^(?:${others.join("|")})$`, "su");
  return (name) => {
    if (whole.has(name)) return true;
    const dot = name.lastIndexOf(".");
    if (dot >= 0 && endings.has(name.slice(dot + 1))) return true;
    return prefixes.some((prefix) => name.startsWith(prefix)) || (rest?.test(name) ?? false);
  };
}

/** The same as `foldName`. Most names are plain, and folders with thousands of them are asked about. */
export function foldFast(name: string): string {
  return /^[!-9;-~]*[!-\-/-9;-~]$/.test(name) ? name.toLowerCase() : foldName(name);
}
