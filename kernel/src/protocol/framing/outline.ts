import { endOfJsonString } from "../../base/json-depth.ts";
import { isMessageId, type MessageId } from "../messages.ts";

/** What a message is, as far as its own members say. */
interface MessageOutline {
  readonly id: MessageId | null;
  readonly hasMethod: boolean;
}

/** Longest id or name of a member that is read, in bytes; nobody counts requests beyond it. */
const maxReadBytes = 128;

const latin1 = new TextDecoder("latin1");

/**
 * Reads a message's outline without building its values: whom to answer where a body must not be parsed. What
 * is no JSON has any outline.
 */
export function outlineOf(json: Uint8Array): MessageOutline {
  let id: MessageId | null = null;
  let hasMethod = false;
  let depth = 0;
  /** The member whose value is read, once its colon was. */
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
      // A number ends nowhere but at the next member.
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
