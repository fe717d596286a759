import { setTimeout as pause } from "node:timers/promises";
import { endedStates, type Process } from "../../base/vocabulary/conversation.ts";
import type { KernelClient } from "../kernel-client.ts";
import { oneLine } from "../render/foreign.ts";
import type { Asking } from "./asking.ts";

/** A compaction begins once a model is chosen and extensions were asked; without one after this time, none comes. */
const beginsWithinMs = 60_000;
/** How long the context may take to begin again after the summary was written. */
const takenUpWithinMs = 2_000;
const checkMs = 50;
const summarised = "Earlier turns were summarised.";

/**
 * Has the earlier turns of a conversation summarised, and resolves with a sentence once the context begins with the summary.
 * Rejects if it failed or was stopped.
 */
export async function compactAndWait(asking: Asking): Promise<string> {
  const { kernel, conversation, transcript } = asking;
  const { id } = conversation;
  const before = await summariesOf(kernel, id);
  await kernel.compactConversation(id);
  // A summary that an earlier kernel had written is taken up at once, and no compaction runs.
  if ((await summariesOf(kernel, id)) !== before) return summarised;
  const askedAtMs = Date.now();
  const mine = (): Process | undefined => compactionSince(asking, transcript.lastSeq);
  await asking.until(() => {
    const process = mine();
    if (process === undefined) return Date.now() - askedAtMs > beginsWithinMs;
    return endedStates.has(process.state);
  });
  const process = mine();
  if (process === undefined) throw new Error("The summary has not begun yet. /workers shows when it does.");
  const { state, error } = process;
  if (state === "Failed")
    throw new Error(`Earlier turns were not summarised. ${oneLine(error?.message ?? "")}`.trimEnd());
  if (state === "Cancelled") throw new Error("Earlier turns were not summarised: it was stopped.");
  if (state !== "Done") return "Earlier turns are still being summarised.";
  const endedAtMs = Date.now();
  while (Date.now() - endedAtMs < takenUpWithinMs && (await summariesOf(kernel, id)) === before)
    await pause(checkMs);
  return summarised;
}

function compactionSince({ transcript }: Asking, seq: number): Process | undefined {
  for (const { first, value } of transcript.processes.values())
    if (value.kind === "compaction" && first > seq) return value;
  return undefined;
}

/** Returns the summaries with which the context of a conversation begins. */
async function summariesOf(kernel: KernelClient, id: string): Promise<string> {
  const { sections } = await kernel.conversationContext(id);
  return sections.find(({ name }) => name === "summaries")?.text ?? "";
}
