import type { Entry, Process } from "../base/vocabulary/conversation.ts";
import type { EntryReader } from "./ports.ts";

type Reader = Pick<Process, "id" | "kind">;

/** True for what a process has to answer: a message, or, for a channel, the end of what it waits for. */
export function beginsTurn(entry: Entry, reader: Reader): boolean {
  return isSpoken(entry, reader) || isFound(entry, reader);
}

/** True for what is answered at once: a message, or a decision of the person. */
export function isSpoken(entry: Entry, { id, kind }: Reader): boolean {
  if (entry.process !== id) return false;
  if (entry.kind === "message") return entry.role === "user" && entry.origin !== "kernel";
  return kind === "channel" && entry.kind === "action" && entry.state !== "PendingApproval";
}

/** True for what a child of a channel found. */
function isFound(entry: Entry, { id, kind }: Reader): boolean {
  return kind === "channel" && entry.kind === "conclusion" && entry.process !== id;
}

/** Returns whether a channel that rests has something to answer, without its context. */
export async function hasUnread(
  reader: EntryReader,
  conversation: string,
  channel: Process,
): Promise<boolean> {
  if (channel.state !== "WaitingForInput") return false;
  const entries = await reader.entries(conversation, {
    audience: channel.id,
    kinds: ["message", "request", "conclusion", "action"],
    limit: lookedAt,
    newest: true,
  });
  const lastRequest = entries.findLast(({ kind }) => kind === "request")?.seq ?? 0;
  return entries.some((entry) => entry.seq > lastRequest && beginsTurn(entry, channel));
}

/** The last entries of a channel, which are looked at for a message without an answer. */
const lookedAt = 50;

/** Returns a process and all that it started. */
export function treeOf(processes: readonly Process[], id: string): Set<string> {
  const tree = new Set([id]);
  // Parents come before their children.
  for (const { id: child, parent } of processes)
    if (parent !== undefined && tree.has(parent)) tree.add(child);
  return tree;
}
