import { newId } from "../base/ids.ts";
import { isoTime } from "../base/clock.ts";
import type { Entry } from "../base/vocabulary/entry.ts";
import type { EntryChange } from "../base/vocabulary/event.ts";
import { isVisible } from "../policy/decide.ts";
import type { AgentDefinition } from "./ports.ts";
import { deliveriesFor, locationOf, type RoutedDelivery, type RouterOptions } from "./router.ts";

/**
 * An entry's first sight is its EntryCreated, also for an agent that came, or was granted a folder, long after
 * the index was made. Which agent has been shown which of its locations is durable; what has not been shown yet
 * is delivered from the index as a backlog, behind what happens live, and is followed by the location's
 * IndexComplete.
 */
export interface ShownLocation {
  readonly agent: string;
  readonly location: string;
}

export const agentMigrations = [
  {
    name: "agents-1-shown-locations",
    sql: `CREATE TABLE shown_locations (
      agent TEXT NOT NULL, location TEXT NOT NULL, PRIMARY KEY (agent, location)
    ) WITHOUT ROWID, STRICT`,
  },
] as const;

export interface BacklogRun {
  readonly deliveries: readonly RoutedDelivery[];
  readonly newlyShown: readonly ShownLocation[];
}

/**
 * What an agent is still to be told once an index run has ended.
 *
 * `alreadyDelivered` holds the ids of entries whose creation it was told of live while a location was not yet shown.
 */
export function backlogFor(
  definition: AgentDefinition,
  shown: ReadonlySet<string>,
  entries: Iterable<Entry>,
  run: { readonly entries: number; readonly durationMs: number },
  alreadyDelivered: ReadonlySet<string>,
  options: RouterOptions,
): BacklogRun {
  const pending = definition.authority.locations.filter((location) => !shown.has(location));
  const counts = new Map<string, number>(definition.authority.locations.map((location) => [location, 0]));
  const byLocation = new Map<string, RoutedDelivery[]>();
  const add = (location: string, deliveries: RoutedDelivery[]): void => {
    const list = byLocation.get(location);
    if (list === undefined) byLocation.set(location, deliveries);
    else list.push(...deliveries);
  };
  for (const entry of entries) {
    const location = innermost(definition, entry.path);
    if (location === null || !isVisible(definition.authority, entry.path, entry.kind)) continue;
    counts.set(location, (counts.get(location) ?? 0) + 1);
    if (!pending.includes(location) || alreadyDelivered.has(entry.id)) continue;
    const change: EntryChange = { kind: "created", entry, origin: "index" };
    add(location, deliveriesFor(definition, options.eventOf(change), "backlog", options));
  }
  for (const location of definition.authority.locations) {
    add(location, indexComplete(definition, location, counts.get(location) ?? 0, run.durationMs, options));
  }
  return {
    deliveries: [...byLocation.values()].flat(),
    newlyShown: pending.map((location) => ({ agent: definition.id, location })),
  };
}

function indexComplete(
  definition: AgentDefinition,
  location: string,
  entriesProcessed: number,
  durationMs: number,
  options: RouterOptions,
): RoutedDelivery[] {
  const event = {
    id: newId(),
    name: "IndexComplete",
    timestamp: isoTime(options.clock.now()),
    location,
    entries_processed: entriesProcessed,
    duration_ms: Math.round(durationMs),
  };
  return deliveriesFor(definition, event, "backlog", options);
}

function innermost(definition: AgentDefinition, path: string): string | null {
  const location = locationOf(definition.authority, path);
  return definition.authority.locations.includes(location) ? location : null;
}
