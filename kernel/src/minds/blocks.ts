import type { EntryOf } from "../base/vocabulary/conversation.ts";
import type { MindBlock } from "../base/vocabulary/mind.ts";
import { bulletinBlock } from "../context/entry-text.ts";
import type { NewEntry } from "../conversations/records.ts";
import type { ContextTail } from "./context-tail.ts";
import { entryOf, type EntryMaker } from "./entries.ts";

/** Returns a block's text as it is now in a conversation. */
export function textOfBlock({ entries, prefix }: ContextTail, name: string): string {
  const changed = entries.findLast((entry): entry is EntryOf<"block"> => isOf(entry, name));
  return changed?.text ?? beginning(prefix, name);
}

/**
 * Returns entries that tell a process which blocks of its mind, and whether the bulletin, were changed elsewhere. A change
 * that holds in this conversation only is not overwritten by what the mind had before.
 */
export function changedElsewhere(
  tail: ContextTail,
  ofMind: ReadonlyMap<string, string>,
  blocks: readonly MindBlock[],
  maker: EntryMaker,
): NewEntry[] {
  const names = [...blocks.filter(({ scope }) => scope === "mind").map(({ name }) => name), bulletinBlock];
  return names.flatMap((name) => {
    const text = ofMind.get(name);
    if (text === undefined || text === textOfBlock(tail, name) || text === lastTold(tail, name)) return [];
    return [entryOf(maker, { kind: "block", name, text }, { origin: "workspace" })];
  });
}

function lastTold({ entries, prefix }: ContextTail, name: string): string {
  const told = entries.findLast(
    (entry): entry is EntryOf<"block"> => isOf(entry, name) && entry.origin === "workspace",
  );
  return told?.text ?? beginning(prefix, name);
}

const isOf = (entry: ContextTail["entries"][number], name: string): boolean =>
  entry.kind === "block" && entry.name === name;

function beginning({ blocks, bulletin }: ContextTail["prefix"], name: string): string {
  if (name === bulletinBlock) return bulletin;
  return blocks.find((block) => block.name === name)?.text ?? "";
}
