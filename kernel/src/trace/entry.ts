import { isoTime } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Actor } from "../base/vocabulary/principal.ts";
import type { TraceEntry } from "../base/vocabulary/trace.ts";
import { cut, cutMargin, maxNameLength, type Redact, redactedText } from "./redacted-text.ts";
import { shortenedValues } from "./values.ts";

/** The argument of `write`. Without a timestamp, the current time is used. */
export type NewTraceEntry = Omit<TraceEntry, "timestamp"> & {
  readonly timestamp?: string;
  /** Added to the fields. Each is shortened by itself, so that a large one does not displace the others. */
  readonly values?: Readonly<Record<string, unknown>>;
};

/** Characters of a message. */
export const maxMessageLength = 8 * 1024;
/** Characters of an entry's fields as JSON. */
export const maxFieldsLength = 16 * 1024;
/** Values that are nested deeper in fields are not looked into. */
const maxFieldDepth = 8;

/** Returns the entry as stored: bounded, without secrets, with its time. */
export function storedEntry(entry: NewTraceEntry, epochMs: number, redact: Redact): TraceEntry {
  const { hook, step, on_behalf_of: onBehalfOf } = entry;
  const fields = fieldsOf(entry, redact);
  return {
    timestamp: entry.timestamp ?? isoTime(epochMs),
    level: entry.level,
    agent: cut(entry.agent, maxNameLength),
    ...(hook === undefined ? {} : { hook: cut(hook, maxNameLength) }),
    ...(step === undefined ? {} : { step }),
    message: redactedAndCut(entry.message, maxMessageLength, redact),
    ...(fields === undefined ? {} : { fields }),
    ...(onBehalfOf === undefined ? {} : { on_behalf_of: onBehalfOf.map(boundedActor) }),
    trace_id: cut(entry.trace_id, maxNameLength),
    span_id: cut(entry.span_id, maxNameLength),
  };
}

function fieldsOf({ fields, values }: NewTraceEntry, redact: Redact): Record<string, unknown> | undefined {
  const bounded = fields === undefined ? undefined : boundedFields(fields, redact);
  return values === undefined ? bounded : { ...bounded, ...shortenedValues(values, redact) };
}

function boundedActor(actor: Actor): Actor {
  const names = Object.entries(actor).map(([field, name]: [string, string]) => [
    field,
    cut(name, maxNameLength),
  ]);
  return Object.fromEntries(names) as Actor;
}

function boundedFields(fields: Record<string, unknown>, redact: Redact): Record<string, unknown> {
  let text: string;
  try {
    text = JSON.stringify(fields);
  } catch (error) {
    return { unreadable: messageOf(error) };
  }
  if (text.length > maxFieldsLength) return { cut: redactedAndCut(text, maxFieldsLength, redact) };
  // Parsed from the text, so that the stored value is plain JSON that nothing else refers to.
  return redactedRecord(JSON.parse(text) as Record<string, unknown>, redact, 0);
}

function redactedRecord(
  record: Record<string, unknown>,
  redact: Redact,
  depth: number,
): Record<string, unknown> {
  const pairs = Object.entries(record).map(([key, value]) => [
    redact(key),
    redactedValue(key, value, redact, depth),
  ]);
  return Object.fromEntries(pairs) as Record<string, unknown>;
}

function redactedValue(key: string, value: unknown, redact: Redact, depth: number): unknown {
  if (typeof value === "string") return redactedText(key, value, redact);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= maxFieldDepth) return "[too deep]";
  if (Array.isArray(value)) return value.map((one: unknown) => redactedValue(key, one, redact, depth + 1));
  return redactedRecord(value as Record<string, unknown>, redact, depth + 1);
}

/** Text far beyond the cut is dropped first, so that no pattern runs over megabytes. */
function redactedAndCut(text: string, maxLength: number, redact: Redact): string {
  const readLength = 2 * maxLength;
  if (text.length <= readLength) return cut(redact(text), maxLength);
  const redacted = redact(text.slice(0, readLength));
  return cut(redacted.slice(0, -cutMargin), maxLength, text.length);
}
