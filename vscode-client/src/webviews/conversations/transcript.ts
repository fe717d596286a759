import type { ShownDelta, ShownEntry, ShownEntryOf } from "./entries.ts";

/** A piece of a message that has streamed and is in no entry yet. */
export interface Streamed {
  readonly type: "text" | "reasoning";
  readonly text: string;
}

/** The parts of a message that stream. */
interface Stream {
  readonly process: string;
  readonly pieces: Streamed[];
  /** A tool call's arguments are being written. */
  isCalling: boolean;
}

/** Entries that a page keeps; of more, the oldest are dropped and can be loaded again. */
export const maxKept = 4_000;
const keptAfterDrop = 3_000;

/**
 * The entries of a conversation that a page has, and what streams. The same entries give the same transcript, whatever
 * deltas came between them: a message's deltas are replaced by its entries, and removed by its `void`.
 */
export class Transcript {
  /** In the order of their seqs, each once. */
  #entries: ShownEntry[] = [];
  /** Messages that are whole or void: deltas that come late are dropped. */
  readonly #settled = new Set<string>();
  readonly #voided = new Set<string>();
  readonly #streams = new Map<string, Stream>();
  hasEarlier = false;

  get entries(): readonly ShownEntry[] {
    return this.#entries;
  }

  /** The messages that stream, in the order in which they began. */
  get streams(): ReadonlyMap<
    string,
    { readonly process: string; readonly pieces: readonly Streamed[]; readonly isCalling: boolean }
  > {
    return this.#streams;
  }

  isVoid(message: string): boolean {
    return this.#voided.has(message);
  }

  get firstSeq(): number | undefined {
    return this.#entries[0]?.seq;
  }

  /** Takes new entries, in any order; those that are known already are ignored. */
  take(entries: readonly ShownEntry[]): void {
    for (const entry of entries) if (this.#insert(entry)) this.#settle(entry);
    if (this.#entries.length > maxKept) {
      this.#entries = this.#entries.slice(-keptAfterDrop);
      this.hasEarlier = true;
    }
  }

  /** Takes entries from before the first. */
  takeEarlier(entries: readonly ShownEntry[], hasEarlier: boolean): void {
    for (const entry of entries) if (this.#insert(entry)) this.#settle(entry);
    this.hasEarlier = hasEarlier;
  }

  delta({ process, message, type, text }: ShownDelta): void {
    if (this.#settled.has(message)) return;
    let stream = this.#streams.get(message);
    if (stream === undefined) {
      stream = { process, pieces: [], isCalling: false };
      this.#streams.set(message, stream);
    }
    stream.isCalling = type === "tool_call";
    if (type === "tool_call") return;
    const last = stream.pieces.at(-1);
    if (last?.type === type) stream.pieces[stream.pieces.length - 1] = { type, text: last.text + text };
    else stream.pieces.push({ type, text });
  }

  /** Returns false if it is known. */
  #insert(entry: ShownEntry): boolean {
    const entries = this.#entries;
    const last = entries.at(-1);
    if ((last === undefined || last.seq < entry.seq) && entry.isRedacted !== true) {
      entries.push(entry);
      return true;
    }
    let [low, high] = [0, entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((entries[middle]?.seq ?? 0) < entry.seq) low = middle + 1;
      else high = middle;
    }
    if (entry.isRedacted === true) {
      // Entries that the page does not have yet arrive without the texts.
      if (entries[low]?.seq === entry.seq) entries[low] = entry;
      return entries[low] === entry;
    }
    if (entries[low]?.seq === entry.seq) return false;
    entries.splice(low, 0, entry);
    return true;
  }

  #settle(entry: ShownEntry): void {
    if (entry.kind === "void") {
      this.#settled.add(entry.message);
      this.#voided.add(entry.message);
      this.#streams.delete(entry.message);
    } else if (entry.kind === "message") {
      if (entry.partial === true) return this.#consume(entry);
      this.#settled.add(entry.id);
      this.#streams.delete(entry.id);
    } else if (entry.kind === "process" && !isAtWork(entry.value.state)) {
      // Streamed text is in the log before a process stops.
      for (const [message, { process }] of this.#streams)
        if (process === entry.value.id) this.#streams.delete(message);
    }
  }

  /** Removes what a partial entry has from what streams: everything up to it, which may be less than it. */
  #consume({ id, parts, isCut }: ShownEntryOf<"message">): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    for (const part of parts) {
      if (part.type !== "text" && part.type !== "reasoning") continue;
      const first = stream.pieces[0];
      if (first?.type !== part.type) continue;
      // Where its end is missing, nobody knows what of the stream it has: what came before it is not shown behind it.
      const left = isCut === true ? "" : first.text.slice(overlapOf(part.text, first.text));
      if (left === "") stream.pieces.shift();
      else stream.pieces[0] = { type: first.type, text: left };
    }
  }
}

/** The longest overlap that is looked for; more than what streams between two partial entries. */
const maxOverlap = 4_096;

/** Returns how many characters at the start of `streamed` stand at the end of `logged`. */
function overlapOf(logged: string, streamed: string): number {
  if (streamed.startsWith(logged)) return logged.length;
  // This page began to listen in the middle of the message.
  for (let size = Math.min(logged.length, streamed.length, maxOverlap); size > 0; size--)
    if (logged.endsWith(streamed.slice(0, size))) return size;
  return 0;
}

function isAtWork(state: ShownEntryOf<"process">["value"]["state"]): boolean {
  return state === "Running" || state === "Waiting";
}
