import { otherSources } from "./bounds.ts";
/**
 * The deeds that a text which nobody vouches for concerns: everything that whoever has read it does, or only what is done
 * and answered for minds.
 */
type Reach = "all" | "minds";

/** Texts that nobody vouches for, by where they come from. */
export type Foreign = Readonly<Record<string, Reach>>;

/** The untrusted texts that one guest has read. Grows while the guest runs and is final once it has ended. */
export interface ReadTexts {
  readonly foreign: Foreign;
}

export const nothingForeign: Foreign = {};

/** The place of a memory, by which what agents keep is marked: the agent's own memory, or a shared one by its name. */
export const memoryPlace = (agent: string, namespace = `extension/${agent}`): string => `memory ${namespace}`;

/** The place of a memory's plan. */
export const planPlace = (memory: string): string => `plan of ${memory}`;

/** The place of the values of a shared type; the items are their keys. */
export const typePlace = (type: string): string => `type ${type}`;

/** The place of what an agent proposed; the items are the ids of its actions. */
export const actionPlace = (agent: string): string => `actions of ${agent}`;

/** Sources that are told apart; more are only counted as one more. */
const maxSources = 64;

export function isForeign(foreign: Foreign): boolean {
  for (const _source in foreign) return true;
  return false;
}

/** Returns the sources whose texts concern everything. */
export function sourcesOfAll(foreign: Foreign): string[] {
  return Object.keys(foreign).filter((source) => foreign[source] === "all");
}

/** Returns the texts of these sources. */
export function foreignFrom(sources: readonly string[], reach: Reach): Foreign {
  return sources.length === 0 ? nothingForeign : Object.fromEntries(sources.map((source) => [source, reach]));
}

/** Returns both together. The wider reach of a source counts. */
export function bothForeign(one: Foreign, other: Foreign): Foreign {
  if (!isForeign(other)) return one;
  if (!isForeign(one)) return other;
  const both = new Map(Object.entries(one));
  for (const [source, reach] of Object.entries(other)) {
    const name = both.has(source) || both.size < maxSources - 1 ? source : otherSources;
    if (both.get(name) !== "all") both.set(name, reach);
  }
  return Object.fromEntries(both);
}
