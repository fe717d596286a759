import type { Entry, Level } from "./messages.ts";

/** Entries kept in a view; the kernel's file has older ones, which are found by querying their time. */
export const maxRows = 5_000;

export interface Row {
  /** Unique in this view. */
  readonly key: number;
  readonly entry: Entry;
}

/** The rows of a view, oldest first. */
export interface Rows {
  readonly rows: readonly Row[];
  /** The number of entries that were dropped or never shown. */
  readonly collapsed: number;
  readonly nextKey: number;
  /** The entries of the query. Following passes entries on in batches, so some of them arrive once more afterwards. */
  readonly found: ReadonlySet<string>;
}

export const noRows: Rows = { rows: [], collapsed: 0, nextKey: 1, found: new Set() };

/** Appends entries that arrived while following, unless the query has found them; drops the oldest beyond the limit. */
export function withEntries(before: Rows, entries: readonly Entry[], dropped: number): Rows {
  const unknown = entries.filter((entry) => !before.found.has(identityOf(entry)));
  const added = unknown.map((entry, index) => ({ key: before.nextKey + index, entry }));
  const rows = [...before.rows, ...added];
  const excess = Math.max(0, rows.length - maxRows);
  return {
    rows: excess > 0 ? rows.slice(excess) : rows,
    collapsed: before.collapsed + dropped + excess,
    nextKey: before.nextKey + added.length,
    found: before.found,
  };
}

/**
 * Combines a query's result (newest first) with the entries that arrived meanwhile. An entry in both is shown once: it
 * was written between the start of following and the query.
 */
export function fromQuery(found: readonly Entry[], meanwhile: Rows): Rows {
  const known = new Set(meanwhile.rows.map(({ entry }) => identityOf(entry)));
  const older = found.filter((entry) => !known.has(identityOf(entry))).toReversed();
  const all = withEntries({ ...noRows, nextKey: meanwhile.nextKey }, older, 0);
  const live = meanwhile.rows.map(({ entry }) => entry);
  const shown = withEntries({ ...all, collapsed: 0 }, live, meanwhile.collapsed);
  return { ...shown, found: new Set(found.map(identityOf)) };
}

const identityOf = ({ timestamp, spanId, level, message }: Entry): string =>
  `${timestamp} ${spanId} ${level} ${message}`;

const levels: readonly Level[] = ["debug", "info", "warn", "error"];

interface RowFilter {
  readonly level?: Level | undefined;
  readonly agent?: string | undefined;
  readonly text: string;
}

/** Matches like the kernel: in the message, ignoring case. */
export function matching(rows: readonly Row[], { level, agent, text }: RowFilter): readonly Row[] {
  const words = text.toLowerCase();
  const least = level === undefined ? 0 : levels.indexOf(level);
  if (words === "" && least <= 0 && agent === undefined) return rows;
  return rows.filter(
    ({ entry }) =>
      (agent === undefined || entry.agent === agent) &&
      levels.indexOf(entry.level) >= least &&
      (words === "" || entry.message.toLowerCase().includes(words)),
  );
}

/** Formats an entry on one line, for the clipboard. */
export function lineOf({ timestamp, level, agent, hook, message, fields }: Entry): string {
  const where = hook === undefined ? agent : `${agent} ${hook}`;
  return [timestamp, level, where, message, ...(fields === undefined ? [] : [fields])].join("\t");
}
