import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import { cut } from "../model/text.ts";
import type { TraceEntry } from "../protocol.ts";

const maxMessageCharacters = 2000;
const maxFieldsCharacters = 1000;

/**
 * A trace entry on one line, control codes shown and not obeyed: a message cannot pass for another entry.
 * With `when`, for what is shown later than it happened.
 */
export function traceLine({ timestamp, hook, message, fields }: TraceEntry, when = false): string {
  return [
    ...(when ? [`(${timestamp})`] : []),
    ...(hook === undefined ? [] : [`[${plainLine(hook)}]`]),
    plainLine(cut(message, maxMessageCharacters)),
    ...(fields === undefined ? [] : [plainLine(cut(JSON.stringify(fields), maxFieldsCharacters))]),
  ].join(" ");
}
