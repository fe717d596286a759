import { count } from "../shared/format.ts";
import type { Card, FileSign, Section } from "./messages.ts";

/** The person's filter of the list; undefined for all. */
export interface Filter {
  readonly agent?: string | undefined;
  readonly folder?: string | undefined;
  readonly kind?: FileSign | undefined;
}

/** Cards of a section that are drawn before the person asks for more. */
export const pageOfCards = 50;

/** Cards that are added when the keys reach the last one: so few that the delay is not noticeable. */
export const cardsByKey = 5;

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

function matches(card: Card, { agent, folder, kind }: Filter): boolean {
  return (
    (agent === undefined || card.agent === agent) &&
    (folder === undefined || card.folders.includes(folder)) &&
    (kind === undefined || card.kinds.includes(kind))
  );
}

/**
 * Returns the cards that pass the filter, by section. Waiting ones are sorted oldest first, so that a new one moves
 * nothing that is about to be pressed; ended ones newest first.
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

/** ISO 8601 and UUIDv7 sort as text. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** An option of a filter, with the number of waiting cards. */
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

/**
 * Returns the card that gets the focus after `id` was decided: of those that waited `before`, the one after it that
 * still waits, otherwise the one before it. Undefined if nothing else waits.
 */
export function nextWaiting(
  before: readonly string[],
  now: readonly string[],
  id: string,
): string | undefined {
  const at = before.indexOf(id);
  if (at < 0) return undefined;
  const still = new Set(now);
  return [...before.slice(at + 1), ...before.slice(0, at).toReversed()].find((each) => still.has(each));
}

/** Returns the card after `id`, if `id` is the last one of its section that is drawn and the section has more. */
export function firstUndrawn(
  drawn: readonly { readonly section: Section; readonly cards: readonly Pick<Card, "id">[] }[],
  lists: Readonly<Record<Section, readonly Pick<Card, "id">[]>>,
  id: string | undefined,
): { readonly section: Section; readonly id: string } | undefined {
  for (const { section, cards } of drawn) {
    const next = lists[section][cards.length];
    if (next !== undefined && cards.at(-1)?.id === id) return { section, id: next.id };
  }
  return undefined;
}

/** Returns the title of the page, with the number of waiting cards. */
export function titleOf(waiting: number): string {
  if (waiting === 0) return "Nothing waits for you";
  return waiting === 1 ? "1 change waits for you" : `${count(waiting)} changes wait for you`;
}

/** The number of failures of a batch that are announced. */
const maxNamedFailures = 5;

/** Returns the result of a decision about several cards in words. */
export function batchWords(
  what: string,
  { done, failures }: { done: number; failures: readonly string[] },
): string {
  const failed =
    failures.length === 0
      ? ""
      : ` ${count(failures.length)} not: ${failures.slice(0, maxNamedFailures).join(" ")}`;
  return `${what} ${count(done)}.${failed}`;
}
