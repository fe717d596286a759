import type { Entry } from "../../../kernel/src/base/vocabulary/conversation.ts";
import { ConversationFold, type ConversationState } from "../../../kernel/src/conversations/fold.ts";

/** A conversation, and what the person knows of it. */
export interface Talked {
  readonly id: string;
  readonly model: string;
  /** Acknowledged messages by their key, with the entry that each became. */
  readonly sent: Map<string, string>;
  /** The entries that a follower received, in their order. */
  readonly followed: Entry[];
  /** Processes that a person has stopped, which is acknowledged. */
  readonly stopped: Set<string>;
  /** Entries that were compared with the followed ones. */
  compared: number;
  /** A fork's, which begins behind an entry of its origin. */
  readonly fork?: { readonly at: number; readonly start: ConversationState };
}

/** Returns the entries that are not those of an origin. */
export const ownOf = ({ fork }: Talked, entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ seq }) => seq > (fork?.at ?? 0));

/** Returns the fold of a conversation's entries. */
export function foldOf(talked: Talked, entries: readonly Entry[]): Readonly<ConversationState> {
  const fold = ConversationFold.begin("", talked.fork?.start);
  for (const entry of ownOf(talked, entries)) fold.take(entry);
  return fold.state;
}

export const newTalked = (id: string, model: string): Talked => ({
  id,
  model,
  sent: new Map(),
  followed: [],
  stopped: new Set(),
  compared: 0,
});
