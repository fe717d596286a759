import { codeOf, type Context } from "./context.ts";
import { readNotes } from "./library.ts";
import { repaired, type Move } from "./links.ts";

/** Moves that are remembered until their links are repaired; the oldest are forgotten. */
const maxMoves = 200;
/** Notes that one proposal changes. */
const maxRepaired = 100;
/** Characters of their texts: a proposal is one message. */
const maxCharacters = 300_000;
const maxAttempts = 3;

/**
 * Proposes to repair the links that a moved note broke. Moves whose proposal still waits are part of the new one, which
 * supersedes it; a decision about it, whichever, is about its moves alone. If no link needs a repair any more, the one
 * that waits is taken back.
 */
export async function noteMoved(move: Move, ctx: Context): Promise<void> {
  const { repair } = await ctx.memory.plan.read();
  const state = repair === undefined ? null : await stateOf(repair, ctx);
  const isOpen = state !== null && undecided.has(state);
  const { moves = [] } = await ctx.memory.plan.update(({ moves: before = [], ...plan }) => ({
    ...plan,
    moves: [...(isOpen ? withMove(before, move) : [move])].slice(-maxMoves),
  }));
  for (let attempt = 1; ; attempt++) {
    try {
      const waiting = state === "PendingApproval" ? repair : undefined;
      const id = await propose(moves, waiting, ctx);
      if (id !== null) await ctx.memory.plan.update((plan) => ({ ...plan, repair: id }));
      // The notes stand where they stood, or somebody else repaired the links.
      else if (waiting !== undefined) await ctx.actions.withdraw(waiting);
      return;
    } catch (error) {
      // A note was written while the others were read.
      if (
        attempt === maxAttempts ||
        !["Stale", "NotFound", "Conflict", "IllegalTransition"].some((code) => code === codeOf(error))
      )
        throw error;
    }
  }
}

/** Returns the id of the proposed action, or null if no link needs a repair. */
async function propose(
  moves: readonly Move[],
  supersedes: string | undefined,
  ctx: Context,
): Promise<string | null> {
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
      ...(supersedes === undefined ? {} : { supersedes }),
    },
  );
  return id;
}

/** A note that is moved again is moved once, from where it was first. */
function withMove(moves: readonly Move[], { from, to }: Move): Move[] {
  const earlier = moves.find((each) => each.to === from);
  const others = moves.filter((each) => each !== earlier);
  const first = earlier?.from ?? from;
  return first === to ? others : [...others, { from: first, to }];
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
