import { invalidParams } from "../../../../kernel/src/base/errors.ts";
import type { JsonValue } from "../../../../kernel/src/base/json.ts";
import { ageMs, momentMs } from "../../../../kernel/src/base/moments.ts";
import type {
  TemporalCount,
  TemporalCountQuery,
  TemporalFilter,
  TemporalItem,
  TemporalPage,
  TemporalQuery,
} from "../../../../kernel/src/memory-contract/queries.ts";
import { matches } from "../../../../kernel/src/store/projection/testing/where-reference.ts";
import { checkedConditions } from "../../../../kernel/src/memory-contract/conditions.ts";
import type { HistoryItem } from "../types/memory.ts";
import { hasWords } from "./mock-words.ts";

/** Temporal memory as a plain list. Conditions and words have the same meaning as in the kernel. */
export class MockHistory {
  readonly items: HistoryItem[];
  readonly #now: () => number;

  constructor(items: HistoryItem[], now: () => number) {
    this.items = items;
    this.#now = now;
  }

  append(event: { variant: string; data: JsonValue; timestamp?: string }, id: string): { id: string } {
    const { variant, data, timestamp } = event;
    // An age is only valid in queries; an event has a time.
    if (timestamp !== undefined && ageMs(timestamp) !== null) throw noTime("timestamp", timestamp);
    const time = timestamp === undefined ? this.#now() : this.#moment("timestamp", timestamp);
    this.items.push({ id, variant, timestamp: new Date(time).toISOString(), data });
    return { id };
  }

  query({ order = "desc", limit = 100, offset = 0, ...filter }: TemporalQuery): TemporalPage {
    // Sorting is stable: events with equal times stay in the order of appending.
    const found = this.#found(filter).toSorted((a, b) => compare(a.timestamp, b.timestamp));
    if (order === "desc") found.reverse();
    return { items: found.slice(offset, offset + limit), total: found.length };
  }

  count({ group_by: groupBy, ...filter }: TemporalCountQuery): TemporalCount {
    const found = this.#found(filter);
    if (groupBy === undefined) return { count: found.length };
    const groups = new Map<string, number>();
    for (const { variant, timestamp } of found) {
      const hour = `${timestamp.slice(0, -"00:00.000Z".length)}00:00.000Z`;
      const day = timestamp.replace(/T.*/, "T00:00:00.000Z");
      const group = { variant, hour, day }[groupBy];
      groups.set(group, (groups.get(group) ?? 0) + 1);
    }
    return { count: found.length, groups: Object.fromEntries(groups) };
  }

  forgetBefore(timeMs: number): void {
    const kept = this.items.filter(({ timestamp }) => Date.parse(timestamp) >= timeMs);
    this.items.splice(0, this.items.length, ...kept);
  }

  #found({ variant, since, until, text, where = [] }: TemporalFilter): TemporalItem[] {
    checkedConditions(where);
    const from = since === undefined ? -Infinity : this.#moment("since", since);
    const end = until === undefined ? Infinity : this.#moment("until", until);
    return (this.items as TemporalItem[]).filter((item) => {
      const time = Date.parse(item.timestamp);
      return (
        (variant === undefined || item.variant === variant) &&
        time >= from &&
        time < end &&
        (text === undefined || hasWords(item.data, text.match, text.field)) &&
        matches(item.data, where)
      );
    });
  }

  #moment(name: string, text: string): number {
    const moment = momentMs(text, this.#now());
    if (moment === null) throw noTime(name, text);
    return moment;
  }
}

function compare(a: string, b: string): number {
  return Date.parse(a) - Date.parse(b);
}

function noTime(name: string, text: string): Error {
  return invalidParams(
    `${name} "${text}" is not a time. Write ISO 8601 (2026-11-20T10:00:00Z); since and until also take an age (90s, 30m, 12h, 7d, 2w).`,
  );
}
