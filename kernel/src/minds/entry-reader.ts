import type { Conversations } from "../conversations/conversations.ts";
import type { EntryReader } from "./ports.ts";

/** Returns what processes read of conversations. */
export function readerOf(conversations: Conversations): EntryReader {
  return {
    entries: (id, query) => conversations.entries(id, query),
    entry: (id, entry) => conversations.entry(id, entry),
    prefix: (id, process) => conversations.prefix(id, process),
    picture: (id, hash) => conversations.picture(id, hash),
    answering: (ids, question) => conversations.answering(ids, question),
    stretchesOf: (id) => conversations.stretchesOf(id),
    agentOf: async (id) => (await conversations.find(id))?.agent ?? null,
  };
}
