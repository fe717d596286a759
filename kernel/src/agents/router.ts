import type { Clock } from "../base/clock.ts";
import type { Entry } from "../base/vocabulary/entry.ts";
import type { EntryChange, LaresEvent } from "../base/vocabulary/event.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { inGrantedScope, isVisible } from "../policy/decide.ts";
import type { AgentDefinition, DeliveryPayload, HookDefinition } from "./ports.ts";

export type Lane = "live" | "backlog";

export interface RoutedDelivery {
  readonly agent: string;
  readonly lane: Lane;
  readonly payload: DeliveryPayload;
  /** What it stems from, where that may have only so many waiting; see the inbox. */
  readonly source?: string;
}

export interface RouterOptions {
  readonly clock: Clock;
  /** A change of the index as the event that hooks receive. */
  readonly eventOf: (change: EntryChange) => LaresEvent;
  /** A filter that could not be evaluated on this event: counts as "no", and is said. */
  readonly onFilterError: (agent: string, hook: HookDefinition, message: string) => void;
}

/** Which of an agent's hooks an event goes to, after what the agent may see and each hook's filter. */
export function deliveriesFor(
  definition: AgentDefinition,
  event: LaresEvent,
  lane: Lane,
  options: RouterOptions,
): RoutedDelivery[] {
  const deliveries: RoutedDelivery[] = [];
  let seen: LaresEvent | null | undefined;
  for (const hook of definition.hooks) {
    if (hook.on !== event.name) continue;
    seen ??= asSeenBy(definition.authority, event);
    if (seen === null) return [];
    const answer = hook.accepts(seen, (path) => inGrantedScope(definition.authority, path));
    if (answer.error !== undefined) options.onFilterError(definition.id, hook, answer.error);
    if (!answer.passed) continue;
    deliveries.push({ agent: definition.id, lane, payload: { handler: hook.handler, event: seen } });
  }
  return deliveries;
}

/** The event as this agent may see it, or null where it may not: nothing outside its locations and filter exists for it. */
export function asSeenBy(authority: Authority, event: LaresEvent): LaresEvent | null {
  // A custom event ("publisher.id/Name") is its publisher's word; what it calls "entry" is none of the index's.
  if (event.name.includes("/")) return event;
  const entry = event["entry"] as Entry | undefined;
  if (entry !== undefined) {
    if (!isVisible(authority, entry.path, entry.kind)) return null;
    const from = event["from"];
    const location = locationOf(authority, entry.path);
    const seen: Record<string, unknown> & LaresEvent = { ...event, entry: entrySeenBy(authority, entry) };
    if (event.name === "EntryCreated") seen["location"] = location;
    // Where it came from is nobody's business who could not see it there.
    if (typeof from === "string" && !isVisible(authority, from, entry.kind)) seen["from"] = "";
    return seen;
  }
  if (event.name === "EntryDeleted") {
    const path = String(event["path"]);
    return isVisible(authority, path, "file") ? event : null;
  }
  return event;
}

/**
 * The entry as this agent may see it. A folder's time of modification is that of the last name that came or went in
 * it, hidden ones included: agents are told when it was created.
 */
export function entrySeenBy(authority: Authority, entry: Entry): Entry {
  const location = locationOf(authority, entry.path);
  return { ...entry, location, ...(entry.kind === "folder" ? { modified: entry.created } : {}) };
}

/** The granted folder through which a path is seen: the innermost. */
export function locationOf(authority: Authority, path: string): string {
  let best = ".";
  for (const location of authority.locations) {
    if (path !== location && !path.startsWith(`${location}/`)) continue;
    if (best === "." || location.length > best.length) best = location;
  }
  return best;
}
