import { EventEmitter, type Disposable, type Event } from "vscode";
import type { ActionsModel, Reminder, RemindersModel } from "./ports.ts";
import { count, label, message } from "./text.ts";
import type { TrustQuestion } from "./trust-question.ts";

/** The clock, the setting and the question of permissions that reminders use. */
interface Surroundings {
  /** Returns the open question of permissions, unless the person has postponed it; otherwise null. */
  question(): Pick<TrustQuestion, "digest" | "title"> | null;
  readonly onDidChangeQuestion: Event<void>;

  /** Milliseconds since the epoch. */
  now(): number;
  /** How long a change waits before a person is reminded, as configured; 0 means never. */
  afterMinutes(): number;
}

/** The longest delay of a timer. */
const maxTimerMs = 2 ** 31 - 1;
/** The number of titles that a reminder names. */
const maxTitles = 3;

/**
 * Announces, once for each change and each question of permissions, that they wait, as soon as one of them has waited
 * longer than the person configured. A question waits since this window first saw it.
 */
export class Reminders implements RemindersModel, Disposable {
  readonly #actions: Pick<ActionsModel, "pending" | "onDidChange">;
  readonly #nameOf: (agent: string) => string;
  readonly #surroundings: Surroundings;
  readonly #reminded = new EventEmitter<Reminder>();
  readonly onDidRemind = this.#reminded.event;
  readonly #listening: readonly Disposable[];
  #asked: { readonly digest: string; readonly sinceMs: number; isTold: boolean } | null = null;
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
    this.#listening = [actions.onDidChange, surroundings.onDidChangeQuestion].map((changed) =>
      changed(() => this.#look()),
    );
    this.#look();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const listening of this.#listening) listening.dispose();
    this.#reminded.dispose();
  }

  #look(): void {
    clearTimeout(this.#timer);
    const { pending } = this.#actions;
    this.#told = new Set(pending.map(({ id }) => id).filter((id) => this.#told.has(id)));
    const now = this.#surroundings.now();
    const question = this.#surroundings.question();
    if (question?.digest !== this.#asked?.digest)
      this.#asked = question && { digest: question.digest, sinceMs: now, isTold: false };
    const afterMs = this.#surroundings.afterMinutes() * 60_000;
    if (!(afterMs > 0)) return;
    const waiting = pending.filter(({ id }) => !this.#told.has(id));
    const asked = this.#asked?.isTold === false ? this.#asked : null;
    const dueInMs = (sinceMs: number): number => sinceMs + afterMs - now;
    const changesInMs = Math.min(...waiting.map(({ created }) => dueInMs(Date.parse(created))));
    const questionInMs = asked === null ? Infinity : dueInMs(asked.sinceMs);
    const nextMs = Math.min(...[changesInMs, questionInMs].filter((ms) => ms > 0));
    if (Number.isFinite(nextMs)) this.#timer = setTimeout(() => this.#look(), Math.min(nextMs, maxTimerMs));
    if (asked !== null && question !== null && questionInMs <= 0) {
      asked.isTold = true;
      this.#reminded.fire({
        about: "permissions",
        title: `Lares: a question about permissions has waited for you for ${howLong(afterMs)}`,
        body: question.title,
      });
    }
    if (changesInMs > 0) return;
    // Changes that are not due yet are announced at the same time: a burst is one message, and there is at most one per
    // period.
    for (const { id } of waiting) this.#told.add(id);
    const titles = waiting
      .slice(0, maxTitles)
      .map(({ agent, title }) => `${label(this.#nameOf(agent), 40)}: ${message(title, 100)}`);
    const more = waiting.length - titles.length;
    const said =
      waiting.length === 1
        ? `1 change has waited for you for ${howLong(afterMs)}`
        : `${count(waiting.length, "change")} wait for you, one of them for ${howLong(afterMs)}`;
    this.#reminded.fire({
      about: "changes",
      title: `Lares: ${said}`,
      body: [...titles, ...(more > 0 ? [`and ${more} more`] : [])].join("; "),
    });
  }
}

function howLong(ms: number): string {
  if (ms < 60_000) return `${count(Math.max(1, Math.round(ms / 1000)), "second")} or more`;
  return `${count(Math.round(ms / 60_000), "minute")} or more`;
}
