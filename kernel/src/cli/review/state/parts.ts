import { applyPatch, parsePatch } from "diff";
import { hasContent } from "../../../base/vocabulary/effect-words.ts";
import type { Action, Effect } from "../../../base/vocabulary/action.ts";

/** A piece of a change that a person can leave out: an effect, or one hunk of a file's edit. */
export interface Part {
  readonly effect: number;
  /** Counted from 0; null for the effect as a whole. */
  readonly hunk: number | null;
}

/** Returns the parts of a change, in the order of its effects; empty if it can only be approved as a whole. */
export function partsOf(effects: readonly Effect[]): Part[] {
  const parts = effects.flatMap((effect, index): Part[] => {
    const hunks = isDivisible(effect, effects) ? hunksOf(effect.diff ?? "").length : 0;
    return hunks > 1
      ? Array.from({ length: hunks }, (_none, hunk) => ({ effect: index, hunk }))
      : [{ effect: index, hunk: null }];
  });
  return parts.length > 1 ? parts : [];
}

/** Returns the hunks of one file's unified diff, each with its head. */
export function hunksOf(diff: string): string[] {
  const hunks: string[] = [];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const last = hunks.length - 1;
    if (line.startsWith("@@ ")) hunks.push(line);
    else if (last >= 0) hunks[last] = `${hunks[last]}\n${line}`;
  }
  return hunks;
}

/** If an effect builds on another one of the same file, leaving out a hunk of one would change the other. */
function isDivisible(effect: Effect, effects: readonly Effect[]): boolean {
  return (
    hasContent(effect) &&
    (effect.kind === "file.edit" || effect.kind === "file.write") &&
    effect.before !== null &&
    effect.after !== null &&
    effects.every((other) => other === effect || (other.path !== effect.path && other.from !== effect.path))
  );
}

/** The parts to approve when the person leaves some out. */
interface Choice {
  /** Undefined if every effect is approved. */
  readonly effects?: readonly number[];
  /** The hunks to keep, by effect. Contains only effects of which some hunks are left out. */
  readonly hunks: ReadonlyMap<number, ReadonlySet<number>>;
}

/** Returns the choice without the left-out parts; null if nothing is left to approve. */
export function choiceOf(
  { effects }: Pick<Action, "effects">,
  parts: readonly Part[],
  leftOut: ReadonlySet<number>,
): Choice | null {
  if (leftOut.size === 0) return { hunks: new Map() };
  const kept = parts.filter((_part, index) => !leftOut.has(index));
  if (kept.length === 0) return null;
  const indices = [...new Set(kept.map(({ effect }) => effect))];
  const hunks = new Map<number, Set<number>>();
  for (const index of indices) {
    const all = parts.filter(({ effect, hunk }) => effect === index && hunk !== null);
    const stay = kept.flatMap(({ effect, hunk }) => (effect === index && hunk !== null ? [hunk] : []));
    if (stay.length < all.length) hunks.set(index, new Set(stay));
  }
  return indices.length === effects.length ? { hunks } : { effects: indices, hunks };
}

/**
 * Returns the text with only these hunks of the diff applied. Null if the diff does not lead exactly from `before` to
 * `after`, so that its hunks cannot be separated safely.
 */
export function withHunks(
  before: string,
  after: string,
  diff: string,
  kept: ReadonlySet<number>,
): string | null {
  const [patch] = parsePatch(diff);
  if (patch === undefined) return null;
  const apply = (hunks: typeof patch.hunks): string | false =>
    applyPatch(before, { ...patch, hunks }, { fuzzFactor: 0, autoConvertLineEndings: false });
  if (apply(patch.hunks) !== after) return null;
  const partial = apply(patch.hunks.filter((_hunk, index) => kept.has(index)));
  return partial === false ? null : partial;
}
