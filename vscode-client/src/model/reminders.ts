import { EventEmitter, type Disposable } from "vscode";
import type { ActionsModel, Reminder, RemindersModel } from "./ports.ts";
import { count, message } from "./text.ts";

/** The clock and the setting that reminders use. */
interface Surroundings {
  /** In milliseconds of the epoch, as actions are dated. */
  now(): number;
  /** How long a change waits before a person is reminded of it, as they set it; 0: never. */
  afterMinutes(): number;
}

/** The longest time that a timer can run. */
const maxTimerMs = 2 ** 31 - 1;
/** The most titles that a reminder names. */
const maxTitles = 3;

/** Announces, once for each change, that it has waited for longer than the person set. */
export class Reminders implements RemindersModel, Disposable {
  readonly #actions: Pick<ActionsModel, "pending" | "onDidChange">;
  readonly #nameOf: (agent: string) => string;
  readonly #surroundings: Surroundings;
  readonly #reminded = new EventEmitter<Reminder>();
  readonly onDidRemind = this.#reminded.event;
  readonly #listening: Disposable;
  /** Changes that were announced, as long as they wait. */
  #told = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    actions: Pick<ActionsModel, "pending" | "onDidChange">,
    nameOf: (agent: string) => string,
    surroundings: Surroundings,
  ) {
    this.#actions = actions;
    this.#nameOf = nameOf;
    this.#surroundings = surroundings;
    this.#listening = actions.onDidChange(() => this.#look());
    this.#look();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#listening.dispose();
    this.#reminded.dispose();
  }

  #look(): void {
    clearTimeout(this.#timer);
    const { pending } = this.#actions;
    this.#told = new Set(pending.map(({ id }) => id).filter((id) => this.#told.has(id)));
    const afterMs = this.#surroundings.afterMinutes() * 60_000;
    if (!(afterMs > 0)) return;
    const now = this.#surroundings.now();
    const waiting = pending
      .filter(({ id }) => !this.#told.has(id))
      .map((action) => ({ action, dueInMs: Date.parse(action.created) + afterMs - now }));
    const due = waiting.filter(({ dueInMs }) => dueInMs <= 0).map(({ action }) => action);
    const next = Math.min(...waiting.filter(({ dueInMs }) => dueInMs > 0).map(({ dueInMs }) => dueInMs));
    if (Number.isFinite(next)) this.#timer = setTimeout(() => this.#look(), Math.min(next, maxTimerMs));
    if (due.length === 0) return;
    for (const { id } of due) this.#told.add(id);
    const titles = due
      .slice(0, maxTitles)
      .map(({ agent, title }) => `${message(this.#nameOf(agent), 40)}: ${message(title, 100)}`);
    const more = due.length - titles.length;
    this.#reminded.fire({
      title: `Lares: ${count(due.length, "change has", "changes have")} waited for you for ${howLong(afterMs)}`,
      body: [...titles, ...(more > 0 ? [`and ${more} more`] : [])].join("; "),
    });
  }
}

function howLong(ms: number): string {
  if (ms < 60_000) return `${count(Math.max(1, Math.round(ms / 1000)), "second")} or more`;
  return `${count(Math.round(ms / 60_000), "minute")} or more`;
}
