import type { Clock } from "../base/clock.ts";
import type { EventPorts, FilterCheck } from "../documents/ports.ts";
import { compileSchedule } from "../events/cron.ts";
import { declaredFields } from "../events/declared-fields.ts";
import { compileFilter } from "../events/filter.ts";
import { eventNames, isCustomEvent } from "../events/types.ts";

/** Returns the language of hooks, for checks of documents. */
export function eventPorts(clock: Clock): EventPorts {
  return { eventNames, isCustomEvent, compileFilter: checkFilter, compileSchedule, nowMs: clock.now() };
}

/** Filters whose verdicts are cached: a document is checked at each keystroke, and most of its filters stay the same. */
const maxFilterVerdicts = 512;
/** Verdicts of longer filters are not cached. */
const maxKeptCharacters = 4096;
const filterVerdicts = new Map<string, FilterCheck>();

function checkFilter(
  source: string,
  eventName: string,
  schema?: Readonly<Record<string, unknown>>,
): FilterCheck {
  const declared = schema === undefined ? null : declaredFields(schema);
  const key = `${eventName}\n${source}\n${declared === null ? "" : JSON.stringify(declared)}`;
  const known = filterVerdicts.get(key);
  if (known !== undefined) {
    // The least recently used are evicted first.
    filterVerdicts.delete(key);
    filterVerdicts.set(key, known);
    return known;
  }
  const compiled = compileFilter(source, eventName, declared);
  const verdict: FilterCheck = compiled.ok ? { ok: true } : compiled;
  if (key.length > maxKeptCharacters) return verdict;
  if (filterVerdicts.size >= maxFilterVerdicts)
    filterVerdicts.delete(filterVerdicts.keys().next().value ?? "");
  filterVerdicts.set(key, verdict);
  return verdict;
}
