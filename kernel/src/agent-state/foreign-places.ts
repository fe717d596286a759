import { isLaresError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { bothForeign, type Foreign, isForeign, nothingForeign } from "../base/vocabulary/foreign.ts";
import type { Database, Statement } from "../platform/database/database.ts";

/** The item that stands for a place as a whole. */
const whole = "";
/** An item whose id is not known yet, because it is being written. After a kernel died meanwhile, it may be any. */
const writing = "writing ";
/** Items of one place that are told apart; beyond it, the place counts as a whole. */
const maxItems = 20_000;

/**
 * Remembers where agents keep texts that nobody vouches for: a place is a memory, a shared value or what an agent proposed, an
 * item a record in it. What is written is marked before, so a text is never there without its mark.
 */
export class ForeignPlaces {
  readonly #database: Database;
  readonly #maxItems: number;
  /** Writes of one item, one after the other. Each belongs to an open call, which bounds them. */
  readonly #turns = new OneAtATime();
  readonly #places = new Map<string, Map<string, Foreign>>();
  /** The items of each place that are being written, so that a read does not look through all items for them. */
  readonly #marks = new Map<string, Set<string>>();

  private constructor(database: Database, mostItems: number) {
    this.#database = database;
    this.#maxItems = mostItems;
  }

  /** The database has `agentStateMigrations` applied. */
  static async open(database: Database, mostItems = maxItems): Promise<ForeignPlaces> {
    const places = new ForeignPlaces(database, mostItems);
    const rows = await database.query<{ place: string; item: string; sources: string }>(
      "SELECT place, item, sources FROM foreign_places",
      [],
    );
    for (const { place, item, sources } of rows) places.#keep(place, item, JSON.parse(sources) as Foreign);
    return places;
  }

  /** Returns the texts that a place holds in any of its items. */
  ofAll(place: string): Foreign {
    return [...(this.#places.get(place)?.values() ?? [])].reduce(bothForeign, nothingForeign);
  }

  /** Returns the texts that these items of a place hold. */
  of(place: string, items: Iterable<string>): Foreign {
    const known = this.#places.get(place);
    if (known === undefined) return nothingForeign;
    let found = known.get(whole) ?? nothingForeign;
    for (const mark of this.#marks.get(place) ?? [])
      found = bothForeign(found, known.get(mark) ?? nothingForeign);
    for (const item of items) found = bothForeign(found, known.get(item) ?? nothingForeign);
    return found;
  }

  /**
   * Runs what replaces everything in a place, or one item of it, which then holds only what the writer had read. One at a
   * time. In a place with too many items, which counts as a whole, marks are only added.
   */
  async replacing<Result>(
    place: string,
    foreign: Foreign,
    run: () => Promise<Result>,
    item = whole,
  ): Promise<Result> {
    // One that began before a marked write and ends after it leaves a mark too many.
    if (!isForeign(foreign) && this.#places.get(place)?.has(item) !== true) return await run();
    return await this.#turns.run(JSON.stringify([place, item]), async () => {
      const known = this.#places.get(place);
      if (item !== whole && known !== undefined && known.size > this.#maxItems && !known.has(item))
        return await this.adding(place, foreign, run, () => item);
      const before = known?.get(item) ?? nothingForeign;
      // Until it is written the place may hold either.
      await this.#set(place, item, bothForeign(before, foreign));
      try {
        const result = await run();
        await this.#set(place, item, foreign);
        return result;
      } catch (error) {
        if (wroteNothing(error)) await this.#set(place, item, before);
        throw error;
      }
    });
  }

  /** Runs what adds an item, or changes it, and returns its id; the item then holds what the writer had read too. */
  async adding<Result>(
    place: string,
    foreign: Foreign,
    run: () => Promise<Result>,
    idOf: (result: Result) => string,
  ): Promise<Result> {
    if (!isForeign(foreign)) return await run();
    const mark = `${writing}${newId()}`;
    await this.#set(place, mark, foreign);
    let item: string;
    let result: Result;
    try {
      result = await run();
      item = idOf(result);
    } catch (error) {
      if (wroteNothing(error)) await this.#set(place, mark, nothingForeign);
      throw error;
    }
    const known = this.#of(place);
    const target = known.size > this.#maxItems ? whole : item;
    await this.#set(place, target, bothForeign(known.get(target) ?? nothingForeign, foreign));
    await this.#set(place, mark, nothingForeign);
    return result;
  }

  /** Marks items of a place, or the place as a whole, in addition to what they are marked with. */
  async mark(place: string, items: readonly string[] | "all", foreign: Foreign): Promise<void> {
    if (!isForeign(foreign) || items.length === 0) return;
    const known = this.#of(place);
    const targets = items === "all" || known.size + items.length > this.#maxItems ? [whole] : items;
    const statements = targets.map((item) => {
      const both = bothForeign(known.get(item) ?? nothingForeign, foreign);
      this.#keep(place, item, both);
      return statementOf(place, item, both);
    });
    await this.#database.batch(statements);
  }

  /** Resolves when the operating system has it. Nothing is written where nothing changes. */
  async #set(place: string, item: string, foreign: Foreign): Promise<void> {
    const known = this.#of(place);
    const before = known.get(item) ?? nothingForeign;
    if (JSON.stringify(before) === JSON.stringify(foreign)) {
      if (known.size === 0) this.#places.delete(place);
      return;
    }
    if (isForeign(foreign)) this.#keep(place, item, foreign);
    await this.#database.batch([statementOf(place, item, foreign)]);
    // Only now: until it is stored the wider mark counts.
    if (!isForeign(foreign)) {
      known.delete(item);
      this.#marks.get(place)?.delete(item);
    }
    // Another write may have begun the place again meanwhile.
    if (known.size === 0 && this.#places.get(place) === known) {
      this.#places.delete(place);
      this.#marks.delete(place);
    }
  }

  #keep(place: string, item: string, foreign: Foreign): void {
    this.#of(place).set(item, foreign);
    if (!item.startsWith(writing)) return;
    this.#marks.set(place, (this.#marks.get(place) ?? new Set<string>()).add(item));
  }

  #of(place: string): Map<string, Foreign> {
    const known = this.#places.get(place) ?? new Map<string, Foreign>();
    this.#places.set(place, known);
    return known;
  }
}

/** True for a refusal. After any other error it may have been written all the same. */
function wroteNothing(error: unknown): boolean {
  const refusals = [
    "PermissionDenied",
    "NotFound",
    "LimitExceeded",
    "InvalidParams",
    "Conflict",
    "ScopeViolation",
    "Stale",
    "IllegalTransition",
  ] as const;
  return refusals.some((code) => isLaresError(error, code));
}

function statementOf(place: string, item: string, foreign: Foreign): Statement {
  return isForeign(foreign)
    ? {
        sql: "INSERT OR REPLACE INTO foreign_places (place, item, sources) VALUES (?, ?, ?)",
        params: [place, item, JSON.stringify(foreign)],
      }
    : { sql: "DELETE FROM foreign_places WHERE place = ? AND item = ?", params: [place, item] };
}
