import type { DocumentFormat, ParsedDocument } from "../text/source.ts";

/** Returns a value on one line, as this format writes it. */
export function written(value: unknown, format: DocumentFormat): string {
  if (typeof value === "string") return format === "yaml" && isPlain(value) ? value : quoted(value);
  if (Array.isArray(value)) return `[${value.map((item) => written(item, format)).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, item]) => entry(key, written(item, format), format));
    return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
  }
  return String(value);
}

/** `key: value`, or `key = value`. */
export function entry(key: string, valueText: string, format: DocumentFormat): string {
  if (format === "yaml") return `${isPlainKey(key) ? key : quoted(key)}: ${valueText}`;
  return `${/^[\w-]+$/.test(key) ? key : quoted(key)} = ${valueText}`;
}

/** Returns the text that replaces this string value, in its existing quotes. */
export function rewritten(document: ParsedDocument, pointer: string, value: string): string {
  const node = document.nodeAt(pointer);
  const first = node === undefined ? "" : document.text.charAt(node.start);
  const isLiteral = first === "'" && !/['\p{Cc}]/u.test(value);
  if (isLiteral) return `'${value}'`;
  return first === '"' || first === "'" ? quoted(value) : written(value, document.format);
}

/** Both formats read JSON's escapes. */
function quoted(value: string): string {
  return JSON.stringify(value.toWellFormed());
}

/** True for text that YAML, including older versions, reads as a plain string, in a block and between brackets. */
function isPlain(value: string): boolean {
  if (/^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(value)) return true;
  return (
    /^(?:\.{1,2}\/)?[A-Za-z_][\w./@-]*(?: [\w./@-]+)*$/.test(value) &&
    !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(value)
  );
}

function isPlainKey(key: string): boolean {
  return /^[A-Za-z_][\w.-]*$/.test(key) && !/^(?:true|false|null)$/i.test(key);
}
