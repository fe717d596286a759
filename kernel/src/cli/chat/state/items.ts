import type { Process } from "../../../base/vocabulary/conversation.ts";
import { channelOf, type Call, type Message, type Remark, type Transcript } from "./transcript.ts";
import { isTold, overUntil, turnEndsOf } from "./turn-ends.ts";

/** "unfinished": it was cut off; "none": all that the model thought came, and no answer. */
export type Ending = "more" | "unfinished" | "none";

export type Item =
  | {
      readonly kind: "message";
      readonly key: string;
      readonly seq: number;
      readonly message: Message;
      /** What follows what came so far of it. */
      readonly ending: Ending;
    }
  | { readonly kind: "call"; readonly key: string; readonly seq: number; readonly call: Call }
  | {
      readonly kind: "action";
      readonly key: string;
      readonly seq: number;
      readonly action: string;
      readonly state: string;
      readonly process: string;
    }
  | { readonly kind: "process"; readonly key: string; readonly seq: number; readonly process: Process }
  /** A turn of the channel that failed, was stopped, or ended without an answer. */
  | {
      readonly kind: "end";
      readonly key: string;
      readonly seq: number;
      readonly process: Process;
      /** Messages before it that the model has not got. */
      readonly unread: number;
    }
  | { readonly kind: "remark"; readonly key: string; readonly seq: number; readonly remark: Remark };

/**
 * Returns what is shown of a process, in the order of the log; null: of the channel, with one item for each other
 * process, and the actions of all of them.
 */
export function itemsOf(transcript: Transcript, process: string | null = null): Item[] {
  const own = process ?? channelOf(transcript)?.id;
  const isOwn = (id: string): boolean => own === undefined || id === own;
  const items: Item[] = [];
  const over = overUntil(transcript);
  const turnEnds = process === null ? turnEndsOf(transcript, own ?? "") : [];
  const silent = new Set(turnEnds.map((end) => end.silent));
  for (const message of transcript.messages.values()) {
    const hasText = message.whole !== null || message.logged.length > 0 || message.streamed.length > 0;
    // The kernel takes an answer without words back, but the person has read what was thought.
    if (!isOwn(message.process) || (message.isVoid && !silent.has(message.id)) || !hasText) continue;
    if (isTold(message)) continue;
    const { seq } = message.whole ?? message.logged.first ?? { seq: Infinity };
    const isCutOff = (message.logged.last?.seq ?? Infinity) < (over.get(message.process) ?? 0);
    const ending = silent.has(message.id) ? "none" : isCutOff ? "unfinished" : "more";
    items.push({ kind: "message", key: message.id, seq, message, ending });
  }
  for (const call of transcript.calls.values())
    if (isOwn(call.process) && call.asked !== null)
      items.push({ kind: "call", key: call.call, seq: call.asked.seq, call });
  for (const [action, { first, value }] of transcript.actions)
    if (process === null || isOwn(value.process))
      items.push({ kind: "action", key: action, seq: first, action, ...value });
  if (process === null) {
    for (const { first, value } of transcript.processes.values())
      if (value.kind !== "channel")
        items.push({ kind: "process", key: value.id, seq: first, process: value });
    // Why there is no answer.
    for (const { seq, process: ended, unread } of turnEnds)
      items.push({ kind: "end", key: `end ${seq}`, seq, process: ended, unread });
  }
  for (const [seq, remark] of transcript.remarks)
    // The conclusion of a process is shown with it.
    if (remark.kind !== "conclusion" && isOwn(remark.process))
      items.push({ kind: "remark", key: remark.id, seq, remark });
  return items.toSorted((a, b) => (a.seq === b.seq ? 0 : a.seq - b.seq));
}

/** Returns what a branch or worker found; null if it has not ended that way. */
export function conclusionOf({ remarks }: Transcript, process: string): string | null {
  for (const remark of remarks.values())
    if (remark.kind === "conclusion" && remark.process === process) return remark.text;
  return null;
}
