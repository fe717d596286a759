import type { Entry } from "../base/vocabulary/conversation.ts";
import { textOf } from "./entry-text.ts";
import { pictureCount } from "./pictures.ts";
import type { ContextPrefix, Summary } from "./prefix.ts";
import { withoutReplaced } from "./replaced.ts";
import { taintOf } from "./taint.ts";
import { estimateTokens, imageTokens, type Pressure } from "./tokens.ts";
import { firstShown } from "./transcript.ts";

/** The entries that a compaction takes out of the context. */
export interface CompactionPlan {
  readonly level: Exclude<Pressure, "none">;
  /** The seqs that the new summary stands for, with those of the summaries that it replaces. */
  readonly covers: readonly [number, number];
  readonly covered: readonly Entry[];
  /** Older summaries that together take too much of the window: the new summary replaces them. */
  readonly merged: readonly Summary[];
  /** How long the summary should be at most. */
  readonly summaryTokens: number;
}

export interface PlanInput {
  readonly prefix: ContextPrefix;
  /** Entries of one process after `prefix.after`, in order. */
  readonly entries: readonly Entry[];
  readonly level: Exclude<Pressure, "none">;
  /** The model's window in tokens. */
  readonly limit: number;
  /**
   * Where a cut may be: between turns, or before a request within a turn. The latter is for branches and workers, which
   * have one turn, and whose task is carried over.
   */
  readonly cuts?: "turns" | "requests";
}

/** Shares of the window that the history keeps: at least, and at most if a cut allows it. */
const kept = {
  background: { least: 0.3, most: 0.5 },
  aggressive: { least: 0.2, most: 0.4 },
  emergency: { least: 0.4, most: 0.5 },
} as const;
/** Background work that frees less than this share of the window is not worth a request. */
const leastGain = 0.05;
/** From this share of the window on, older summaries are merged into the next one. */
const summariesShare = 0.1;
const summaryShare = { background: 0.05, aggressive: 0.025, emergency: 0.025 } as const;
const summaryTokens = { least: 200, most: 4_000 } as const;

/**
 * Returns which entries a compaction covers, oldest first; null if none can leave, or if a transcript would show nothing of
 * them. A cut is never within a turn, nor between a message, its request, a call and what belongs to them. The current turn
 * stays.
 */
export function planCompaction(input: PlanInput): CompactionPlan | null {
  const { prefix, level, limit } = input;
  const isMerged = level !== "emergency" && sumTokens(prefix.summaries) > limit * summariesShare;
  return planAt(input, cutOf(input), isMerged ? prefix.summaries : []);
}

/** Returns the plan that covers what an earlier plan did; null if that cannot leave now, or would take a part of a summary. */
export function planThrough(input: PlanInput, [from, to]: CompactionPlan["covers"]): CompactionPlan | null {
  const { prefix, entries, cuts = "turns" } = input;
  const cut = entries.findLastIndex((entry) => entry.seq <= to) + 1;
  if (entries[cut - 1]?.seq !== to || !allowedCuts(entries, cuts)(cut)) return null;
  const merged = prefix.summaries.filter(({ covers }) => covers[0] >= from);
  return (merged[0]?.covers[0] ?? prefix.after + 1) === from ? planAt(input, cut, merged) : null;
}

function planAt(
  { prefix, entries, level, limit }: PlanInput,
  cut: number,
  merged: readonly Summary[],
): CompactionPlan | null {
  const last = entries[cut - 1];
  if (last === undefined) return null;
  const { least, most } = summaryTokens;
  return {
    level,
    covers: [merged[0]?.covers[0] ?? prefix.after + 1, last.seq],
    covered: withoutReplaced(entries.slice(0, cut)),
    merged,
    summaryTokens: Math.round(Math.max(least, Math.min(most, limit * summaryShare[level]))),
  };
}

const sumTokens = (texts: readonly { readonly text: string }[]): number =>
  texts.reduce((sum, { text }) => sum + estimateTokens(text), 0);

/** Returns the number of entries that leave; 0 for none. */
function cutOf({ entries, level, limit, cuts = "turns" }: PlanInput): number {
  const isAllowed = allowedCuts(entries, cuts);
  const { least, most } = kept[level];
  const sizes = entries.map(entryTokens);
  const total = sizes.reduce((sum, each) => sum + each, 0);
  const gains = (keptTokens: number): boolean =>
    level !== "background" || total - keptTokens >= limit * leastGain;
  let keptTokens = 0;
  /** The last allowed cut that keeps less than the wanted share, and what it keeps. */
  let shorter: { readonly at: number; readonly keptTokens: number } | null = null;
  let shortest = 0;
  for (let at = entries.length - 1; at > 0; at--) {
    keptTokens += sizes[at] ?? 0;
    if (!isAllowed(at)) continue;
    if (shortest === 0) shortest = at;
    if (keptTokens < limit * least) {
      shorter = { at, keptTokens };
      continue;
    }
    // One very long turn would stay: keeping less than the wanted share is better than that.
    const chosen = keptTokens > limit * most && shorter !== null ? shorter : { at, keptTokens };
    return gains(chosen.keptTokens) ? chosen.at : 0;
  }
  // The history is short, so something else fills the window; only its current turn is sure to be needed.
  return level === "background" ? 0 : shortest;
}

/** Returns a function that says whether the entries may be cut before an index: something before it must have been shown. */
function allowedCuts(entries: readonly Entry[], cuts: "turns" | "requests"): (index: number) => boolean {
  const spans = new Map<string, { first: number; last: number }>();
  const add = (name: string, index: number): void => {
    const span = spans.get(name);
    if (span === undefined) spans.set(name, { first: index, last: index });
    else span.last = index;
  };
  const open = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    if (cuts === "turns") add(`turn ${entry.turn}`, index);
    if (entry.kind === "message") add(`message ${entry.id}`, index);
    else if (entry.kind === "request" || entry.kind === "void") add(`message ${entry.message}`, index);
    else if (entry.kind === "tool_call") open.set(entry.call, index);
    else if (entry.kind === "tool_result") {
      const call = open.get(entry.call);
      if (call === undefined) continue;
      add(`call ${call}`, call);
      add(`call ${call}`, index);
    }
  }
  // The number of spans that a cut before each index would split.
  const changes = new Int32Array(entries.length + 2);
  for (const { first, last } of spans.values()) {
    changes[first + 1]! += 1;
    changes[last + 1]! -= 1;
  }
  const split = new Int32Array(entries.length + 1);
  for (let at = 0, count = 0; at < split.length; at++) split[at] = count += changes[at] ?? 0;
  const first = firstShown(withoutReplaced(entries));
  return (index) =>
    (entries[index - 1]?.seq ?? 0) >= first &&
    split[index] === 0 &&
    (cuts === "turns" || entries[index]?.kind === "request");
}

/** Per entry: roles, names and ids. */
const overheadTokens = 12;

/** Entries stay as they are, and a plan is made again before each request while the window is nearly full. */
const knownTokens = new WeakMap<Entry, number>();

function entryTokens(entry: Entry): number {
  const known = knownTokens.get(entry);
  if (known !== undefined) return known;
  const tokens = countedTokens(entry);
  knownTokens.set(entry, tokens);
  return tokens;
}

function countedTokens(entry: Entry): number {
  if (entry.kind === "message" && entry.partial === true) return 0;
  const text = textOf(entry);
  return text === "" ? 0 : overheadTokens + estimateTokens(text) + pictureCount(entry) * imageTokens;
}

/** The entries that are left out if there is no time for a model. */
interface LeftOut {
  readonly plan: CompactionPlan;
  readonly summary: Summary;
}

/**
 * Returns the oldest entries to leave out without a model, and the text that stands for them; null if none can leave.
 * Texts of several such steps in a row become one.
 */
export function leaveOldestOut(input: Omit<PlanInput, "level">): LeftOut | null {
  const plan = planCompaction({ ...input, level: "emergency" });
  if (plan === null) return null;
  const before = input.prefix.summaries.at(-1);
  const merged = before?.leftOut === undefined ? [] : [before];
  const covers = [merged[0]?.covers[0] ?? plan.covers[0], plan.covers[1]] as const;
  const count = plan.covered.length + (merged[0]?.leftOut ?? 0);
  const taint = taintOf([...merged, ...plan.covered]);
  return {
    plan: { ...plan, covers, merged },
    summary: {
      text: `${count} entries were left out without a summary, because the context was full. The log has them.`,
      covers,
      ...taint,
      leftOut: count,
    },
  };
}
