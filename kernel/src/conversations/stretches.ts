/** A part of the entries that a conversation has: its own, or those of the one it was forked from. */
export interface Stretch {
  readonly conversation: string;
  /** The seq of its last entry here; Infinity: it has no end. */
  readonly through: number;
}

/** Forks of forks. */
const maxForks = 64;
/** No log gets so long; SQLite knows no infinity. */
export const maxSeq = Number.MAX_SAFE_INTEGER;

/** Returns where a conversation's entries are, the first ones first. */
export async function stretchesOf(
  id: string,
  originOf: (id: string) => Promise<{ readonly conversation: string; readonly seq: number } | null>,
): Promise<readonly Stretch[]> {
  const stretches: Stretch[] = [{ conversation: id, through: Infinity }];
  for (let forks = 0; forks < maxForks; forks++) {
    const origin = await originOf(stretches[0]?.conversation ?? id);
    if (origin === null) break;
    const through = Math.min(origin.seq, stretches[0]?.through ?? Infinity);
    stretches.unshift({ conversation: origin.conversation, through });
  }
  return stretches;
}

/** Returns each place once, up to the last of its ends. */
export function eachOnce(stretches: readonly Stretch[]): Stretch[] {
  const ends = new Map<string, number>();
  for (const { conversation, through } of stretches)
    ends.set(conversation, Math.max(ends.get(conversation) ?? 0, Math.min(through, maxSeq)));
  return [...ends].map(([conversation, through]) => ({ conversation, through }));
}
