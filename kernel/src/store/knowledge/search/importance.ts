/**
 * How much an item of knowledge counts now. The formula is part of the contract:
 *
 *   recency    = 1 for the variant "Identity", else 0.5 ^ (age / 30 days)
 *   base       = explicit × (0.25 + 0.75 × recency)
 *   effective  = base + (1 − base) × (0.3 × recency × A/(A + 8) + 0.2 × R/(R + 8))
 *
 * `age` is the time since the item was stored, changed or last found, whichever was last (never below 0); A
 * is how often it was found, R the number of its relations, incoming and outgoing. The result is between 0
 * and 1. It falls with time to no less than a quarter of `explicit`, and rises with every use and every
 * relation, each a little less than the one before.
 */
export interface ImportanceFactors {
  readonly variant: string;
  /** The importance that the agent gave, 0 to 1. */
  readonly explicit: number;
  /** When the item was stored, changed or found, whichever was last. */
  readonly freshMs: number;
  readonly accesses: number;
  /** Incoming and outgoing. */
  readonly relations: number;
}

export const defaultImportance = 0.5;
/** What an agent says about itself or its person does not fade. */
const lastingVariant = "Identity";
const halfLifeMs = 30 * 24 * 60 * 60 * 1000;
const lastingPart = 0.25;
const accessWeight = 0.3;
const relationWeight = 0.2;
/** The number of accesses or relations that gives half of the maximum weight. */
const halfWorth = 8;

/** Returns the effective importance, 0 to 1. */
export function effectiveImportance(item: ImportanceFactors, nowMs: number): number {
  const recency =
    item.variant === lastingVariant ? 1 : 0.5 ** (Math.max(0, nowMs - item.freshMs) / halfLifeMs);
  const base = item.explicit * (lastingPart + (1 - lastingPart) * recency);
  const raised =
    accessWeight * recency * (item.accesses / (item.accesses + halfWorth)) +
    relationWeight * (item.relations / (item.relations + halfWorth));
  return base + (1 - base) * raised;
}

/**
 * Returns the same formula as SQL to order by: over columns `variant`, `importance`, `fresh_ms`, `accesses`,
 * `relations`. `nowMs` is a number of the host's own, never from a caller's text.
 */
export function importanceSql(nowMs: number): string {
  const recency =
    `(case when variant = '${lastingVariant}' then 1.0 ` +
    `else pow(0.5, greatest(0, ${Math.trunc(nowMs)} - fresh_ms) / ${halfLifeMs}.0) end)`;
  const base = `(importance * (${lastingPart} + ${1 - lastingPart} * ${recency}))`;
  const raised =
    `(${accessWeight} * ${recency} * (accesses / (accesses + ${halfWorth}.0)) + ` +
    `${relationWeight} * (relations / (relations + ${halfWorth}.0)))`;
  return `(${base} + (1 - ${base}) * ${raised})`;
}
