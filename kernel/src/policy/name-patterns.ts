import { foldName } from "../base/names.ts";

/** Returns true if a folded name matches one of the patterns. */
type NamePatterns = (foldedName: string) => boolean;

/**
 * Compiles patterns of single names: "*" stands for any characters, "?" for one. Patterns are compared with folded
 * names. The usual shapes, a whole name and a star at one end, cost about one look-up each, because folders of
 * thousands of names are checked.
 */
export function compileNames(patterns: readonly string[]): NamePatterns {
  const whole = new Set<string>();
  /** By the first character of their beginning, or the last character of their end. */
  const beginnings = new Map<string, string[]>();
  const endings = new Map<string, string[]>();
  const others: string[] = [];
  for (const pattern of patterns.map((each) => each.toLowerCase())) {
    if (!/[*?]/.test(pattern)) whole.add(foldFast(pattern));
    else if (/^[^*?]+\*$/.test(pattern)) add(beginnings, pattern[0], pattern.slice(0, -1));
    else if (/^\*[^*?]+$/.test(pattern)) add(endings, pattern.at(-1), pattern.slice(1));
    else
      others.push(
        pattern
          .replace(/[.+^${}()|[\]\\]/g, "\\$&")
          .replaceAll("*", ".*")
          .replaceAll("?", "."),
      );
  }
  const rest = others.length === 0 ? null : new RegExp(`^(?:${others.join("|")})$`, "su");
  return (name) =>
    whole.has(name) ||
    (beginnings.get(name[0] ?? "")?.some((beginning) => name.startsWith(beginning)) ?? false) ||
    (endings.get(name.at(-1) ?? "")?.some((ending) => name.endsWith(ending)) ?? false) ||
    (rest?.test(name) ?? false);
}

function add(lists: Map<string, string[]>, key: string | undefined, value: string): void {
  const list = lists.get(key ?? "");
  if (list === undefined) lists.set(key ?? "", [value]);
  else list.push(value);
}

/** The same as `foldName`, but faster for plain names, because folders with thousands of names are checked. */
export function foldFast(name: string): string {
  return /^[!-9;-~]*[!-\-/-9;-~]$/.test(name) ? name.toLowerCase() : foldName(name);
}
