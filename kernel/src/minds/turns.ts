import type { Entry, Process } from "../base/vocabulary/conversation.ts";

/** True for what a process has to answer: a message, or, for a channel, the end of what it waits for. */
export function beginsTurn(entry: Entry, { id, kind }: Pick<Process, "id" | "kind">): boolean {
  if (entry.kind === "message")
    return entry.role === "user" && entry.process === id && entry.origin !== "kernel";
  if (kind !== "channel") return false;
  if (entry.kind === "conclusion") return entry.process !== id;
  return entry.kind === "action" && entry.process === id && entry.state !== "PendingApproval";
}
