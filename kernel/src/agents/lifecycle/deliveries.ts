import type { Authority } from "../../base/vocabulary/permissions.ts";
import { type Clock, isoTime } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Entry } from "../../base/vocabulary/entry.ts";
import type { EntryChange, LaresEvent } from "../../base/vocabulary/event.ts";
import { type Foreign, foreignFrom, nothingForeign } from "../../base/vocabulary/foreign.ts";
import { type Lineage, ownAccord } from "../../base/vocabulary/principal.ts";
import { deliveriesOf, lineageOfEvent } from "../delivery/emitted-events.ts";
import { emitterOf } from "../delivery/event-backlog.ts";
import {
  type AnnouncedEntry,
  InitialSyncs,
  type ShownLocation,
  type SightStatements,
} from "../delivery/initial-sync.ts";
import { deliveriesFor, type RoutedDelivery, type RouterOptions } from "../delivery/router.ts";
import type { AgentDefinition, DeliveryQueue } from "../ports.ts";
import type { AgentRoster } from "./roster.ts";

/** Statements for the caller's transaction, and a callback for after the commit. */
interface Enqueued<Statement> {
  readonly statements: readonly Statement[];
  committed(): void;
}

/** An event of a mind's conversation. */
interface MindEvent {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The sources of its texts, if nobody vouches for them. */
  readonly sources?: readonly string[];
  /** Returns the fields for an agent with this authority; if absent, all are told. */
  readonly seenBy?: (authority: Authority) => Readonly<Record<string, unknown>>;
}

export interface DeliveryPorts<Statement> {
  readonly clock: Clock;
  readonly agents: AgentRoster;
  readonly queue: Pick<DeliveryQueue, "from">;
  readonly eventOf: (change: EntryChange) => LaresEvent;
  /** Prepares durable deliveries; see the inbox. */
  enqueue(deliveries: readonly RoutedDelivery[]): Enqueued<Statement>;
  /** Stores its own statements in one transaction. */
  commit(statements: readonly Statement[]): Promise<void>;
  readonly sightStatements: SightStatements<Statement>;
  readonly alreadyShown: readonly ShownLocation[];
  readonly alreadyAnnounced: readonly AnnouncedEntry[];
  isEntry(path: string): boolean;
  hides(path: string): boolean;
  allEntries(): Iterable<Entry>;
}

/** Turns what happens into deliveries to the agents that may receive it. */
export class Deliveries<Statement> {
  readonly routing: RouterOptions;
  readonly sights: InitialSyncs<Statement>;
  readonly #ports: DeliveryPorts<Statement>;
  readonly #agents: AgentRoster;

  constructor(ports: DeliveryPorts<Statement>) {
    this.#ports = ports;
    this.#agents = ports.agents;
    this.routing = {
      clock: ports.clock,
      eventOf: ports.eventOf,
      onFilterError: (agent, hook, message) =>
        this.#agents
          .find(agent)
          ?.trace("warn", `the filter of ${hook.handler} failed: ${message}`, { filter: hook.filter }),
      isEntry: (path) => ports.isEntry(path),
      hides: (path) => ports.hides(path),
      onWithheld: (agent, event, reason) => this.#agents.find(agent)?.withheld(event, reason),
    };
    this.sights = new InitialSyncs({
      statements: ports.sightStatements,
      alreadyShown: ports.alreadyShown,
      alreadyAnnounced: ports.alreadyAnnounced,
      allEntries: () => ports.allEntries(),
      store: (deliveries, more) => this.store(deliveries, more),
      routing: this.routing,
    });
  }

  /** Returns the deliveries for the changes that the workspace is about to store, for the same transaction. */
  deliver(changes: readonly EntryChange[]): Enqueued<Statement> {
    const deliveries: RoutedDelivery[] = [];
    const marks: Statement[] = [];
    const listening = [...this.#agents.hearing()];
    for (const change of changes) {
      // Computed only if an agent may receive it: a first index has many thousands of changes.
      let event: LaresEvent | null = null;
      for (const { definition } of listening) {
        const { isNews, statements } = this.sights.meet(definition, change);
        marks.push(...statements);
        if (!isNews) continue;
        event ??= this.#ports.eventOf(change);
        const lane = change.origin === "live" ? "live" : "backlog";
        deliveries.push(...deliveriesFor(definition, event, lane, this.routing));
      }
    }
    return this.#enqueue(deliveries, marks);
  }

  /**
   * Delivers an agent's custom event to its subscribers. `name` is "publisher.id/EventName"; `foreign` is what the agent
   * had read, `lineage` on whose behalf it emits. Throws LimitExceeded as `lineageOfEvent` does.
   */
  async emit(
    name: string,
    data: Readonly<Record<string, JsonValue | undefined>>,
    foreign: Foreign = nothingForeign,
    lineage: Lineage = ownAccord,
  ): Promise<void> {
    const event = { ...data, id: newId(), name, timestamp: isoTime(this.#ports.clock.now()) };
    const emitter = emitterOf(name);
    const carried = lineageOfEvent(emitter, name, lineage, (reason) =>
      this.#agents.find(emitter)?.dropped(name, reason),
    );
    await this.store(this.#fromEmitter(event, emitter, foreign, carried));
  }

  /** Delivers events of a mind's conversations, in order, to the agents that subscribed to them and may receive them. */
  async tellOfMind(mind: string, events: readonly MindEvent[]): Promise<void> {
    const timestamp = isoTime(this.#ports.clock.now());
    // Their share of a queue is not that of events that the mind's program emits.
    const emitter = `the mind of ${mind}`;
    const hearing = [...this.#agents.hearing()].map(({ definition }) => definition);
    const deliveries = events.flatMap(({ name, fields, sources = [], seenBy }) => {
      const event = { ...fields, id: newId(), name, timestamp };
      const foreign = foreignFrom(sources, "all");
      if (seenBy === undefined) return this.#fromEmitter(event, emitter, foreign, ownAccord, hearing);
      return hearing
        .filter(({ hooks }) => hooks.some(({ on }) => on === name))
        .flatMap((definition) => {
          const seen = { ...event, ...seenBy(definition.authority) };
          return this.#fromEmitter(seen, emitter, foreign, ownAccord, [definition]);
        });
    });
    await this.store(deliveries);
  }

  /**
   * Prepares a built-in event for one agent, for the caller's transaction. Empty if the agent does not exist, is
   * disabled or has no hook for it.
   */
  tell(agent: string, name: string, fields: Readonly<Record<string, unknown>>): Enqueued<Statement> {
    const supervisor = this.#agents.find(agent);
    if (supervisor?.isListening !== true) return this.#enqueue([]);
    const event: LaresEvent = {
      ...fields,
      id: newId(),
      name,
      timestamp: isoTime(this.#ports.clock.now()),
    };
    return this.#enqueue(deliveriesFor(supervisor.definition, event, "live", this.routing));
  }

  /** Stores deliveries, and statements that belong to them, in a transaction of their own. */
  async store(deliveries: readonly RoutedDelivery[], more: readonly Statement[] = []): Promise<void> {
    const enqueued = this.#enqueue(deliveries, more);
    if (enqueued.statements.length === 0) return;
    await this.#ports.commit(enqueued.statements);
    enqueued.committed();
  }

  /** Forgets what an agent was shown of locations that are not granted to it any more. */
  async forgetUngranted(definition: AgentDefinition): Promise<void> {
    await this.#ports.commit(this.sights.forgetUngranted(definition));
  }

  #fromEmitter(
    event: LaresEvent,
    emitter: string,
    foreign: Foreign,
    lineage: Lineage,
    definitions: readonly AgentDefinition[] = [...this.#agents.hearing()].map(({ definition }) => definition),
  ): RoutedDelivery[] {
    return deliveriesOf(
      { event, emitter, foreign, lineage },
      {
        definitions,
        queue: this.#ports.queue,
        routing: this.routing,
        onDropped: (id, dropped, reason) => this.#agents.find(id)?.dropped(dropped, reason),
      },
    );
  }

  #enqueue(deliveries: readonly RoutedDelivery[], more: readonly Statement[] = []): Enqueued<Statement> {
    const enqueued = this.#ports.enqueue(deliveries);
    return {
      statements: [...enqueued.statements, ...more],
      committed: () => {
        for (const { agent } of deliveries) this.#agents.find(agent)?.metrics.received();
        enqueued.committed();
        for (const agent of new Set(deliveries.map((delivery) => delivery.agent)))
          this.#agents.find(agent)?.pump();
      },
    };
  }
}
