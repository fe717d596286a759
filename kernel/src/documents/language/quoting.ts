import type { DocumentFormat } from "../source.ts";

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

/** The text of a string as it is written between quotes of this kind, or in a block. */
export function escaped(value: string, quote: Quote, format: DocumentFormat): string {
  if (quote.startsWith('"')) return value.replace(/["\\]/g, String.raw`\$&`);
  return quote === "'" && format === "yaml" ? value.replaceAll("'", "''") : value;
}

/** A string as a value of its own, quoted where the format wants that. */
export function written(value: string, format: DocumentFormat, isInFlow: boolean): string {
  if (format === "toml" || !isPlain(value, isInFlow)) return `"${escaped(value, '"', format)}"`;
  return value;
}

/** Whether YAML reads these characters, written without quotes, as this string. */
function isPlain(value: string, isInFlow: boolean): boolean {
  if (!/^[A-Za-z0-9_./~$(]/.test(value) || /^(?:~|null|true|false)$/i.test(value)) return false;
  if (/^[+-]?[\d.]+(?:e[+-]?\d+)?$/i.test(value) || /^0[xo]/.test(value)) return false;
  if (/:(?:\s|$)|\s#|\s$|[\r\n]/.test(value)) return false;
  return !(isInFlow && /[,[\]{}]/.test(value));
}
