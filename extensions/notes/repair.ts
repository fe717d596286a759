import { codeOf, type Context } from "./context.ts";
import { readNotes } from "./library.ts";
import { repaired, type Move } from "./links.ts";

/** Moves that are remembered until their links are repaired; the oldest are forgotten. */
const maxMoves = 500;
/** Notes that one proposal changes. */
const maxRepaired = 100;
/** Characters of their texts: a proposal is one message. */
const maxCharacters = 300_000;
const maxAttempts = 3;

/**
 * Remembers that a note moved. A job repairs its links: one that has not begun yet repairs all moves that come meanwhile, so
 * that a folder of a thousand notes is not a thousand proposals.
 */
export async function noteMoved(move: Move, ctx: Context): Promise<void> {
  const { begun = 0 } = await ctx.memory.plan.update(({ arrived = [], count = 0, ...plan }) => ({
    ...plan,
    arrived: [...arrived, move].slice(-maxMoves),
    count: count + 1,
  }));
  await ctx.jobs.dispatch("repair", {}, { key: `repair ${begun}`, priority: "high" });
}

/**
 * Proposes to repair the links that moved notes broke. Moves whose proposal still waits are part of the new one, which
 * supersedes it; a decision about it, whichever, is about its moves alone. If no link needs a repair any more, the one
 * that waits is withdrawn.
 */
export async function repairLinks(ctx: Context): Promise<void> {
  await ctx.memory.plan.update(({ begun = 0, ...plan }) => ({ ...plan, begun: begun + 1 }));
  for (let attempt = 1; ; attempt++) {
    try {
      const { repair, moves: before = [], arrived = [], count = 0 } = await ctx.memory.plan.read();
      if (arrived.length === 0) return;
      const state = repair === undefined ? null : await stateOf(repair, ctx);
      const moves = arrived.reduce(withMove, state !== null && undecided.has(state) ? before : []);
      const waiting = state === "PendingApproval" ? repair : undefined;
      // A job that dies behind this proposes the same again, in place of what it had proposed.
      const proposed = await propose(moves.slice(-maxMoves), waiting, ctx);
      // The notes stand where they stood, or somebody else repaired the links.
      if (proposed === null && waiting !== undefined) await ctx.actions.withdraw(waiting);
      await ctx.memory.plan.update(({ repair: _r, moves: _m, isPartial: _p, ...plan }) => ({
        ...plan,
        ...(proposed === null ? {} : { ...proposed, moves: moves.slice(-maxMoves) }),
        arrived: latest(plan.arrived ?? [], (plan.count ?? 0) - count),
      }));
      return;
    } catch (error) {
      // A note was written while the others were read, or the proposal that waited was decided.
      if (
        attempt === maxAttempts ||
        !["Stale", "NotFound", "Conflict", "IllegalTransition"].some((code) => code === codeOf(error))
      )
        throw error;
    }
  }
}

/** After a repair that left out notes, as a proposal has room for so many, the rest is proposed. */
export async function repairEnded(
  { action, state }: { action: string; state: string },
  ctx: Context,
): Promise<void> {
  const { repair, isPartial } = await ctx.memory.plan.read();
  if (action !== repair || isPartial !== true || state !== "Committed") return;
  const { begun = 0 } = await ctx.memory.plan.update(({ moves = [], arrived = [], count = 0, ...plan }) => {
    if (plan.repair !== action) return { ...plan, moves, arrived, count };
    const { repair: _r, isPartial: _p, ...rest } = plan;
    return { ...rest, arrived: [...moves, ...arrived].slice(-maxMoves), count: count + moves.length };
  });
  await ctx.jobs.dispatch("repair", {}, { key: `repair ${begun}`, priority: "high" });
}

/** Returns what was proposed, or null if no link needs a repair. */
async function propose(
  moves: readonly Move[],
  waiting: string | undefined,
  ctx: Context,
): Promise<{ readonly repair: string; readonly isPartial: boolean } | null> {
  const notes = await readNotes(ctx);
  const all = [...repaired(notes, moves)];
  let characters = 0;
  const changed = all
    .slice(0, maxRepaired)
    .filter(([, text], index) => (characters += text.length) <= maxCharacters || index === 0);
  if (changed.length === 0) return null;
  const versions = new Map(notes.map(({ path, entry }) => [path, entry.content_id]));
  const names = moves.map(({ to }) => to.slice(to.lastIndexOf("/") + 1));
  const { id } = await ctx.actions.propose(
    changed.map(([path, content]) => {
      const expected = versions.get(path) ?? null;
      return { kind: "file.write" as const, path, content, ...(expected === null ? {} : { expected }) };
    }),
    {
      title: `Repair links in ${changed.length === all.length ? "" : `${changed.length} of `}${all.length} ${all.length === 1 ? "note" : "notes"}`,
      reason: `They led to, or stand in, what was moved: ${names.slice(-5).join(", ")}.`.slice(0, 1000),
    },
    waiting === undefined ? {} : { supersedes: waiting },
  );
  return { repair: id, isPartial: changed.length < all.length };
}

/** A note that is moved again is moved once, from where it was first. */
function withMove(moves: readonly Move[], { from, to }: Move): readonly Move[] {
  const earlier = moves.find((each) => each.to === from);
  const others = moves.filter((each) => each !== earlier);
  const first = earlier?.from ?? from;
  return first === to ? others : [...others, { from: first, to }];
}

function latest(moves: readonly Move[], count: number): Move[] {
  return count <= 0 ? [] : moves.slice(-count);
}

const undecided: ReadonlySet<string> = new Set(["PendingApproval", "Stale", "Expired", "Failed"]);

async function stateOf(action: string, ctx: Context): Promise<string | null> {
  try {
    return (await ctx.actions.get(action)).state;
  } catch (error) {
    if (codeOf(error) === "NotFound") return null;
    throw error;
  }
}
