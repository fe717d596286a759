import type { Card, FileSign, Section } from "./messages.ts";

/** What the person narrowed the list to; undefined: all. */
export interface Filter {
  readonly agent?: string | undefined;
  readonly folder?: string | undefined;
  readonly kind?: FileSign | undefined;
}

/** Cards of a section that are drawn before the person asks for more. */
export const pageOfCards = 50;

export const sections = [
  "waiting",
  "outdated",
  "automatic",
  "replaced",
  "decided",
] as const satisfies Section[];

export type Cards = ReadonlyMap<string, Card>;

/** Returns the cards with changed ones replaced and gone ones removed; the others stay the same objects. */
export function merged(cards: Cards, changed: readonly Card[], gone: readonly string[]): Cards {
  const next = new Map(cards);
  for (const id of gone) next.delete(id);
  for (const card of changed) next.set(card.id, card);
  return next;
}

export function matches(card: Card, { agent, folder, kind }: Filter): boolean {
  return (
    (agent === undefined || card.agent === agent) &&
    (folder === undefined || card.folders.includes(folder)) &&
    (kind === undefined || card.kinds.includes(kind))
  );
}

/**
 * The cards that the filter leaves, by section: what waits oldest first, so that what arrives moves nothing that is
 * about to be pressed, and what ended newest first.
 */
export function bySection(cards: Cards, filter: Filter): Readonly<Record<Section, readonly Card[]>> {
  const found: Record<Section, Card[]> = {
    waiting: [],
    outdated: [],
    automatic: [],
    replaced: [],
    decided: [],
  };
  for (const card of cards.values()) if (matches(card, filter)) found[card.section].push(card);
  const created = (one: Card, other: Card): number =>
    compare(one.created, other.created) || compare(one.id, other.id);
  const ended = (one: Card, other: Card): number =>
    compare(other.ended ?? other.created, one.ended ?? one.created) || compare(other.id, one.id);
  found.waiting.sort(created);
  for (const section of ["outdated", "automatic", "replaced", "decided"] as const) found[section].sort(ended);
  return found;
}

/** ISO 8601 and UUIDv7 sort as texts. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** A choice of a filter, with how many wait there. */
export interface Option<Value> {
  readonly value: Value;
  readonly count: number;
}

export interface Options {
  readonly agents: readonly Option<string>[];
  readonly folders: readonly Option<string>[];
  readonly kinds: readonly Option<FileSign>[];
  readonly all: number;
}

/** Returns the filter options that occur among the waiting cards, with the number of cards for each. */
export function optionsOf(cards: Cards): Options {
  const agents = new Map<string, number>();
  const folders = new Map<string, number>();
  const kinds = new Map<FileSign, number>();
  let all = 0;
  for (const card of cards.values()) {
    if (card.section !== "waiting") continue;
    all += 1;
    agents.set(card.agent, (agents.get(card.agent) ?? 0) + 1);
    for (const folder of card.folders) folders.set(folder, (folders.get(folder) ?? 0) + 1);
    for (const kind of card.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const options = <Value extends string>(found: Map<Value, number>): Option<Value>[] =>
    [...found]
      .map(([value, count]) => ({ value, count }))
      .toSorted((one, other) => compare(one.value, other.value));
  return { agents: options(agents), folders: options(folders), kinds: options(kinds), all };
}

/** Returns the card that takes the focus when `id` is decided: the next one, or the previous one if it was the last. */
export function neighbourOf(order: readonly string[], id: string): string | undefined {
  const at = order.indexOf(id);
  return at < 0 ? order[0] : (order[at + 1] ?? order[at - 1]);
}
