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
 * An entry's first sight is its EntryCreated, also for an agent that came, or was granted a folder, long after
 * the index was made. Which agent has been shown which of its locations is durable; what has not been shown yet
 * is delivered from the index as a backlog, behind what happens live, and is followed by the location's
 * IndexComplete. It is stored in pieces, each with the entries it told of, so that whoever dies in between goes on
 * where it was.
 */
export interface ShownLocation {
  readonly agent: string;
  readonly location: string;
}

/** Of a location that has not been shown whole. */
export interface ToldEntry extends ShownLocation {
  readonly entry: string;
}

/** Entries that are told of in one transaction. */
export const entriesPerPiece = 1_000;

/** Statements that keep what is durable here; implemented by `agent-state/`. */
export interface SightStatements<Statement> {
  shown(shown: ShownLocation): Statement;
  /** The location is no longer shown. */
  forgotten(shown: ShownLocation): Statement;
  /** Nothing where the location is shown whole. */
  told(told: ToldEntry): Statement;
  untold(told: ToldEntry): Statement;
  /** All told entries of the location. */
  settled(shown: ShownLocation): Statement;
}

interface InitialSyncPorts<Statement> {
  readonly statements: SightStatements<Statement>;
  readonly alreadyShown: readonly ShownLocation[];
  readonly alreadyTold: readonly ToldEntry[];
  /** Goes on while entries come and go: what is gone is not met any more, what came is met at the end. */
  allEntries(): Iterable<Entry>;
  /** Stores deliveries, and what is said of them, in one transaction. */
  store(deliveries: readonly RoutedDelivery[], more: readonly Statement[]): Promise<void>;
  readonly routing: RouterOptions;
}

/** What each agent has been shown of the index. */
export class InitialSyncs<Statement> {
  readonly #ports: InitialSyncPorts<Statement>;
  readonly #shown = new Map<string, Set<string>>();
  /** By agent and location. */
  readonly #told = new Map<string, Map<string, Set<string>>>();
  readonly #turns = new OneAtATime();

  constructor(ports: InitialSyncPorts<Statement>) {
    this.#ports = ports;
    for (const { agent, location } of ports.alreadyShown) this.#shownTo(agent).add(location);
    for (const { agent, location, entry } of ports.alreadyTold) this.#toldIn(agent, location).add(entry);
  }

  /** Whether all of the agent's locations have been shown. */
  isWhole({ id, authority }: AgentDefinition): boolean {
    const shown = this.#shownTo(id);
    return authority.locations.every((location) => shown.has(location));
  }

  /**
   * Something was created or deleted. Whether the agent is to be told now: in a location that is not yet shown, what the
   * index finds waits for the backlog, and what is live does not. The statements belong into its transaction.
   */
  meet(definition: AgentDefinition, change: EntryChange): { tells: boolean; statements: Statement[] } {
    const { id: agent } = definition;
    const { statements } = this.#ports;
    if (change.kind === "deleted") {
      const told = [...(this.#told.get(agent) ?? [])].filter(([, entries]) =>
        entries.delete(change.entry_id),
      );
      const rows = told.map(([location]) => statements.untold({ agent, location, entry: change.entry_id }));
      return { tells: true, statements: rows };
    }
    if (change.kind !== "created" || this.isWhole(definition)) return { tells: true, statements: [] };
    const location = innermost(definition, change.entry.path);
    if (location === null || this.#shownTo(agent).has(location)) return { tells: true, statements: [] };
    const told = this.#toldIn(agent, location);
    if (change.origin === "index" || told.has(change.entry.id)) return { tells: false, statements: [] };
    told.add(change.entry.id);
    return { tells: true, statements: [statements.told({ agent, location, entry: change.entry.id })] };
  }

  /** What is no longer granted is forgotten, so that granting it again shows it again. */
  forgetUngranted({ id: agent, authority }: AgentDefinition): Statement[] {
    const shown = this.#shownTo(agent);
    const told = this.#told.get(agent);
    const isGone = (location: string): boolean => !authority.locations.includes(location);
    const locations = [...new Set([...shown, ...(told?.keys() ?? [])])].filter(isGone);
    for (const location of locations) {
      shown.delete(location);
      told?.delete(location);
    }
    const { forgotten, settled } = this.#ports.statements;
    return locations.flatMap((location) => [forgotten({ agent, location }), settled({ agent, location })]);
  }

  /**
   * Tells an agent what the index holds: after a run all of its locations, otherwise those that are new to it.
   * `current`: its definition as it is now; null where it is to hear no more, and the rest waits for the next time.
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
        if (isPending(location) && !(await this.#tellAll(agent, location, current))) return;
        const definition = definitionWith(location, current);
        if (definition === null) return;
        await this.#complete(definition, location, durationMs);
      }
    });
  }

  /** Piece by piece, until a look through the whole index found nothing more. False where it was broken off. */
  async #tellAll(agent: string, location: string, current: () => AgentDefinition | null): Promise<boolean> {
    for (let isMore = true; isMore;) {
      isMore = false;
      let definition = definitionWith(location, current);
      let piece: Entry[] = [];
      for (const entry of this.#ports.allEntries()) {
        if (definition === null) return false;
        if (this.#toldIn(agent, location).has(entry.id) || !isSeen(definition, location, entry)) continue;
        piece.push(entry);
        if (piece.length < entriesPerPiece) continue;
        await this.#tell(definition, location, piece);
        piece = [];
        isMore = true;
        definition = definitionWith(location, current);
      }
      if (definition === null) return false;
      if (piece.length === 0) continue;
      await this.#tell(definition, location, piece);
      isMore = true;
    }
    return true;
  }

  async #tell(definition: AgentDefinition, location: string, entries: readonly Entry[]): Promise<void> {
    const { routing, statements, store } = this.#ports;
    const { id: agent } = definition;
    const told = this.#toldIn(agent, location);
    // Before it is stored: what is live and comes meanwhile is the same creation.
    for (const { id } of entries) told.add(id);
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
        entries.map(({ id: entry }) => statements.told({ agent, location, entry })),
      );
    } catch (error) {
      for (const { id } of entries) told.delete(id);
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
    // From here on what the index finds is told at once: nobody looks for it any more.
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
    this.#told.get(agent)?.delete(location);
  }

  #shownTo(agent: string): Set<string> {
    return getOrMake(this.#shown, agent, () => new Set());
  }

  #toldIn(agent: string, location: string): Set<string> {
    const locations = getOrMake(this.#told, agent, () => new Map<string, Set<string>>());
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

/** The agent's definition while it still has the location. */
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
