import type { Entry } from "../base/vocabulary/conversation.ts";

/**
 * Returns the entries without those that an interceptor's change replaced, which is a later entry with the same id and
 * `by`. What a model must not read does not get into a summary either.
 */
export function withoutReplaced(entries: readonly Entry[]): readonly Entry[] {
  const newest = new Map<string, Entry>();
  for (const entry of entries)
    if (entry.by !== undefined && canBeReplaced(entry)) newest.set(entry.id, entry);
  if (newest.size === 0) return entries;
  return entries.filter((entry) => {
    const change = canBeReplaced(entry) ? newest.get(entry.id) : undefined;
    return change === undefined || change.seq <= entry.seq;
  });
}

const canBeReplaced = ({ kind }: Entry): boolean => kind === "message" || kind === "tool_result";
