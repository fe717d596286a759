import { isoTime } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import type { Entry } from "../../base/vocabulary/entry.ts";
import type { EntryChange } from "../../base/vocabulary/event.ts";
import { isVisible } from "../../policy/decide.ts";
import { locationOf } from "../../policy/hearing.ts";
import type { AgentDefinition } from "../ports.ts";
import { deliveriesFor, type RoutedDelivery, type RouterOptions } from "./router.ts";

/**
 * An agent sees each entry first as an EntryCreated, even if the agent, or its grant of a folder, is newer than
 * the index. Which locations each agent has seen is durable. A new location is delivered from the index as a
 * backlog, behind live events, followed by the location's IndexComplete. The backlog is stored in batches together
 * with its progress, so that a crash resumes after the last batch.
 */
export interface ShownLocation {
  readonly agent: string;
  readonly location: string;
}

/** The progress of a location that is not complete. */
export interface AnnouncedEntry extends ShownLocation {
  readonly entry: string;
}

/** Number of entries in one transaction. */
export const entriesPerPiece = 1_000;

/** Statements for the durable progress; implemented by `agent-state/`. */
export interface SightStatements<Statement> {
  shown(shown: ShownLocation): Statement;
  /** Forgets the location. */
  forgotten(shown: ShownLocation): Statement;
  /** Empty if the location is complete. */
  announced(announced: AnnouncedEntry): Statement;
  withdrawn(announced: AnnouncedEntry): Statement;
  /** All delivered entries of the location. */
  settled(shown: ShownLocation): Statement;
}

interface InitialSyncPorts<Statement> {
  readonly statements: SightStatements<Statement>;
  readonly alreadyShown: readonly ShownLocation[];
  readonly alreadyAnnounced: readonly AnnouncedEntry[];
  /** Continues while entries change: deleted entries do not appear, new ones appear at the end. */
  allEntries(): Iterable<Entry>;
  /** Stores deliveries and their progress in one transaction. */
  store(deliveries: readonly RoutedDelivery[], more: readonly Statement[]): Promise<void>;
  readonly routing: RouterOptions;
}

/** Records which parts of the index each agent has seen. */
export class InitialSyncs<Statement> {
  readonly #ports: InitialSyncPorts<Statement>;
  readonly #shown = new Map<string, Set<string>>();
  /** By agent and location. */
  readonly #announced = new Map<string, Map<string, Set<string>>>();
  /** One run for an agent at a time: the index and the registry ask for one after another. */
  readonly #turns = new OneAtATime();

  constructor(ports: InitialSyncPorts<Statement>) {
    this.#ports = ports;
    for (const { agent, location } of ports.alreadyShown) this.#shownTo(agent).add(location);
    for (const { agent, location, entry } of ports.alreadyAnnounced)
      this.#announcedIn(agent, location).add(entry);
  }

  /** Returns whether all of the agent's locations are complete. */
  isWhole({ id, authority }: AgentDefinition): boolean {
    const shown = this.#shownTo(id);
    return authority.locations.every((location) => shown.has(location));
  }

  /**
   * Returns whether the agent receives a creation or deletion now. In an incomplete location, changes that the
   * index run finds wait for the backlog, and live changes do not. The statements belong in the change's
   * transaction.
   */
  meet(definition: AgentDefinition, change: EntryChange): { isNews: boolean; statements: Statement[] } {
    const { id: agent } = definition;
    const { statements } = this.#ports;
    if (change.kind === "deleted") {
      const announced = [...(this.#announced.get(agent) ?? [])].filter(([, entries]) =>
        entries.delete(change.entry_id),
      );
      const rows = announced.map(([location]) =>
        statements.withdrawn({ agent, location, entry: change.entry_id }),
      );
      return { isNews: true, statements: rows };
    }
    if (change.kind !== "created" || this.isWhole(definition)) return { isNews: true, statements: [] };
    const location = innermost(definition, change.entry.path);
    if (location === null || this.#shownTo(agent).has(location)) return { isNews: true, statements: [] };
    const announced = this.#announcedIn(agent, location);
    if (change.origin === "index" || announced.has(change.entry.id)) return { isNews: false, statements: [] };
    announced.add(change.entry.id);
    return { isNews: true, statements: [statements.announced({ agent, location, entry: change.entry.id })] };
  }

  /** Forgets locations that are no longer granted, so that a new grant starts a new sync. */
  forgetUngranted({ id: agent, authority }: AgentDefinition): Statement[] {
    const shown = this.#shownTo(agent);
    const announced = this.#announced.get(agent);
    const isGone = (location: string): boolean => !authority.locations.includes(location);
    const locations = [...new Set([...shown, ...(announced?.keys() ?? [])])].filter(isGone);
    for (const location of locations) {
      shown.delete(location);
      announced?.delete(location);
    }
    const { forgotten, settled } = this.#ports.statements;
    return locations.flatMap((location) => [forgotten({ agent, location }), settled({ agent, location })]);
  }

  /**
   * Delivers the index to an agent: all of its locations after an index run, otherwise only new ones. `current`
   * returns its present definition; null if it receives nothing more, and the rest waits for the next time.
   */
  show(
    agent: string,
    current: () => AgentDefinition | null,
    durationMs: number,
    why: "run" | "new",
  ): Promise<void> {
    return this.#turns.run(agent, async () => {
      const shown = this.#shownTo(agent);
      const begun = current();
      const isPending = (location: string): boolean => !shown.has(location);
      const locations = (begun?.authority.locations ?? []).filter((one) => why === "run" || isPending(one));
      for (const location of locations.toSorted((a, b) => Number(isPending(b)) - Number(isPending(a)))) {
        if (isPending(location) && !(await this.#announceAll(agent, location, current))) return;
        const definition = definitionWith(location, current);
        if (definition === null) return;
        await this.#complete(definition, location, durationMs);
      }
    });
  }

  /**
   * Proceeds in batches until a pass through the whole index finds nothing more. Returns false if it was
   * interrupted.
   */
  async #announceAll(
    agent: string,
    location: string,
    current: () => AgentDefinition | null,
  ): Promise<boolean> {
    for (let isMore = true; isMore;) {
      isMore = false;
      let definition = definitionWith(location, current);
      let piece: Entry[] = [];
      for (const entry of this.#ports.allEntries()) {
        if (definition === null) return false;
        if (this.#announcedIn(agent, location).has(entry.id) || !isSeen(definition, location, entry))
          continue;
        piece.push(entry);
        if (piece.length < entriesPerPiece) continue;
        await this.#announce(definition, location, piece);
        piece = [];
        isMore = true;
        definition = definitionWith(location, current);
      }
      if (definition === null) return false;
      if (piece.length === 0) continue;
      await this.#announce(definition, location, piece);
      isMore = true;
    }
    return true;
  }

  async #announce(definition: AgentDefinition, location: string, entries: readonly Entry[]): Promise<void> {
    const { routing, statements, store } = this.#ports;
    const { id: agent } = definition;
    const announced = this.#announcedIn(agent, location);
    // Before it is stored: a live change that arrives meanwhile is the same creation.
    for (const { id } of entries) announced.add(id);
    const deliveries = entries.flatMap((entry) =>
      deliveriesFor(
        definition,
        routing.eventOf({ kind: "created", entry, origin: "index" }),
        "backlog",
        routing,
      ),
    );
    try {
      await store(
        deliveries,
        entries.map(({ id: entry }) => statements.announced({ agent, location, entry })),
      );
    } catch (error) {
      for (const { id } of entries) announced.delete(id);
      throw error;
    }
  }

  async #complete(definition: AgentDefinition, location: string, durationMs: number): Promise<void> {
    const { routing, statements, store, allEntries } = this.#ports;
    const { id: agent } = definition;
    let entries = 0;
    for (const entry of allEntries()) if (isSeen(definition, location, entry)) entries += 1;
    const event = {
      id: newId(),
      name: "IndexComplete",
      timestamp: isoTime(routing.clock.now()),
      location,
      entries_processed: entries,
      duration_ms: Math.round(durationMs),
    };
    const deliveries = deliveriesFor(definition, event, "backlog", routing);
    const shown = this.#shownTo(agent);
    if (shown.has(location)) return store(deliveries, []);
    // From now on, changes that the index run finds are delivered immediately, because no sync looks for them.
    shown.add(location);
    try {
      await store(deliveries, [
        statements.shown({ agent, location }),
        statements.settled({ agent, location }),
      ]);
    } catch (error) {
      shown.delete(location);
      throw error;
    }
    this.#announced.get(agent)?.delete(location);
  }

  #shownTo(agent: string): Set<string> {
    return getOrMake(this.#shown, agent, () => new Set());
  }

  #announcedIn(agent: string, location: string): Set<string> {
    const locations = getOrMake(this.#announced, agent, () => new Map<string, Set<string>>());
    return getOrMake(locations, location, () => new Set());
  }
}

function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Returns the agent's definition while it still has the location. */
function definitionWith(location: string, current: () => AgentDefinition | null): AgentDefinition | null {
  const definition = current();
  return definition?.authority.locations.includes(location) === true ? definition : null;
}

const isSeen = (definition: AgentDefinition, location: string, { path, kind }: Entry): boolean =>
  innermost(definition, path) === location && isVisible(definition.authority, path, kind);

function innermost({ authority }: AgentDefinition, path: string): string | null {
  const location = locationOf(authority, path);
  return authority.locations.includes(location) ? location : null;
}
