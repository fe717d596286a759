import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import { cut } from "../webviews/shared/label.ts";
import type { TraceEntry } from "../protocol.ts";

const maxMessageCharacters = 2000;
const maxFieldsCharacters = 1000;

/**
 * Formats a trace entry on one line; control codes are visible and have no effect, so a message cannot pass for another
 * entry. `when` adds the time, for entries that are shown later than they happened.
 */
export function traceLine({ timestamp, hook, message, fields }: TraceEntry, when = false): string {
  return [
    ...(when ? [`(${timestamp})`] : []),
    ...(hook === undefined ? [] : [`[${plainLine(hook)}]`]),
    plainLine(cut(message, maxMessageCharacters)),
    ...(fields === undefined ? [] : [plainLine(cut(JSON.stringify(fields), maxFieldsCharacters))]),
  ].join(" ");
}
