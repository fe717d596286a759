import type { Clock } from "../base/clock.ts";

/** Maximum number of distinct counters per day; further ones are not counted. */
export const maxCounted = 16_384;
/**
 * Number of days whose counts are stored, the most recently used: if the clock is set back, earlier counts are
 * found again.
 */
export const keptDays = 3;
/** Maximum time until the date is checked again, in case the machine slept or the clock was set. */
const maxAheadMs = 15 * 60 * 1000;

/** The number of events of one kind that an agent answered on one day; `hook` is empty for the total. */
export interface KeptCount {
  /** In the form that `dayOf` returns. */
  readonly day: string;
  readonly agent: string;
  readonly hook: string;
  readonly count: number;
}

/** Statements for the durable counts; implemented by `agent-state/`. */
export interface DayCountStatements<Statement> {
  counted(count: KeptCount): Statement;
  /** Deletes all other days. */
  kept(days: readonly string[]): Statement;
}

/**
 * Counts the events that each agent answered per calendar day. A count belongs to the date that the clock shows: a
 * day may have 23 or 25 hours, and if the clock is set, counting continues under the new date.
 */
export class DayCounts {
  readonly #clock: Pick<Clock, "now">;
  /** The most recently used day is last. */
  readonly #days = new Map<string, Map<string, KeptCount>>();
  #unsaved = new Set<KeptCount>();
  #hasForgotten = false;
  /** The day that was asked for last, and its beginning and end. */
  #today = { day: "", from: 0, to: 0 };

  constructor(clock: Pick<Clock, "now">, kept: readonly KeptCount[] = []) {
    this.#clock = clock;
    for (const count of kept.toSorted((a, b) => (a.day < b.day ? -1 : 1)))
      this.#day(count.day).set(keyOf(count.agent, count.hook), count);
    this.#hasForgotten = false;
  }

  /** Counts an answered event. `hook`: counted separately, in addition to the agent's total. */
  add(agent: string, hook: string): void {
    const day = this.#dayNow();
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

  /** Returns today's count; of all hooks if none is named. */
  get(agent: string, hook = ""): number {
    return this.#days.get(this.#dayNow())?.get(keyOf(agent, hook))?.count ?? 0;
  }

  /** Returns the statements that store new counts in the caller's transaction; call `committed` after it. */
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

  #dayNow(): string {
    const now = this.#clock.now();
    if (now < this.#today.from || now >= this.#today.to)
      this.#today = { day: dayOf(now), from: startOfDay(now, 0), to: startOfDay(now, 1) };
    return this.#today.day;
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

/** Reports a new calendar day. */
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
    const aheadMs = Math.min(maxAheadMs, Math.max(1000, startOfDay(now, 1) - now));
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

/** Returns the calendar day in the machine's time zone: 2026-11-22. */
export function dayOf(nowMs: number): string {
  const date = new Date(nowMs);
  const digits = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`;
}

/** Returns when the day begins that is `later` days after this one. Not always at midnight; days have 23 to 25 hours. */
function startOfDay(nowMs: number, later: number): number {
  const date = new Date(nowMs);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + later).getTime();
}

/** Returns the key of an event's separate counter: its handler and its type. */
export function hookOf(handler: string, event: string): string {
  return `${handler} ${event}`;
}

function keyOf(agent: string, hook: string): string {
  return `${agent}\n${hook}`;
}
