import type { Clock } from "../base/clock.ts";

/** Different things that are counted in one day; what comes after them is not. */
export const maxCounted = 16_384;
/** Days whose counts are kept, the ones counted in last: a clock that is set back finds those of before. */
export const keptDays = 3;
/** The next day is looked for no further ahead: so long a machine that woke, or a clock that was set, goes unnoticed. */
const maxAheadMs = 15 * 60 * 1000;

/** How many events of one kind an agent answered in one day; `hook` is empty for all of them. */
export interface KeptCount {
  /** As `dayOf` says. */
  readonly day: string;
  readonly agent: string;
  readonly hook: string;
  readonly count: number;
}

/** Statements that keep what is durable here; implemented by `agent-state/`. */
export interface DayCountStatements<Statement> {
  counted(count: KeptCount): Statement;
  /** All days but these are forgotten. */
  kept(days: readonly string[]): Statement;
}

/**
 * How many events each agent answered on a day of the machine's calendar. A count belongs to the date that the clock
 * shows: a day may have 23 hours or 25, and a clock that is set goes on with what was counted under the date it has then.
 */
export class DayCounts {
  readonly #clock: Pick<Clock, "now">;
  /** The day counted in last comes last. */
  readonly #days = new Map<string, Map<string, KeptCount>>();
  #unsaved = new Set<KeptCount>();
  #hasForgotten = false;

  constructor(clock: Pick<Clock, "now">, kept: readonly KeptCount[] = []) {
    this.#clock = clock;
    for (const count of kept.toSorted((a, b) => (a.day < b.day ? -1 : 1)))
      this.#day(count.day).set(keyOf(count.agent, count.hook), count);
    this.#hasForgotten = false;
  }

  /** The agent answered an event. `hook`: what is counted by itself, beside all that the agent answers. */
  add(agent: string, hook: string): void {
    const day = dayOf(this.#clock.now());
    const counts = this.#day(day);
    for (const each of ["", hook]) {
      const key = keyOf(agent, each);
      const before = counts.get(key);
      if (before === undefined && counts.size >= maxCounted) continue;
      const count = { day, agent, hook: each, count: (before?.count ?? 0) + 1 };
      counts.set(key, count);
      if (before !== undefined) this.#unsaved.delete(before);
      this.#unsaved.add(count);
    }
  }

  /** Of today; of all hooks where none is named. */
  get(agent: string, hook = ""): number {
    return this.#days.get(dayOf(this.#clock.now()))?.get(keyOf(agent, hook))?.count ?? 0;
  }

  /** What is not kept yet, for a transaction of the caller's; `committed` once that is through. */
  unsaved<Statement>(statements: DayCountStatements<Statement>): {
    readonly statements: readonly Statement[];
    committed(): void;
  } {
    const saving = [...this.#unsaved];
    const hasForgotten = this.#hasForgotten;
    return {
      statements: [
        ...saving.map((count) => statements.counted(count)),
        ...(hasForgotten ? [statements.kept([...this.#days.keys()])] : []),
      ],
      committed: () => {
        for (const count of saving) this.#unsaved.delete(count);
        if (hasForgotten) this.#hasForgotten = false;
      },
    };
  }

  #day(day: string): Map<string, KeptCount> {
    const known = this.#days.get(day) ?? new Map<string, KeptCount>();
    this.#days.delete(day);
    this.#days.set(day, known);
    for (const oldest of this.#days.keys()) {
      if (this.#days.size <= keptDays) break;
      this.#days.delete(oldest);
      this.#unsaved = new Set([...this.#unsaved].filter((count) => count.day !== oldest));
      this.#hasForgotten = true;
    }
    return known;
  }
}

/** Says when the calendar shows another day. */
export class DayWatch implements Disposable {
  readonly #clock: Clock;
  readonly #turned: () => void;
  #day: string;
  #timer: Disposable;

  constructor(clock: Clock, turned: () => void) {
    this.#clock = clock;
    this.#turned = turned;
    this.#day = dayOf(clock.now());
    this.#timer = this.#soon();
  }

  #soon(): Disposable {
    const now = this.#clock.now();
    const aheadMs = Math.min(maxAheadMs, Math.max(1000, nextDay(now) - now));
    return this.#clock.timer(aheadMs, () => this.#look());
  }

  #look(): void {
    const day = dayOf(this.#clock.now());
    this.#timer = this.#soon();
    if (day === this.#day) return;
    this.#day = day;
    this.#turned();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }
}

/** The day that a person's calendar shows, in the machine's time zone: 2026-11-22. */
export function dayOf(nowMs: number): string {
  const date = new Date(nowMs);
  const digits = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`;
}

/** When the next day begins; not always at midnight, and not always 24 hours after this one. */
function nextDay(nowMs: number): number {
  const date = new Date(nowMs);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
}

/** What counts an event by itself: the handler that answered it, and what it was. */
export function hookOf(handler: string, event: string): string {
  return `${handler} ${event}`;
}

function keyOf(agent: string, hook: string): string {
  return `${agent}\n${hook}`;
}
