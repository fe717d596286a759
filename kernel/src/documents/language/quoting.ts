import type { DocumentFormat } from "../text/source.ts";

/** How the text at a place is quoted; `block` is a YAML block scalar. */
export type Quote = "" | '"' | "'" | '"""' | "'''" | "block";

/** What a quoted string says, as far as an editor needs it: the escapes of quotes and backslashes, nothing rarer. */
export function unquoted(written: string): string {
  const quote = /^(?:"""|'''|"|')/.exec(written)?.[0] ?? "";
  const isClosed = written.length >= 2 * quote.length && written.endsWith(quote);
  return unescaped(
    written.slice(quote.length, isClosed ? -quote.length || undefined : undefined),
    quote,
    "toml",
  );
}

/** The same for what stands between the quotes. */
export function unescaped(content: string, quote: string, format: DocumentFormat): string {
  if (quote.startsWith('"')) return content.replace(/\\(["\\/])/g, "$1");
  return quote === "'" && format === "yaml" ? content.replaceAll("''", "'") : content;
}

/** Line breaks too: what is written stays on its line. */
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/**
 * The text of a string as it is written between quotes of this kind; null where it cannot be, because only double
 * quotes have escapes.
 */
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

/** A string as a value of its own, quoted where the format wants that. */
export function written(value: string, format: DocumentFormat, isInFlow: boolean): string {
  return format === "yaml" && isPlain(value, isInFlow) ? value : `"${escaped(value, '"', format) ?? ""}"`;
}

/** Whether YAML reads these characters, written without quotes, as this string. */
function isPlain(value: string, isInFlow: boolean): boolean {
  if (!/^[A-Za-z0-9_./~$(]/.test(value) || /^(?:~|null|true|false)$/i.test(value)) return false;
  if (/^[+-]?[\d.]+(?:e[+-]?\d+)?$/i.test(value) || /^0[xo]/.test(value)) return false;
  if (/:(?:\s|$)|\s#|\s$/.test(value) || value.search(controls) >= 0) return false;
  return !(isInFlow && /[,[\]{}]/.test(value));
}
