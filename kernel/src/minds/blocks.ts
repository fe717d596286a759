import type { EntryOf } from "../base/vocabulary/conversation.ts";
import { bulletinBlock, type MindBlock } from "../base/vocabulary/mind.ts";
import type { PrefixBlock } from "../context/prefix.ts";
import type { NewEntry } from "../conversations/records.ts";
import type { ContextTail } from "./context-tail.ts";
import { entryOf, type EntryMaker, type Provenance } from "./entries.ts";
import type { MindPorts } from "./ports.ts";
import { sourcesFor } from "./shared-blocks.ts";

type Kept = Pick<MindPorts["blocks"], "ofMind" | "shared">;

/** Returns the blocks as a context begins with them. One that the mind may not read is empty, and says why. */
export async function blocksNow(
  kept: Kept,
  agent: string,
  blocks: readonly MindBlock[],
): Promise<PrefixBlock[]> {
  const ofMind = await kept.ofMind(agent);
  return await Promise.all(
    blocks.map(async (block) => {
      const { name, description } = block;
      const shared = await kept.shared(agent, block);
      if (shared === null) return { name, description, text: ofMind.get(name) ?? "" };
      if ("refusal" in shared)
        return { name, description: `${description} (absent: ${shared.refusal})`, text: "" };
      return { name, description, text: shared.text, ...named(sourcesFor(agent, shared)) };
    }),
  );
}

/** Returns a block's text as it is now in a conversation. */
export function textOfBlock(
  { entries, prefix }: Pick<ContextTail, "entries" | "prefix">,
  name: string,
): string {
  const changed = entries.findLast((entry): entry is EntryOf<"block"> => isOf(entry, name));
  return changed?.text ?? beginning(prefix, name);
}

/**
 * Returns the last text of a block that a conversation knows to be the one of all, which differs from its own where an
 * edit holds in it only.
 */
export function knownText({ entries, prefix }: ContextTail, name: string): string {
  const told = entries.findLast(
    (entry): entry is EntryOf<"block"> => isOf(entry, name) && entry.tainted !== true,
  );
  const begun = prefix.blocks.find((block) => block.name === name);
  return told?.text ?? begun?.known ?? beginning(prefix, name);
}

/** Returns a block as it stands in a conversation, for the context that begins with a compaction. */
export function movedUp(tail: ContextTail, { name, description }: PrefixBlock): PrefixBlock {
  const text = textOfBlock(tail, name);
  const known = knownText(tail, name);
  const changed = tail.entries.findLast((entry) => isOf(entry, name));
  const { sources = [] } = changed ?? tail.prefix.blocks.find((block) => block.name === name) ?? {};
  return { name, description, text, ...named(sources), ...(known === text ? {} : { known }) };
}

/**
 * Returns entries that tell a process which blocks of its mind, and whether the bulletin, were changed elsewhere. A change
 * that holds in this conversation only is not overwritten by what the mind had before.
 */
export async function changedElsewhere(
  tail: ContextTail,
  kept: Kept,
  agent: string,
  blocks: readonly MindBlock[],
  maker: EntryMaker,
): Promise<NewEntry[]> {
  const ofMind = await kept.ofMind(agent);
  const told: NewEntry[] = [];
  const tell = (name: string, text: string | undefined, provenance: Provenance): void => {
    if (text === undefined || text === textOfBlock(tail, name) || text === knownText(tail, name)) return;
    told.push(entryOf(maker, { kind: "block", name, text }, provenance));
  };
  const own = { origin: "workspace" };
  for (const block of blocks) {
    const shared = await kept.shared(agent, block);
    if (shared === null) {
      if (block.scope === "mind") tell(block.name, ofMind.get(block.name), own);
    } else if ("refusal" in shared) tell(block.name, "", own);
    else {
      const { text, origin } = shared;
      const isOthers = origin.startsWith("agent:") && origin !== `agent:${agent}`;
      const sources = sourcesFor(agent, shared);
      tell(block.name, text, { origin: isOthers ? origin : own.origin, sources });
    }
  }
  tell(bulletinBlock, ofMind.get(bulletinBlock), own);
  return told;
}

const named = (sources: readonly string[]) => (sources.length === 0 ? {} : { sources: [...sources] });

const isOf = (entry: ContextTail["entries"][number], name: string): boolean =>
  entry.kind === "block" && entry.name === name;

function beginning({ blocks, bulletin }: ContextTail["prefix"], name: string): string {
  if (name === bulletinBlock) return bulletin;
  return blocks.find((block) => block.name === name)?.text ?? "";
}
