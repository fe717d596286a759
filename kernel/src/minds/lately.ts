import { messageOf } from "../base/errors.ts";
import type { PrefixMemory } from "../context/prefix.ts";
import type { MindPorts } from "./ports.ts";

/** About four characters are a token. */
const charactersPerToken = 4;

/**
 * Returns what a mind has remembered since its bulletin was written, the newest first, in at most as many tokens as the
 * bulletin may have. So the next conversation knows it, whether or not the cortex has run in between.
 */
export async function rememberedLately(
  { blocks, memory, log }: Pick<MindPorts, "blocks" | "memory" | "log">,
  agent: string,
  tokens: number,
): Promise<PrefixMemory[]> {
  const { from, written } = await blocks.bulletinTime(agent);
  try {
    const found: PrefixMemory[] = [];
    let left = tokens * charactersPerToken;
    for (const { id, type, text, conversation, created = "" } of await memory.since(agent, from)) {
      // Saved by the run that wrote the bulletin, which therefore covers it.
      if (conversation === agent && created <= written) continue;
      const size = type.length + text.length;
      if (size > left) continue;
      left -= size;
      found.push({ id, type, text });
    }
    return found;
  } catch (error) {
    // A damaged memory is reported where it is opened. The person can still talk, and the model can still ask for it.
    log.warn(`What was remembered lately could not be read: ${messageOf(error)}`, { agent });
    return [];
  }
}
