import { workspaceLimits } from "./limits.ts";
import type { MissingEntries } from "./missing.ts";
import type { Arrival } from "./arrival.ts";
import type { Recorder } from "./recorder.ts";
import { isAttached, type EntryTree } from "./tree.ts";

/** Reads a new file and returns its content id; null if it cannot be read. */
export type ContentOf = (arrival: Arrival) => Promise<string | null>;

/**
 * Finds moves by content. New files of the same size as a missing one are read; a new file is the missing one if both
 * have the same content and no third file has it. A copy and a deletion while the kernel was not running count as a
 * move, too. Matches are carried out; the rest is left to the caller.
 */
export async function matchByContent(
  lookalikes: readonly Arrival[],
  contentOf: ContentOf,
  { missing, recorder, tree }: { missing: MissingEntries; recorder: Recorder; tree: EntryTree },
): Promise<void> {
  const byContent = new Map<string, Arrival[]>();
  let budgetBytes: number = workspaceLimits.moveHashBytes;
  for (const arrival of lookalikes) {
    budgetBytes -= arrival.observed.size;
    const content = budgetBytes < 0 ? null : await contentOf(arrival);
    if (content !== null) byContent.set(content, [...(byContent.get(content) ?? []), arrival]);
  }
  for (const [content, arrivals] of byContent) {
    const [arrival, ...otherArrivals] = arrivals;
    const [gone, ...othersGone] = missing.withContent(content);
    if (arrival === undefined || gone === undefined) continue;
    if (otherArrivals.length > 0 || othersGone.length > 0) continue;
    const { folder, name, observed, origin } = arrival;
    if (folder.child(name) !== undefined || !isAttached(tree, folder) || !isAttached(tree, gone)) continue;
    missing.delete(gone);
    recorder.move(gone, folder, name, origin);
    recorder.refresh(gone, observed);
  }
}
