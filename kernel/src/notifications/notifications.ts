import type { Clock } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import { messageOf, notFound } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Proposal } from "../base/vocabulary/action.ts";
import type {
  AgentNotification,
  NotificationState,
  NotifiedSchedule,
} from "../base/vocabulary/notification.ts";
import type { Lineage } from "../base/vocabulary/principal.ts";
import { notificationBounds } from "./bounds.ts";
import type { NotificationAction, NotificationRows } from "./notification-rows.ts";
import { NotificationPace } from "./pace.ts";

/** A notification before it is stored. */
export interface NewNotification extends Pick<AgentNotification, "agent" | "title" | "message" | "severity"> {
  readonly action?: {
    /** The id of the action that was proposed with it. */
    readonly id: string;
    readonly proposal: Proposal;
    readonly lineage: Lineage;
  };
  /** For the kernel's own about a suspended schedule of the agent. */
  readonly schedule?: NotifiedSchedule;
}

interface NotificationPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly rows: NotificationRows;
  /** Called when an agent's notifications begin to be held back, and later with their number. */
  heldBack(agent: string, count: number): void;
}

/** Keeps what agents say to a person until somebody has seen it, and holds back what is too much. */
export class Notifications implements Disposable {
  /** Emitted once a notification is stored, for the clients that are there. */
  readonly told = new Emitter<AgentNotification>();
  readonly #ports: NotificationPorts;
  readonly #pace: NotificationPace;
  /** Unbounded: each agent waits for its own, and a client's open requests are limited. */
  readonly #turns = new OneAtATime();
  /** Agents that sent too many: how many since clients were told, and when they are told next. */
  readonly #held = new Map<string, { count: number; id: string; readonly timer: Disposable }>();

  constructor(ports: NotificationPorts) {
    this.#ports = ports;
    this.#pace = new NotificationPace(ports.clock);
  }

  /** Resolves once it is stored, or counted as held back. Only then its agent may be answered. */
  async add({ agent, title, message, severity, action, schedule }: NewNotification): Promise<void> {
    const { clock, rows } = this.#ports;
    // The kernel sends at most one for each schedule and resumption.
    const isAdmitted = schedule !== undefined || this.#pace.admits(agent);
    const stored = await this.#turns.run("", () =>
      isAdmitted
        ? rows.add(
            newId(),
            {
              agent,
              title: cut(title, notificationBounds.titleCharacters),
              message: cut(message, notificationBounds.messageCharacters),
              severity,
              action: action === undefined ? null : storedAction(action),
              schedule: schedule ?? null,
            },
            clock.now(),
          )
        : rows.hold(newId(), agent, clock.now()),
    );
    if (isAdmitted) this.told.emit(stored);
    else this.#heldBack(stored);
  }

  /** The latest first. `cursor` is that of the page before. */
  async list(
    query: { readonly state?: NotificationState; readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<{ readonly items: AgentNotification[]; readonly total: number; readonly cursor?: string }> {
    const { state, limit = defaultLimit, cursor } = query;
    const before = cursor === undefined ? undefined : Number(cursor);
    const { items, total, last } = await this.#ports.rows.list({
      limit,
      sinceMs: this.#ports.clock.now() - notificationBounds.keptMs,
      ...(state === undefined ? {} : { state }),
      // Nothing comes after an unknown cursor.
      ...(before === undefined ? {} : { before: Number.isSafeInteger(before) ? before : 0 }),
    });
    return { items, total, ...(last !== null && items.length === limit ? { cursor: String(last) } : {}) };
  }

  /** Marks these as seen and returns how many of them were new. Resolves once that is stored. */
  dismiss(ids: readonly string[]): Promise<number> {
    return this.#turns.run("", () => this.#ports.rows.dismiss(ids));
  }

  /** Throws NotFound. */
  async actionOf(id: string): Promise<NotificationAction> {
    const found = await this.#ports.rows.actionOf(id);
    if (found === null) throw notFound("notification", id);
    return found;
  }

  /** A suspended schedule was resumed. Resolves once its notification counts as seen. */
  resumed(agent: string, schedule: NotifiedSchedule): Promise<void> {
    return this.#turns.run("", () => this.#ports.rows.resumed(agent, schedule));
  }

  /** A person used the button of one, which led to this action. Resolves once that is stored. */
  acted(id: string, action: string): Promise<void> {
    return this.#turns.run("", () => this.#ports.rows.acted(id, action));
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#held.values()) timer[Symbol.dispose]();
    this.#held.clear();
  }

  #heldBack({ agent, id }: AgentNotification): void {
    const held = this.#held.get(agent);
    if (held !== undefined) {
      held.count++;
      held.id = id;
      return;
    }
    const { clock, heldBack } = this.#ports;
    const timer = clock.timer(notificationBounds.summaryAfterMs, () => void this.#tellHeld(agent));
    this.#held.set(agent, { count: 1, id, timer });
    heldBack(agent, 1);
  }

  /** Tells clients of those that were held back, once for all of them. */
  async #tellHeld(agent: string): Promise<void> {
    const held = this.#held.get(agent);
    if (held === undefined) return;
    this.#held.delete(agent);
    const { rows, log, heldBack } = this.#ports;
    if (held.count > 1) heldBack(agent, held.count);
    try {
      const summary = await rows.get(held.id);
      if (summary?.state === "New") this.told.emit(summary);
    } catch (error) {
      log.warn(`Notifications that were held back were not announced: ${messageOf(error)}`);
    }
  }
}

const defaultLimit = 50;

function storedAction({ id, proposal, lineage }: NonNullable<NewNotification["action"]>) {
  const text = JSON.stringify(proposal);
  return {
    id,
    proposal: text.length <= notificationBounds.proposalCharacters ? text : null,
    lineage: JSON.stringify(lineage),
  };
}

/** Cuts a text; no half of a surrogate pair stays. */
function cut(text: string, characters: number): string {
  return text.slice(0, characters).toWellFormed();
}
