import { isoTime } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { TraceEntry } from "../base/vocabulary/trace.ts";

/** A pattern of what must not be written down, by name: what it matches becomes `[redacted: name]`. */
export interface RedactionRule {
  readonly name: string;
  readonly pattern: RegExp;
}

/** What is handed to `write`: without a timestamp it is now. */
export type NewTraceEntry = Omit<TraceEntry, "timestamp"> & { readonly timestamp?: string };

/** Characters of a message. */
export const maxMessageLength = 8 * 1024;
/** Characters of an entry's fields as JSON. */
export const maxFieldsLength = 16 * 1024;
/** Characters of a name or an id in an entry. */
const maxNameLength = 256;
/** Deeper values in fields are not looked into. */
const maxFieldDepth = 8;

export type Redact = (text: string) => string;

export function createRedact(rules: readonly RedactionRule[]): Redact {
  const ready = rules.map(({ name, pattern }) => ({
    pattern: pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`),
    // A function, so that "$&" in a name is not read as the match itself.
    replacement: () => mark(name),
  }));
  return (text) =>
    ready.reduce((current, { pattern, replacement }) => current.replace(pattern, replacement), text);
}

/** The entry as it is stored: bounded, without secrets, with its time. */
export function storedEntry(entry: NewTraceEntry, epochMs: number, redact: Redact): TraceEntry {
  const { hook, fields } = entry;
  return {
    timestamp: entry.timestamp ?? isoTime(epochMs),
    level: entry.level,
    agent: cut(entry.agent, maxNameLength),
    ...(hook === undefined ? {} : { hook: cut(hook, maxNameLength) }),
    // Twice: first so that no pattern runs over megabytes, then because a mark may be longer than the secret.
    message: cut(redact(cut(entry.message, 2 * maxMessageLength)), maxMessageLength),
    ...(fields === undefined ? {} : { fields: boundedFields(fields, redact) }),
    trace_id: cut(entry.trace_id, maxNameLength),
    span_id: cut(entry.span_id, maxNameLength),
  };
}

function boundedFields(fields: Record<string, unknown>, redact: Redact): Record<string, unknown> {
  let text: string;
  try {
    text = JSON.stringify(fields);
  } catch (error) {
    return { unreadable: messageOf(error) };
  }
  if (text.length > maxFieldsLength) return { cut: cut(redact(cut(text, maxFieldsLength)), maxFieldsLength) };
  // From the text, so that what is stored is what JSON makes of it and nobody else holds it.
  return redactedRecord(JSON.parse(text) as Record<string, unknown>, redact, 0);
}

function redactedRecord(
  record: Record<string, unknown>,
  redact: Redact,
  depth: number,
): Record<string, unknown> {
  const pairs = Object.entries(record).map(([key, value]) => [key, redactedValue(key, value, redact, depth)]);
  return Object.fromEntries(pairs) as Record<string, unknown>;
}

function redactedValue(key: string, value: unknown, redact: Redact, depth: number): unknown {
  if (typeof value === "string") {
    const alone = redact(value);
    if (alone !== value) return alone;
    // A secret may be known by its name only, as in `password: …`.
    const named = `${key}: ${value}`;
    const together = redact(named);
    return together === named ? value : (/\[redacted: [^\]]*\]/.exec(together)?.[0] ?? together);
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth >= maxFieldDepth) return "[too deep]";
  if (Array.isArray(value)) return value.map((one: unknown) => redactedValue(key, one, redact, depth + 1));
  return redactedRecord(value as Record<string, unknown>, redact, depth + 1);
}

function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const note = `… [${text.length} characters, cut]`;
  return text.slice(0, maxLength - note.length).toWellFormed() + note;
}

function mark(name: string): string {
  return `[redacted: ${name}]`;
}
