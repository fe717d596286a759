import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { Delta } from "../base/vocabulary/conversation-requests.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { type HearingIndex, mayIntercept } from "../policy/hearing.ts";
import type { InterceptingAgent } from "./interceptors.ts";
import { Seen, type SeenPlace } from "./withheld.ts";
import { eventsOfDelta, eventsOfEntry, type Known, nothingKnown, type PlainEvent } from "./plain-events.ts";

interface AnnouncerPorts extends HearingIndex {
  readonly clock: Clock;
  readonly log: Log;
  /** The agents that are enabled. */
  agents(): Iterable<Pick<InterceptingAgent, "definition">>;
  /** Returns true if the hook's event is one of a mind that is only told. */
  isPlainEvent(name: string): boolean;
  /** Queues events for the agents that subscribed to them. */
  tell(agent: string, events: readonly PlainEvent[]): Promise<void>;
}

/** Conversations of which something is known; the longest unused ones are forgotten. */
const maxKnown = 1_000;
/** Events that wait to be queued; more are left out, which is logged. */
const maxWaiting = 10_000;

interface Session {
  readonly agent: string;
  /** The process of its last entry. */
  readonly process: string;
  readonly isOpen: boolean;
  readonly known: Known;
}

function hasText({ name }: PlainEvent): boolean {
  return name === "MessageEnd";
}

/** Tells agents what happens in conversations, in order. Where no agent subscribed, nothing is worked out. */
export class Announcer implements AsyncDisposable {
  readonly #ports: AnnouncerPorts;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();
  #telling: Promise<void> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;

  constructor(ports: AnnouncerPorts) {
    this.#ports = ports;
  }

  /**
   * Takes entries that were appended to a conversation of an agent's mind. `first`: the seq of its first own one;
   * `holdsForeign`: its log holds text of neither the person nor the model.
   */
  entries(agent: string, entries: readonly Entry[], holdsForeign: boolean, first = 1): void {
    if (!this.#isHeard(agent)) return;
    const events: PlainEvent[] = [];
    for (const entry of entries) {
      const session = this.#sessions.get(entry.conversation);
      const { events: more, known } = eventsOfEntry(agent, entry, session?.known ?? nothingKnown, first);
      const sources = entry.tainted === true ? (entry.sources ?? []) : [];
      const marked = sources.length === 0 ? more : more.map((event) => ({ ...event, sources }));
      const place = { agent, holdsForeign };
      events.push(...marked.map((event) => (hasText(event) ? this.#withSight(event, entry, place) : event)));
      const isOpen = entry.kind === "meta" && entry.state !== undefined ? entry.state === "open" : true;
      this.#keep(entry.conversation, { agent, process: entry.process, isOpen, known });
    }
    this.#tell(agent, events);
  }

  /** Takes a piece of an answer, before it is an entry. */
  delta(conversation: string, delta: Delta): void {
    const session = this.#sessions.get(conversation);
    if (session === undefined || !this.#isHeard(session.agent)) return;
    const { agent, known: before } = session;
    const { events, known } = eventsOfDelta(agent, conversation, delta, before, this.#ports.clock.now());
    if (known === before) return;
    this.#keep(conversation, { ...session, known });
    this.#tell(agent, events);
  }

  /** Reports that the kernel stops, and resolves when everything is queued. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    for (const [conversation, { agent, process, isOpen }] of this.#sessions)
      if (isOpen) this.#tell(agent, [{ name: "SessionShutdown", fields: { agent, conversation, process } }]);
    this.#isClosed = true;
    await this.#telling;
  }

  /** Returns the event of a message so that each agent gets only as much of its text as it may read. */
  #withSight(event: PlainEvent, { by, origin }: Entry, place: SeenPlace): PlainEvent {
    const { fields } = event;
    const all = [...this.#ports.agents()].map(({ definition }) => definition.authority);
    const seenBy = (authority: Authority): Readonly<Record<string, unknown>> => {
      const seen = new Seen(authority, this.#ports, all, place);
      return { ...fields, ...seen.message(String(fields["text"]), { by, origin }) };
    };
    return { ...event, seenBy };
  }

  #isHeard(mind: string): boolean {
    if (this.#isClosed) return false;
    for (const { definition } of this.#ports.agents())
      if (
        mayIntercept(definition.authority, mind) &&
        definition.hooks.some(({ on }) => on !== undefined && this.#ports.isPlainEvent(on))
      )
        return true;
    return false;
  }

  #keep(conversation: string, session: Session): void {
    this.#sessions.delete(conversation);
    this.#sessions.set(conversation, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > maxKnown && oldest !== undefined) this.#sessions.delete(oldest);
  }

  #tell(agent: string, events: readonly PlainEvent[]): void {
    if (events.length === 0) return;
    if (this.#waiting + events.length > maxWaiting) {
      this.#ports.log.warn(`${events.length} events of conversations were left out: too many wait.`, {
        agent,
      });
      return;
    }
    this.#waiting += events.length;
    this.#telling = this.#telling
      .then(() => this.#ports.tell(agent, events))
      .catch((error: unknown) =>
        this.#ports.log.error(`Events of a conversation could not be queued: ${messageOf(error)}`, { agent }),
      )
      .finally(() => (this.#waiting -= events.length));
  }
}
