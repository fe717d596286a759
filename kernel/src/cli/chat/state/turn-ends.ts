import type { Process } from "../../../base/vocabulary/conversation.ts";
import { hasThought, isBlank } from "./messages.ts";
import type { Message, Transcript } from "./transcript.ts";

/** Where a turn of the channel failed, was stopped, or came to rest without an answer. */
interface TurnEnd {
  readonly seq: number;
  readonly process: Process;
  /** Messages since the end before that no request had. */
  readonly unread: number;
  /** The message that has no answer in it, at most what was thought; null for a turn that failed or was stopped. */
  readonly silent: string | null;
}

type Mark = { readonly seq: number } & (
  | { readonly kind: "message" | "call" }
  | { readonly kind: "request"; readonly message: string }
  | { readonly kind: "end"; readonly process: Process }
);

/** True for what the kernel says to a worker, or tells a channel about what the person has decided. */
export function isTold({ role, origin }: Pick<Message, "role" | "origin">): boolean {
  return role === "user" && (origin === "kernel" || origin === "decision");
}

/** Returns all turns of the channel that ended without their answer, also those that others followed. */
export function turnEndsOf(transcript: Transcript, channel: string): TurnEnd[] {
  let unread = 0;
  /** The person wrote something that no request had yet, or that one of this turn had. */
  let hasWritten = false;
  let isAsked = false;
  /** The last request, unless calls follow it. */
  let last: (Mark & { readonly kind: "request" }) | null = null;
  return marksOf(transcript, channel).flatMap((mark): TurnEnd[] => {
    switch (mark.kind) {
      case "message":
        unread++;
        hasWritten = true;
        return [];
      case "request":
        unread = 0;
        isAsked ||= hasWritten;
        hasWritten = false;
        last = mark;
        return [];
      case "call":
        last = null;
        return [];
      case "end": {
        const { seq, process } = mark;
        const before = { unread, last, isAsked };
        last = null;
        isAsked = false;
        if (process.state === "WaitingForInput") return silentEnd(transcript, process, before);
        unread = 0;
        hasWritten = false;
        return [{ seq, process, unread: before.unread, silent: null }];
      }
    }
  });
}

/** Returns the end of a turn that came to rest, if its last request has no answer. */
function silentEnd(
  { messages }: Transcript,
  process: Process,
  { last, isAsked }: { last: (Mark & { readonly kind: "request" }) | null; isAsked: boolean },
): TurnEnd[] {
  const message = messages.get(last?.message ?? "");
  if (last === null || message === undefined || !isBlank(message)) return [];
  // A mind that was only told something may well have nothing to say.
  if (!isAsked && !hasThought(message)) return [];
  // What the person wrote before the channel came to rest stands below it, as the next turn reads it.
  const { seq } = message.whole ?? message.logged.first ?? last;
  return [{ seq, process, unread: 0, silent: message.id }];
}

/** Returns what tells the turns of the channel apart, in the order of the log. */
function marksOf({ ends, messages, requests, calls }: Transcript, channel: string): Mark[] {
  const marks: Mark[] = [];
  for (const [seq, process] of ends) if (process.id === channel) marks.push({ kind: "end", seq, process });
  for (const [seq, { process, message }] of requests)
    if (process === channel) marks.push({ kind: "request", seq, message });
  for (const { process, asked } of calls.values())
    if (process === channel && asked !== null) marks.push({ kind: "call", seq: asked.seq });
  for (const message of messages.values())
    if (message.role === "user" && message.process === channel && message.whole !== null && !isTold(message))
      marks.push({ kind: "message", seq: message.whole.seq });
  return marks.toSorted((a, b) => a.seq - b.seq);
}

/**
 * Returns for each process the last seq behind which it may still write: what it had begun to write before is over, because
 * it failed, was stopped, rests, or has asked again.
 */
export function overUntil({
  ends,
  requests,
  processes,
}: Pick<Transcript, "ends" | "requests" | "processes">): ReadonlyMap<string, number> {
  const until = new Map<string, number>();
  const raise = (process: string, seq: number): void =>
    void until.set(process, Math.max(seq, until.get(process) ?? 0));
  for (const [seq, { id }] of ends) raise(id, seq);
  for (const [seq, { process }] of requests) raise(process, seq);
  for (const [id, { last, value }] of processes) if (value.state === "Done") raise(id, last);
  return until;
}
