import type { Entry } from "../base/vocabulary/conversation.ts";

/**
 * Whether somebody who looks for the conversation they used last would count it: what was said, what waits or was decided,
 * and what a person set. What processes note of themselves does not count; they do so whenever a kernel starts.
 */
export function isNews(entry: Entry): boolean {
  if (entry.kind === "meta")
    return entry.title !== undefined || entry.model !== undefined || entry.state !== undefined;
  return kindsOfNews.has(entry.kind);
}

const kindsOfNews: ReadonlySet<Entry["kind"]> = new Set([
  "message",
  "conclusion",
  "summary",
  "notice",
  "action",
  "ask",
  "block",
  "pin",
] as const);

const ownOrigins: ReadonlySet<string> = new Set(["person", "model", "kernel", "schedule", "decision"]);
const textKinds: ReadonlySet<Entry["kind"]> = new Set([
  "message",
  "tool_result",
  "conclusion",
  "summary",
  "block",
]);

/** True for text that neither a person nor a model wrote; what is made from it in the conversation is not told apart. */
export function isForeign({ kind, origin, by }: Entry): boolean {
  if (by !== undefined) return true;
  // Only a command's prompt has this origin: text of the mind's own extension, which a person accepted with it.
  if (kind === "message" && origin.startsWith("agent:")) return false;
  return textKinds.has(kind) && !ownOrigins.has(origin);
}
