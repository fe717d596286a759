import type { DocumentFormat } from "../text/source.ts";

/** The quoting of the text at a place; `block` is a YAML block scalar. */
export type Quote = "" | '"' | "'" | '"""' | "'''" | "block";

/** Decodes a quoted string as far as an editor needs it: only escaped quotes and backslashes. */
export function unquoted(written: string): string {
  const quote = /^(?:"""|'''|"|')/.exec(written)?.[0] ?? "";
  const isClosed = written.length >= 2 * quote.length && written.endsWith(quote);
  return unescaped(
    written.slice(quote.length, isClosed ? -quote.length || undefined : undefined),
    quote,
    "toml",
  );
}

/** Decodes the text between the quotes. */
export function unescaped(content: string, quote: string, format: DocumentFormat): string {
  if (quote.startsWith('"')) return content.replace(/\\(["\\/])/g, "$1");
  return quote === "'" && format === "yaml" ? content.replaceAll("''", "'") : content;
}

/** Escapes line breaks too: the text stays on one line. */
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** Encodes a string for this kind of quotes. Returns null if it needs escapes and the quotes are not double quotes. */
export function escaped(value: string, quote: Quote, format: DocumentFormat): string | null {
  if (quote.startsWith('"')) {
    return value.replace(/["\\]/g, String.raw`\$&`).replace(controls, codeOf);
  }
  if (value.search(controls) >= 0) return null;
  if (format === "yaml" && quote === "'") return value.replaceAll("'", "''");
  return quote !== "" && value.includes(quote) ? null : value;
}

/** Both formats have this escape. */
function codeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Returns a string as a value, quoted if the format requires it. */
export function written(value: string, format: DocumentFormat, isInFlow: boolean): string {
  return format === "yaml" && isPlain(value, isInFlow) ? value : `"${escaped(value, '"', format) ?? ""}"`;
}

/** True if YAML reads these characters without quotes as the same string. */
function isPlain(value: string, isInFlow: boolean): boolean {
  if (!/^[A-Za-z0-9_./~$(]/.test(value) || /^(?:~|null|true|false)$/i.test(value)) return false;
  if (/^[+-]?[\d.]+(?:e[+-]?\d+)?$/i.test(value) || /^0[xo]/.test(value)) return false;
  if (/:(?:\s|$)|\s#|\s$/.test(value) || value.search(controls) >= 0) return false;
  return !(isInFlow && /[,[\]{}]/.test(value));
}
