import type { Process } from "../../../base/vocabulary/conversation.ts";

/** The part of a message that tells turns apart. */
interface Said {
  readonly process: string;
  readonly role: "user" | "assistant";
  readonly origin: string;
  readonly whole: { readonly seq: number } | null;
}

/** The part of a transcript that tells turns apart, by seqs and ids as there. */
interface Turns {
  readonly messages: ReadonlyMap<string, Said>;
  readonly processes: ReadonlyMap<string, { readonly last: number; readonly value: Process }>;
  readonly requests: ReadonlyMap<number, string>;
  readonly ends: ReadonlyMap<number, Process>;
}

/** Where a turn of the channel failed or was stopped. */
interface TurnEnd {
  readonly seq: number;
  readonly process: Process;
  /** Messages since the end before that no request had. */
  readonly unread: number;
}

/** True for what the kernel says to a worker, or tells a channel about what the person has decided. */
export function isTold({ role, origin }: Pick<Said, "role" | "origin">): boolean {
  return role === "user" && (origin === "kernel" || origin === "decision");
}

/** Returns all turns of the channel that ended without their answer, also those that others followed. */
export function turnEndsOf(
  { ends, messages, requests }: Omit<Turns, "processes">,
  channel: string,
): TurnEnd[] {
  const own = [...ends].filter(([, { id }]) => id === channel);
  if (own.length === 0) return [];
  const marks: { readonly seq: number; readonly what: "message" | "request" | Process }[] = [
    ...own.map(([seq, what]) => ({ seq, what })),
    ...[...requests].flatMap(([seq, id]) => (id === channel ? { seq, what: "request" as const } : [])),
    ...[...messages.values()].flatMap((message) =>
      message.role === "user" && message.process === channel && message.whole !== null && !isTold(message)
        ? { seq: message.whole.seq, what: "message" as const }
        : [],
    ),
  ];
  let unread = 0;
  return marks
    .toSorted((a, b) => a.seq - b.seq)
    .flatMap(({ seq, what }) => {
      const count = unread;
      unread = what === "message" ? unread + 1 : 0;
      return typeof what === "string" ? [] : [{ seq, process: what, unread: count }];
    });
}

/**
 * Returns for each process the last seq behind which it may still write: what it had begun to write before is over, because
 * it failed, was stopped, rests, or has asked again.
 */
export function overUntil({
  ends,
  requests,
  processes,
}: Omit<Turns, "messages">): ReadonlyMap<string, number> {
  const until = new Map<string, number>();
  const raise = (process: string, seq: number): void =>
    void until.set(process, Math.max(seq, until.get(process) ?? 0));
  for (const [seq, { id }] of ends) raise(id, seq);
  for (const [seq, process] of requests) raise(process, seq);
  for (const [id, { last, value }] of processes)
    if (value.state === "WaitingForInput" || value.state === "Done") raise(id, last);
  return until;
}
