import { subjectOf } from "../../../base/vocabulary/impact-words.ts";
import type { Action } from "../../../base/vocabulary/action.ts";

export const sectionIds = ["waiting", "stale", "automatic", "replaced", "decided"] as const;
export type SectionId = (typeof sectionIds)[number];

export interface Section {
  readonly id: SectionId;
  /** Newest first. */
  readonly actions: readonly Action[];
}

/**
 * Returns the section of an action; null if the review does not show it. `decidedHere`: ids decided in this session.
 */
export function sectionOf(action: Action, decidedHere: ReadonlySet<string>): SectionId | null {
  if (action.state === "PendingApproval") return "waiting";
  if (decidedHere.has(action.id)) return "decided";
  if (action.state === "Stale") return action.superseded_by === undefined ? "stale" : "replaced";
  return action.state === "Committed" && action.decided_by === "policy" ? "automatic" : null;
}

export function sectionsOf(
  actions: Iterable<Action>,
  decidedHere: ReadonlySet<string>,
  filter: string,
): Section[] {
  const found = new Map<SectionId, Action[]>(sectionIds.map((id) => [id, []]));
  for (const action of actions) {
    const id = sectionOf(action, decidedHere);
    if (id !== null && matches(action, filter)) found.get(id)?.push(action);
  }
  return sectionIds.map((id) => ({ id, actions: (found.get(id) ?? []).toSorted(newestFirst) }));
}

/** Returns true if every word of the filter occurs in a path, the agent, the title, or the kind of a change. */
function matches({ agent, title, effects }: Action, filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const subject = subjectOf(effects);
  const texts = [
    agent,
    title,
    ...("words" in subject ? [subject.words] : []),
    ...effects.flatMap(({ kind, path, from = "" }) => [kind, path, from]),
  ].map((text) => text.toLowerCase());
  return words.every((word) => texts.some((text) => text.includes(word)));
}

/** Ids are UUIDv7: their order is the order in which the actions were proposed. */
function newestFirst(one: Action, other: Action): number {
  return one.id < other.id ? 1 : -1;
}
