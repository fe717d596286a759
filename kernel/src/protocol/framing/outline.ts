import { endOfJsonString } from "../../base/json-depth.ts";
import { isMessageId, type MessageId } from "../messages.ts";

/** The kind of a message, from its own members. */
interface MessageOutline {
  readonly id: MessageId | null;
  readonly hasMethod: boolean;
}

/** Maximum length of an id or member name that is read, in bytes. */
const maxReadBytes = 128;

const latin1 = new TextDecoder("latin1");

/**
 * Reads a message's outline without parsing its values, to find the requester if a body must not be parsed. For
 * invalid JSON the result is arbitrary.
 */
export function outlineOf(json: Uint8Array): MessageOutline {
  let id: MessageId | null = null;
  let hasMethod = false;
  let depth = 0;
  /** The member whose value is being read, after its colon. */
  let member: string | null = null;
  let isName = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === 0x22) {
      const end = endOfJsonString(json, at);
      if (end === -1) break;
      if (depth === 1 && isName) member = textAt(json, at, end + 1);
      else if (depth === 1 && member === '"id"') id = idIn(textAt(json, at, end + 1));
      at = end;
    } else if (byte === 0x7b || byte === 0x5b) isName = ++depth === 1;
    else if (byte === 0x7d || byte === 0x5d) depth--;
    else if (depth !== 1) continue;
    else if (byte === 0x2c) isName = true;
    else if (byte === 0x3a) {
      isName = false;
      hasMethod ||= member === '"method"';
      // A number ends only at the next member.
      if (member === '"id"') id = idIn(/^\s*(-?\d+)\s*[,}]/.exec(textAt(json, at + 1, json.length))?.[1]);
    }
  }
  return { id, hasMethod };
}

function textAt(json: Uint8Array, start: number, end: number): string {
  return latin1.decode(json.subarray(start, Math.min(end, start + maxReadBytes)));
}

function idIn(text: string | undefined): MessageId | null {
  if (text === undefined) return null;
  try {
    const id: unknown = JSON.parse(text);
    return isMessageId(id) ? id : null;
  } catch {
    return null;
  }
}
