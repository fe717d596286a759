import type { EntryOf } from "../base/vocabulary/conversation.ts";
import type { ContextTail } from "./context-tail.ts";

/** Returns a block's text as it is now. */
export function textOfBlock({ entries, prefix }: ContextTail, name: string): string {
  const changed = entries.findLast(
    (entry): entry is EntryOf<"block"> => entry.kind === "block" && entry.name === name,
  );
  return changed?.text ?? prefix.blocks.find((block) => block.name === name)?.text ?? "";
}
