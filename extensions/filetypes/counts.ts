/** The fields of an entry that are needed to count it. */
interface CountedEntry {
  readonly kind: "file" | "folder";
  readonly extension: string;
  readonly media: string;
  readonly size: number;
}

export interface TypeCount {
  /** Lower case, no dot; "" for files without one. */
  extension: string;
  media: string;
  files: number;
  bytes: number;
}

/** Working memory: the last counts, and the types that have changed since. */
export interface Counts {
  /** Null until the first full count. */
  counted: string | null;
  types: TypeCount[];
  /** The sum of the types that did not fit into `types`, so that the totals stay right. */
  rest: { types: number; files: number; bytes: number };
  changed: string[];
}

/** A memory is one message of at most 1 MiB; this many types stay far below that. */
export const maxTypes = 2000;

export function noCounts(): Counts {
  return { counted: null, types: [], rest: { types: 0, files: 0, bytes: 0 }, changed: [] };
}

/**
 * Returns the types under which a path may have been counted. There are two if conventions differ: a dot-file like
 * `.env` has no extension, or the extension "env". A type too many costs one query; a type too few leaves a wrong
 * number.
 */
export function typesOfPath(path: string): string[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  if (dot === -1) return [""];
  const extension = name.slice(dot + 1).toLowerCase();
  return dot === 0 ? ["", extension] : [extension];
}

/** Sums entries by type, the most numerous first. */
export class Tally {
  readonly #types = new Map<string, TypeCount>();

  add(entry: CountedEntry): void {
    if (entry.kind !== "file") return;
    const known = this.#types.get(entry.extension);
    if (known) {
      known.files += 1;
      known.bytes += entry.size;
      return;
    }
    const { extension, media, size } = entry;
    this.#types.set(extension, { extension, media, files: 1, bytes: size });
  }

  result(): TypeCount[] {
    return [...this.#types.values()].toSorted(byFiles);
  }
}

function byFiles(a: TypeCount, b: TypeCount): number {
  return b.files - a.files || b.bytes - a.bytes || (a.extension < b.extension ? -1 : 1);
}

/** Marks types whose numbers may be outdated. Marking twice does no harm, because nothing is added up. */
export function markChanged(counts: Counts, extensions: readonly string[]): Counts {
  return { ...counts, changed: [...new Set([...counts.changed, ...extensions])] };
}

/** Removes marks. Call it before counting: a change during the count marks its type again, and that mark must stay. */
export function unmark(counts: Counts, extensions: readonly string[]): Counts {
  return { ...counts, changed: counts.changed.filter((marked) => !extensions.includes(marked)) };
}

export function areMarked(counts: Counts, extensions: readonly string[]): boolean {
  return extensions.every((extension) => counts.changed.includes(extension));
}

/** Replaces everything by a full count. */
export function countedAll(counts: Counts, types: readonly TypeCount[], counted: string): Counts {
  const kept = types.slice(0, maxTypes);
  const rest = { types: 0, files: 0, bytes: 0 };
  for (const type of types.slice(maxTypes)) {
    rest.types += 1;
    rest.files += type.files;
    rest.bytes += type.bytes;
  }
  return { ...counts, counted, types: kept, rest };
}

/** Replaces the count of one type; `count` is null if no file of this type is left. */
export function countedOne(counts: Counts, extension: string, count: TypeCount | null): Counts {
  const others = counts.types.filter((type) => type.extension !== extension);
  const types = count === null ? others : [...others, count].toSorted(byFiles);
  return { ...counts, types };
}

/** A type that is only part of the sum cannot be counted by itself. */
export function needsFullCount(counts: Counts): boolean {
  return counts.counted === null || counts.rest.types > 0 || counts.types.length >= maxTypes;
}

export interface Summary {
  total: number;
  bytes: number;
  by_type: TypeCount[];
  /** The number of all types; `by_type` may list only the first of them. */
  types: number;
}

export function summarise(counts: Counts, top: number = maxTypes): Summary {
  const { types, rest } = counts;
  return {
    total: types.reduce((sum, type) => sum + type.files, rest.files),
    bytes: types.reduce((sum, type) => sum + type.bytes, rest.bytes),
    by_type: types.slice(0, top),
    types: types.length + rest.types,
  };
}
