import type { Entry, EntryOf } from "../base/vocabulary/conversation.ts";
import type { Conversations } from "./conversations.ts";
import type { EntryQuery } from "./indexed.ts";

const pageSize = 500;

/** Yields all entries of a conversation that match, in their order, however many there are. */
export async function* everyEntry(
  conversations: Pick<Conversations, "entries">,
  id: string,
  query: Pick<EntryQuery, "kinds"> = {},
): AsyncGenerator<Entry> {
  for (let after = 0; ;) {
    const page = await conversations.entries(id, { ...query, after, limit: pageSize });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.seq;
  }
}

/** Returns the newest edit of each block, however long ago it was. */
export async function newestBlocks(
  conversations: Pick<Conversations, "entries" | "find">,
  id: string,
): Promise<EntryOf<"block">[]> {
  const row = await conversations.find(id);
  const found: EntryOf<"block">[] = [];
  for (const { seq } of row?.state.blocks ?? []) {
    const [entry] = await conversations.entries(id, { after: seq - 1, through: seq, limit: 1 });
    if (entry?.kind === "block") found.push(entry);
  }
  return found;
}
