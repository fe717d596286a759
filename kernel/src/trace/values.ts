import { cut, cutMargin, maxNameLength, type Redact, redactedText } from "./redacted-text.ts";

/** Characters of one text in a value. */
export const maxTextLength = 512;
/** Entries of one list or record in a value. */
const maxItems = 20;
/** Values that are nested deeper are not looked into. */
const maxDepth = 6;
/** Texts, numbers, lists and records of one value. */
const maxParts = 200;
/** Characters of the texts of one value, before the rest is left out. */
const maxLength = 4 * 1024;

interface Room {
  parts: number;
  length: number;
}

/**
 * Returns values as a trace shows them: long texts, lists and records are shortened, each with a mark. Secrets are replaced
 * before a text is cut, and only in what is shown.
 */
export function shortenedValues(
  values: Readonly<Record<string, unknown>>,
  redact: Redact,
): Record<string, unknown> {
  const pairs = Object.entries(values)
    .slice(0, maxItems)
    .map(([key, value]) => [key, shortened(key, value, redact, { parts: maxParts, length: maxLength }, 0)]);
  return Object.fromEntries(pairs) as Record<string, unknown>;
}

function shortened(key: string, value: unknown, redact: Redact, room: Room, depth: number): unknown {
  room.parts -= 1;
  if (typeof value === "string")
    return key === "base64" ? `[${bytesIn(value)} bytes]` : shortenedText(key, value, redact, room);
  if (typeof value === "bigint") return String(value);
  if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
  if (typeof value !== "object" || value === null) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= maxDepth || room.parts <= 0) return "[…]";
  if (Array.isArray(value)) return shortenedList(key, value, redact, room, depth);
  return shortenedRecord(value as Record<string, unknown>, redact, room, depth);
}

/** Contents in Base64 are not shown: no pattern would find a secret in them. */
function bytesIn(base64: string): number {
  return Math.floor((base64.replace(/(?<!=)=+$/, "").length * 3) / 4);
}

function shortenedText(key: string, text: string, redact: Redact, room: Room): string {
  // A search takes time, and agents choose how many texts there are.
  if (room.length <= 0) return `[${text.length} characters]`;
  const length = Math.max(64, Math.min(maxTextLength, room.length));
  // Pieces that no entry will show are not searched, and no text ends in the middle of a secret.
  const isLong = text.length > length + 2 * cutMargin;
  const redacted = redactedText(key, isLong ? text.slice(0, length + 2 * cutMargin) : text, redact);
  const shown = isLong ? cut(redacted.slice(0, -cutMargin), length, text.length) : cut(redacted, length);
  room.length -= shown.length;
  return shown;
}

function shortenedList(
  key: string,
  list: readonly unknown[],
  redact: Redact,
  room: Room,
  depth: number,
): unknown[] {
  const shown: unknown[] = [];
  for (const one of list.slice(0, maxItems)) {
    if (room.parts <= 0) break;
    shown.push(shortened(key, one, redact, room, depth + 1));
  }
  const left = list.length - shown.length;
  return left === 0 ? shown : [...shown, `… [${left} more]`];
}

function shortenedRecord(
  record: Readonly<Record<string, unknown>>,
  redact: Redact,
  room: Room,
  depth: number,
): Record<string, unknown> {
  const shown: [string, unknown][] = [];
  let left = 0;
  for (const key in record) {
    if (!Object.hasOwn(record, key) || record[key] === undefined) continue;
    if (shown.length >= maxItems || room.parts <= 0 || room.length <= 0) left += 1;
    else {
      const name = cut(redact(key.slice(0, 4 * maxNameLength)), maxNameLength);
      room.length -= name.length;
      shown.push([name, shortened(key, record[key], redact, room, depth + 1)]);
    }
  }
  if (left > 0) shown.push(["…", `[${left} more]`]);
  return Object.fromEntries(shown);
}
