import { workspaceLimits } from "./limits.ts";
import type { MissingEntries } from "./missing.ts";
import type { Arrival } from "./arrival.ts";
import type { Recorder } from "./recorder.ts";
import { isAttached, type EntryTree } from "./tree.ts";

/** Reads a new file for its content id; null when it cannot be read. */
export type ContentOf = (arrival: Arrival) => Promise<string | null>;

/**
 * New files that have the size of a missing one are read; one is the other, moved, if the content says so
 * and no third file has it. Copying and deleting while nobody looked is a move, too. What was matched is
 * carried out; the rest is left to the caller.
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
