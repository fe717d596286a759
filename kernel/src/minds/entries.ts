import { isoTime, type Clock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import type { Entry, Process } from "../base/vocabulary/conversation.ts";
import type { Change } from "../base/vocabulary/interception.ts";
import { type Inherited, taintOf } from "../context/taint.ts";
import type { NewEntry } from "../conversations/records.ts";

/** Where the text of an entry comes from. */
export interface Provenance {
  readonly origin: string;
  readonly sources?: readonly string[];
  readonly isTainted?: boolean;
}

type Fields = {
  [Kind in Entry["kind"]]: { readonly kind: Kind } & Omit<
    Extract<NewEntry, { kind: Kind }>,
    "kind" | "id" | "process" | "created" | "origin" | "turn" | "sources" | "tainted"
  >;
}[Entry["kind"]];

/** Makes the entries of one process in one turn. */
export interface EntryMaker {
  readonly process: string;
  /** The id of the entry that began the turn. */
  readonly turn: string;
  readonly clock: Clock;
}

/** Returns an entry that is not in the log yet. */
export function entryOf(
  { process, turn, clock }: EntryMaker,
  fields: Fields,
  { origin, sources = [], isTainted = false }: Provenance,
  id = newId(),
): NewEntry {
  const entry = {
    id,
    process,
    turn: turn === "" ? id : turn,
    created: isoTime(clock.now()),
    origin,
    ...(sources.length === 0 ? {} : { sources: [...sources] }),
    ...(isTainted ? { tainted: true as const } : {}),
    ...fields,
  };
  return entry;
}

/** Returns the entry that says how a process stands. */
export function processEntry(maker: EntryMaker, value: Process): NewEntry {
  return entryOf(maker, { kind: "process", value }, { origin: "workspace" });
}

/** Returns the entry of an interceptor's change: it has the id of the one that it replaces, and inherits its taint. */
export function changedEntry<Value>(
  maker: EntryMaker,
  fields: Fields,
  { by, origin, isTainted, sources = [] }: Change<Value>,
  original: Pick<NewEntry, "id" | "sources" | "tainted">,
): NewEntry {
  const provenance = {
    origin,
    isTainted: isTainted || original.tainted === true,
    sources: [...new Set([...(original.sources ?? []), ...sources])],
  };
  return { ...entryOf(maker, fields, provenance, original.id), by };
}

/** Returns what a text inherits that was made with an interceptor's change. */
export function taintedBy<Value>({ isTainted, sources }: Change<Value>): Inherited {
  return {
    ...(sources === undefined ? {} : { sources: [...sources] }),
    ...(isTainted ? { tainted: true as const } : {}),
  };
}

/** Returns a request's entry that names who added to the request. */
export function addedBy<Value>(entry: NewEntry, changes: readonly Change<Value>[]): NewEntry {
  if (changes.length === 0) return entry;
  const by = [...new Set(changes.map((change) => change.by))].join(", ");
  return { ...entry, by, ...taintOf(changes.map(taintedBy)) };
}
