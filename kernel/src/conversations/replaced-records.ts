import { type Entry, type EntryOf, replacedBy } from "../base/vocabulary/conversation.ts";
import type { ConversationState } from "./fold.ts";
import { indexedEntry, type IndexedRecord } from "./indexed.ts";
import { audienceOf } from "./records.ts";

/** Returns the seqs of the records of a log that a redaction replaced. `base`: the last seq of the log's origin. */
export function redactedSeqs(redaction: EntryOf<"redaction">, base: number): number[] {
  const all = [...replacedBy(redaction).map(({ seq }) => seq), ...(redaction.contexts ?? [])];
  return all.filter((seq) => seq > base);
}

/** Returns what the index has from now on in the place of the records that an entry replaced; none for other entries. */
export function replacedRecords(
  entry: Entry,
  base: number,
  state: Pick<ConversationState, "processes">,
): IndexedRecord[] {
  if (entry.kind !== "redaction") return [];
  const own = replacedBy(entry).filter(({ seq }) => seq > base);
  return [
    // A redaction that was itself redacted names entries too.
    ...own.flatMap((each) => replacedRecords(each, base, state)),
    ...own.map(({ seq, conversation: _conversation, ...placeless }) => ({
      ...indexedEntry(seq, placeless, audienceOf(placeless, state)),
      isReplacing: true as const,
    })),
    ...(entry.contexts ?? [])
      .filter((seq) => seq > base)
      .map((seq) => ({
        seq,
        kind: "prefix" as const,
        id: "",
        process: "",
        audience: "",
        data: '{"prefix":null}',
        text: "",
        isReplacing: true as const,
      })),
  ];
}
