import type { Clock } from "../base/clock.ts";
import type { Entry, EntryOf, Part } from "../base/vocabulary/conversation.ts";
import type { Change } from "../base/vocabulary/interception.ts";
import type { NewEntry } from "../conversations/records.ts";
import { changedEntry } from "./entries.ts";

/** A message of the person about which extensions are asked. */
export type InterceptedMessage = Pick<EntryOf<"message">, "id" | "process" | "turn" | "parts">;

/** Returns what the person wrote, without the files that go with it. */
export function textIn(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Returns the entries of what interceptors made of a message: its texts become one, and its files stay. */
export function changedMessages(
  { id, process, turn, parts }: InterceptedMessage,
  changes: readonly Change<string>[],
  { clock }: { readonly clock: Clock },
): NewEntry[] {
  const rest = parts.filter(({ type }) => type !== "text");
  return changes.flatMap((change) => {
    // A message without a word is none.
    if (change.value.trim() === "" && rest.length === 0) return [];
    const text: Part[] = change.value.trim() === "" ? [] : [{ type: "text", text: change.value }];
    return changedEntry(
      { process, turn, clock },
      { kind: "message", role: "user", parts: [...text, ...rest] },
      change,
      { id },
    );
  });
}

/** Returns the person's messages behind the last request that no interceptor has changed. */
export function unreadMessages(entries: readonly Entry[]): readonly InterceptedMessage[] {
  const unread = entries.slice(entries.findLastIndex(({ kind }) => kind === "request") + 1);
  const changed = new Set(unread.flatMap(({ id, by }) => (by === undefined ? [] : [id])));
  return unread.filter(
    (entry): entry is EntryOf<"message"> =>
      entry.kind === "message" &&
      entry.role === "user" &&
      entry.origin === "person" &&
      !changed.has(entry.id),
  );
}
