import type { Entry } from "../../base/vocabulary/conversation.ts";
import type { KernelClient } from "../kernel-client.ts";
import { isWholeId, oneNamed } from "../one-named.ts";

/** Entries that are asked for at once. */
const pageEntries = 1000;

/** Returns the id of the entry that a person named by a part of its id or the beginning of its text. UsageError otherwise. */
export async function entryNamed(
  kernel: Pick<KernelClient, "conversationEntries">,
  conversation: string,
  given: string,
): Promise<string> {
  if (isWholeId(given)) return given;
  // An answer that arrived in pieces has several entries with the same id.
  const found = new Map<string, Entry>();
  for (let after = 0; ;) {
    const { items } = await kernel.conversationEntries({ id: conversation, after, limit: pageEntries });
    for (const entry of items) found.set(entry.id, entry);
    const last = items.at(-1);
    if (last === undefined || items.length < pageEntries) break;
    after = last.seq;
  }
  return oneNamed([...found.values()], given, {
    noun: "entry of this conversation",
    nouns: "entries",
    listing: "lares conversations why <id> --json",
    titled: "text",
    id: ({ id }) => id,
    title: textOf,
  }).id;
}

function textOf(entry: Entry): string {
  if (entry.kind !== "message") return entry.kind;
  return entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}
