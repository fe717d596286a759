import type { Entry, EntryOf } from "../base/vocabulary/conversation.ts";
import { redactedMark } from "../base/without-texts.ts";

/** An entry and its replacement. */
export interface Change {
  readonly entry: Entry;
  readonly now: Entry;
}

type Message = EntryOf<"message">;

/**
 * Collects the pieces of streamed answers and searches them joined. They stay in a log beside the whole answer and are cut
 * anywhere, so a text can span several of them.
 */
export class Pieces {
  /** By message id; only messages whose whole answer has not been read yet. */
  readonly #open = new Map<string, Message[]>();

  /** Collects a piece and returns true; returns false for any other entry. */
  take(entry: Entry): boolean {
    if (entry.kind !== "message" || entry.partial !== true) return false;
    const before = this.#open.get(entry.id);
    if (before === undefined) this.#open.set(entry.id, [entry]);
    else before.push(entry);
    return true;
  }

  /** Returns the changes of the pieces of a whole answer. `hasText`: the answer had the text, so its pieces may have a part. */
  endedBy(entry: Entry, hasText: boolean, without: (joined: Entry) => Entry | null): Change[] {
    if (entry.kind !== "message") return [];
    const pieces = this.#open.get(entry.id);
    this.#open.delete(entry.id);
    if (pieces === undefined) return [];
    const changed = changesOf(pieces, without);
    if (changed.length > 0 || !hasText) return changed;
    return inPlaceOf(pieces, [{ type: "text", text: redactedMark }]);
  }

  /** Returns the changes of the pieces of answers that were never completed. */
  left(without: (joined: Entry) => Entry | null): Change[] {
    return [...this.#open.values()].flatMap((pieces) => changesOf(pieces, without));
  }
}

function changesOf(pieces: readonly Message[], without: (joined: Entry) => Entry | null): Change[] {
  const [first] = pieces;
  if (first === undefined) return [];
  const parts: Message["parts"] = [];
  for (const part of pieces.flatMap((piece) => piece.parts)) {
    const last = parts.at(-1);
    if (last !== undefined && isSaid(last) && isSaid(part) && last.type === part.type)
      parts[parts.length - 1] = { ...last, text: last.text + part.text };
    else parts.push(part);
  }
  const now = without({ ...first, parts });
  return now?.kind === "message" ? inPlaceOf(pieces, now.parts) : [];
}

/** Puts all parts into the first piece and empties the others. */
function inPlaceOf(pieces: readonly Message[], parts: Message["parts"]): Change[] {
  return pieces.map((entry, at) => ({ entry, now: { ...entry, parts: at === 0 ? parts : [] } }));
}

type Said = Extract<Message["parts"][number], { type: "text" | "reasoning" }>;
const isSaid = (part: Message["parts"][number]): part is Said =>
  part.type === "text" || part.type === "reasoning";
