import { type Entry, noteOrigin, type Process } from "../base/vocabulary/conversation.ts";
import type { EntryReader } from "./ports.ts";

type Reader = Pick<Process, "id" | "kind">;

/** True for what a process has to answer: a message, or the end of what it waits for. */
export function beginsTurn(entry: Entry, reader: Reader): boolean {
  return isSpoken(entry, reader) || isFound(entry, reader);
}

/** True for what is answered at once: a message, or a decision of the person. */
export function isSpoken(entry: Entry, { id, kind }: Reader): boolean {
  if (entry.process !== id) return false;
  if (entry.kind === "message") return entry.role === "user" && entry.origin !== "kernel";
  return kind === "channel" && entry.kind === "action" && entry.origin === "person";
}

/** Returns the seq of a process's last request among entries of its context; 0 if there is none. */
export function lastRequestOf(process: string, entries: readonly Entry[]): number {
  return entries.findLast((entry) => entry.kind === "request" && entry.process === process)?.seq ?? 0;
}

const waiting: ReadonlySet<string> = new Set(["PendingApproval", "Approved", "Committing"]);

/** True for what a child found, and, for a channel, for what became of an action by itself. */
function isFound(entry: Entry, { id, kind }: Reader): boolean {
  if (entry.kind === "conclusion") return (kind === "channel" || kind === "branch") && entry.process !== id;
  if (kind !== "channel") return false;
  const isEnd = entry.kind === "action" && !waiting.has(entry.state);
  return isEnd && entry.process === id && entry.origin !== "person" && entry.origin !== noteOrigin;
}

/** The notice for a channel that reads the conclusions of its children only after the person has written again. */
export const exhausted =
  "Work that the conversation started by itself has ended. Send a message to continue.";

/** Entries that a resting channel has not answered, and the number of its turns since a person last caused one. */
interface Unread {
  readonly what: "spoken" | "found" | "nothing";
  readonly turnsAlone: number;
}

/** Returns what a channel has not answered, without its context. */
export async function unreadOf(reader: EntryReader, conversation: string, channel: Process): Promise<Unread> {
  const entries = await reader.entries(conversation, {
    audience: channel.id,
    kinds: ["message", "request", "conclusion", "action", "notice"],
    limit: lookedAt,
    newest: true,
  });
  const lastRequest = entries.findLast(({ kind }) => kind === "request")?.seq ?? 0;
  const unread = entries.filter((entry) => entry.seq > lastRequest && beginsTurn(entry, channel));
  const lastSpoken = entries.findLast((entry) => isSpoken(entry, channel))?.seq ?? 0;
  const turns = entries.flatMap(({ kind, seq, turn }) =>
    kind === "request" && seq > lastSpoken ? [turn] : [],
  );
  const isResting = channel.state === "WaitingForInput";
  const last = entries.at(-1);
  const isTold = last?.kind === "notice" && last.text === exhausted;
  return {
    what:
      !isResting || unread.length === 0 || isTold
        ? "nothing"
        : unread.some((entry) => isSpoken(entry, channel))
          ? "spoken"
          : "found",
    // The first of them answers the person.
    turnsAlone: Math.max(0, new Set(turns).size - 1),
  };
}

/** The last entries of a channel, which are looked at for a message without an answer. */
const lookedAt = 200;

/** States in which a process works, or waits to. */
export const atWork: ReadonlySet<Process["state"]> = new Set(["Waiting", "Running", "WaitingForApproval"]);

/** True for a process that has to continue: it is at work, or paused. A channel that waits for a message has nothing to do. */
export function isOpen({ kind, state }: Process): boolean {
  return atWork.has(state) || (kind !== "channel" && state === "WaitingForInput");
}

/** Returns a process and all that it started; all processes for no id. */
export function treeOf(processes: readonly Process[], id: string | undefined): ReadonlySet<string> {
  if (id === undefined) return new Set(processes.map((process) => process.id));
  const tree = new Set([id]);
  // Parents come before their children.
  for (const { id: child, parent } of processes)
    if (parent !== undefined && tree.has(parent)) tree.add(child);
  return tree;
}
