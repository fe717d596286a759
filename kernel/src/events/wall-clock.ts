/**
 * Longer than any change of a clock, in milliseconds: a zone that crosses the date line changes by a day. No wall clock
 * differs from UTC by more than this either.
 */
export const longestChangeMs = 26 * 3_600_000;

const dayMs = 24 * 3_600_000;
/** A day is examined in pieces of this length. No zone changes its clock and changes it back within one. */
const pieceMs = 6 * 3_600_000;
/** The number of days whose offsets are cached: the runs of a schedule mostly fall on few days. */
const maxDays = 400;

/** A UTC day. It has at most one change, after its beginning or at its end. */
interface DayOfClock {
  readonly offset: number;
  readonly change: number | null;
  readonly offsetAfter: number;
}

/**
 * A time zone's wall clock. Instants are milliseconds since 1970, UTC. A wall time is what a wall clock shows, written
 * as the instant at which a clock in UTC shows the same.
 */
export class WallClock {
  readonly #format: Intl.DateTimeFormat;
  readonly #days = new Map<number, DayOfClock>();

  /** Throws a RangeError if the name is not an IANA zone. */
  constructor(timezone: string) {
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  }

  /** Returns how far the clock is ahead of UTC, in milliseconds. */
  offsetAt(instant: number): number {
    const { offset, change, offsetAfter } = this.#day(Math.floor(instant / dayMs));
    return change !== null && instant >= change ? offsetAfter : offset;
  }

  wallTimeAt(instant: number): number {
    return instant + this.offsetAt(instant);
  }

  /** Returns the latest wall time shown up to this instant; in a repeated hour, that is later than the current one. */
  latestWallTimeAt(instant: number): number {
    let latest = this.wallTimeAt(instant);
    for (let at = instant - longestChangeMs; ;) {
      const change = this.nextChange(at, instant);
      if (change === null) return latest;
      latest = Math.max(latest, this.wallTimeAt(change - 1));
      at = change;
    }
  }

  /** Returns the first instant at which the clock shows this wall time or a later one. */
  firstInstantAt(wallTime: number): number {
    const end = wallTime + longestChangeMs;
    for (let at = wallTime - longestChangeMs; ;) {
      const instant = Math.max(at, wallTime - this.offsetAt(at));
      const change = this.nextChange(at, end);
      if (change === null || instant < change) return instant;
      at = change;
    }
  }

  /** Returns the first instant after `after`, and not after `through`, that has another offset; otherwise null. */
  nextChange(after: number, through: number): number | null {
    for (let day = Math.floor(after / dayMs); day * dayMs <= through; day++) {
      const { change } = this.#day(day);
      if (change !== null && change > after) return change <= through ? change : null;
    }
    return null;
  }

  #day(day: number): DayOfClock {
    const known = this.#days.get(day);
    if (known !== undefined) return known;
    const start = day * dayMs;
    const offset = this.#readOffset(start);
    let found: DayOfClock = { offset, change: null, offsetAfter: offset };
    for (let end = start + pieceMs; end <= start + dayMs && found.change === null; end += pieceMs) {
      const offsetAfter = this.#readOffset(end);
      if (offsetAfter !== offset)
        found = { offset, change: this.#changeBetween(end - pieceMs, end, offset), offsetAfter };
    }
    if (this.#days.size >= maxDays) this.#days.clear();
    this.#days.set(day, found);
    return found;
  }

  #changeBetween(before: number, after: number, offset: number): number {
    let [low, high] = [before / 1000, after / 1000];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.#readOffset(middle * 1000) === offset) low = middle;
      else high = middle;
    }
    return high * 1000;
  }

  /** `instant` is a whole second. */
  #readOffset(instant: number): number {
    const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = (
      this.#format.format(instant).match(/\d+/g) ?? []
    ).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second) - instant;
  }
}
