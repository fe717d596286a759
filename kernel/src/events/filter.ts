import { messageOf } from "../base/errors.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import { Budget } from "./budget.ts";
import { correctNodes } from "./corrections.ts";
import { createLanguage, filterLimits, type FilterLanguage, type FilterScope } from "./environment.ts";
import { rootOf, type ParsedFilter } from "./expression.ts";
import type { Field } from "./event-type.ts";
import { explainFault, faultOfMembers, faultOfPatterns, type FilterFault } from "./faults.ts";
import { findOldSpelling } from "./spellings.ts";
import { eventType, isCustomEvent } from "./types.ts";

/** Whether an event passes. If the evaluation failed, the event does not pass and `reason` says why. */
interface FilterOutcome {
  readonly matches: boolean;
  readonly reason?: string;
}

export interface CompiledFilter {
  readonly ok: true;
  /** Never throws: if the filter cannot be evaluated, the event does not match. */
  readonly evaluate: (event: LaresEvent, scope: FilterScope) => boolean;
  /** The same, with the reason why a filter could not be evaluated. */
  readonly explain: (event: LaresEvent, scope: FilterScope) => FilterOutcome;
}

type Filter = CompiledFilter | FilterFault;

/** One language per event. Custom events share one, because their fields are not known in advance. */
const languages = new Map<string, FilterLanguage>();

export function languageOf(eventName: string): FilterLanguage {
  const key = eventType(eventName) === undefined ? "custom" : eventName;
  const language = languages.get(key) ?? createLanguage(eventName);
  languages.set(key, language);
  return language;
}

/**
 * Compiles a filter (CEL) for the events of this name, and checks its types against their fields: those of a built-in
 * event, or the declared ones of a custom event. `offset` and `length` of a fault count UTF-16 units of `source`.
 */
export function compileFilter(
  source: string,
  eventName: string,
  declared: Readonly<Record<string, Field>> | null = null,
): Filter {
  if (source.length > filterLimits.length) {
    return fault(
      `The filter has ${source.length} characters; at most ${filterLimits.length} are allowed.`,
      0,
      0,
    );
  }
  if (source.trim() === "")
    return fault("The filter is empty; leave it out to receive every event.", 0, source.length);
  if (eventType(eventName) === undefined && !isCustomEvent(eventName)) {
    return fault(`There is no event "${eventName}" that the filter could apply to.`, 0, source.length);
  }
  const language = declared === null ? languageOf(eventName) : createLanguage(eventName, declared);

  let parsed: ParsedFilter;
  try {
    parsed = language.environment.parse(source);
  } catch (error) {
    return explainFault(error, { source, eventName, language, root: undefined });
  }
  const root = rootOf(parsed);
  const old = findOldSpelling(source, root);
  if (old !== undefined) return { ok: false, oldSpelling: true, ...old };
  const pattern = faultOfPatterns(source, root);
  if (pattern !== undefined) return pattern;
  const member = declared === null ? undefined : faultOfMembers({ source, eventName, language, root });
  if (member !== undefined) return member;
  correctNodes(root);
  const checked = parsed.check();
  if (!checked.valid) return explainFault(checked.error, { source, eventName, language, root });
  // A type that depends on the event's data (dyn) is checked to be a boolean when the filter is evaluated.
  if (checked.type !== "bool" && checked.type?.startsWith("dyn") !== true) {
    return fault(
      `A filter answers true or false; this one is of type ${checked.type ?? "unknown"}.`,
      0,
      source.length,
    );
  }
  const budget = new Budget(root);
  const explain = (event: LaresEvent, scope: FilterScope): FilterOutcome => {
    budget.reset();
    language.session.scope = scope;
    language.session.spend = (steps) => budget.spend(steps);
    try {
      const value: unknown = parsed(language.valuesOf(event));
      if (typeof value === "boolean") return { matches: value && !budget.exhausted };
      return { matches: false, reason: `The filter answered ${typeof value} where true or false is needed.` };
    } catch (error) {
      return { matches: false, reason: summaryOf(error) };
    } finally {
      language.session.scope = null;
    }
  };
  return { ok: true, explain, evaluate: (event, scope) => explain(event, scope).matches };
}

function summaryOf(error: unknown): string {
  // The library's messages quote the source under a headline; the headline is enough.
  return messageOf(error).split("\n")[0] ?? "";
}

function fault(message: string, offset: number, length: number): FilterFault {
  return { ok: false, message, offset, length };
}
