/**
 * How much an action would change, from 0 (nothing) to 1 (everything): the published formula.
 *
 * An effect scores `base + share × weight + size`, at most 1, with these terms:
 *
 *   kind        base   share weight   why
 *   metadata    0.002  0              tags, fields, sidecars: beside the file, never in it
 *   folder      0.01   0              an empty folder
 *   create      0.03   0              nothing is lost, something is added
 *   move        0.04   0              every byte stays; links to it may break
 *   edit        0.05   0.25           of what is there, `changedShare` becomes different
 *   overwrite   0.10   0.35           the same, without having named what it replaces
 *   delete      0.30   0.30           all of it goes; share is 1, so never below 0.6
 *
 *   size        0.02 × log2(1 + MiB), at most 0.2, of the bytes that are added, changed or removed;
 *               for a move of a folder, also 0.01 × log2(1 + files in it), at most 0.2
 *   a copy of the removed content stays in the workspace: delete scores a third
 *   protected   at least 0.9
 *
 * An action combines its effects as independent chances of going wrong: 1 − Π (1 − score). So it is at
 * least its largest effect, grows with each further one, never exceeds 1, and does not depend on order.
 */
export function impactOf(effects: readonly ImpactFacts[]): number {
  const untouched = effects.reduce((rest, effect) => rest * (1 - effectImpact(effect)), 1);
  return round(1 - untouched);
}

/** The properties of one effect that the formula uses. */
export interface ImpactFacts {
  readonly kind: "metadata" | "folder" | "create" | "move" | "edit" | "overwrite" | "delete";
  /** How much of the larger version differs, 0–1: see `changedShare`. Ignored for kinds without a share weight. */
  readonly changedShare?: number;
  /** Bytes that are added, changed or removed; none for a move within the workspace. */
  readonly bytes?: number;
  /** For a move of a folder: the number of files in it. */
  readonly files?: number;
  /** True if the content that a delete removes also exists elsewhere in the workspace. */
  readonly copyRemains?: boolean;
  readonly protected?: boolean;
}

function effectImpact(effect: ImpactFacts): number {
  const { base, shareWeight } = weights[effect.kind];
  const share = effect.kind === "delete" ? 1 : clamp(effect.changedShare ?? 0);
  const size = Math.min(0.2, 0.02 * Math.log2(1 + Math.max(0, effect.bytes ?? 0) / 1048576));
  const spread = Math.min(0.2, 0.01 * Math.log2(1 + Math.max(0, effect.files ?? 0)));
  let score = base + shareWeight * share + size + spread;
  if (effect.kind === "delete" && effect.copyRemains === true) score /= 3;
  if (effect.protected === true) score = Math.max(score, 0.9);
  return round(clamp(score));
}

const weights: Readonly<Record<ImpactFacts["kind"], { base: number; shareWeight: number }>> = {
  metadata: { base: 0.002, shareWeight: 0 },
  folder: { base: 0.01, shareWeight: 0 },
  create: { base: 0.03, shareWeight: 0 },
  move: { base: 0.04, shareWeight: 0 },
  edit: { base: 0.05, shareWeight: 0.25 },
  overwrite: { base: 0.1, shareWeight: 0.35 },
  delete: { base: 0.3, shareWeight: 0.3 },
};

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

/** Four decimals, so that the number a person reads is the one that is compared with the threshold. */
const round = (value: number): number => Math.round(value * 10_000) / 10_000;

/** Bytes of a line that count as one row; a longer line counts as several. */
export const rowBytes = 120;

/** The number of steps in which the changed part of a single row is measured, rounded up. */
const rowSteps = 8;

/**
 * Returns how much of the larger version lies between the common beginning and the common end, 0–1: an upper bound of
 * what a diff would show. It counts rows, as a person reads them, and not bytes: otherwise the same change, such as a
 * heading that names its file, would score higher for a longer name. If the change lies within one row, it counts the
 * differing part of that row in eighths: one word of a short file's only line is not all of the file.
 */
export function changedShare(before: Uint8Array, after: Uint8Array): number {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  if (start === shorter && before.length === after.length) return 0;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const changed = Math.max(changedRows(before, start, end), changedRows(after, start, end));
  const rows = Math.max(rowsIn(before, 0, before.length), rowsIn(after, 0, after.length));
  const part = changed === 1 ? Math.max(changedPart(before, start, end), changedPart(after, start, end)) : 1;
  return Math.min(1, (changed * part) / rows);
}

/** Returns the share of its row that the changed part takes, 0–1, in steps of `rowSteps`; 1 for a whole row. */
function changedPart(text: Uint8Array, start: number, end: number): number {
  const to = text.length - end;
  const changedBytes = to - start;
  if (changedBytes <= 0) return 1 / rowSteps;
  let left = start;
  while (left > 0 && start - left < rowBytes && text[left - 1] !== lineFeed) left--;
  let right = to;
  while (right < text.length && right - to < rowBytes && text[right] !== lineFeed) right++;
  const lineBytes = Math.min(rowBytes, right - left);
  return Math.min(1, Math.ceil((rowSteps * changedBytes) / lineBytes) / rowSteps);
}

const lineFeed = 10;

/** Returns the number of rows that contain a byte between the common beginning and the common end. */
function changedRows(text: Uint8Array, start: number, end: number): number {
  const to = text.length - end;
  return start === to ? 0 : rowsIn(text, start, to);
}

/** Counts the rows that begin or continue between two positions; a row ends with a line feed, or after `rowBytes`. */
function rowsIn(text: Uint8Array, from: number, to: number): number {
  let rows = 0;
  let length = 0;
  for (let at = from; at < to; at++) {
    if (length === 0) rows++;
    length = text[at] === lineFeed || length + 1 === rowBytes ? 0 : length + 1;
  }
  return rows;
}
