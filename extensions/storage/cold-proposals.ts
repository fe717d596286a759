import type { Action } from "@lares/sdk";
import { coldReason, coldTitle, findCold, movable, type ColdFile } from "./cold.ts";
import { askAboutCold } from "./cold-photos.ts";
import type { Context } from "./context.ts";
import { everyFile } from "./files.ts";
import {
  coldIn,
  coldRestMs,
  isOpen,
  isWaiting,
  maxColdMoved,
  maxColdRefused,
  type ColdMemory,
  type ColdProposal,
} from "./memory.ts";
import { codeOf, proposeMoves } from "./proposals.ts";
import { settingsOf } from "./settings.ts";

/** Files of one proposal; a person should be able to read it. */
const batchSize = 50;
/** Cold files that are looked at in one go, the largest ones. */
const maxLookedAt = 500;

interface ColdLook {
  readonly files: readonly ColdFile[];
  /** What a person should know about photos; null if the photos agent answered or need not be asked. */
  readonly note: string | null;
}

/** Returns the cold files, the largest first, with what the photos agent says of them. */
export async function coldFiles(ctx: Context): Promise<ColdLook> {
  const found = findCold(await everyFile(ctx), settingsOf(ctx.config), Date.now());
  const looked = found.slice(0, maxLookedAt);
  const { about, note } = await askAboutCold(ctx, looked);
  return {
    files: [...looked.map((file) => ({ ...file, ...about.get(file.path) })), ...found.slice(maxLookedAt)],
    note,
  };
}

/**
 * Suggests to move the next cold files into the folder that the person named: one proposal at a time, and not again what
 * they refused. After a refusal nothing is suggested for a while, unless `isAsked`: the person asks for it themselves.
 * `again`: also what they refused before.
 */
export async function proposeCold(
  ctx: Context,
  { isAsked = false, again = false }: { readonly isAsked?: boolean; readonly again?: boolean } = {},
): Promise<Action | null> {
  const { cold_folder: folder } = settingsOf(ctx.config);
  const { open, refused, restUntil } = await refreshCold(ctx);
  if (folder === null || open !== null) return null;
  // With too many refusals to remember the next one, it is better to suggest nothing.
  if (!isAsked && (Date.now() < restUntil || refused.length >= maxColdRefused)) return null;
  const { files, note } = await coldFiles(ctx);
  const known = again ? new Set<string>() : new Set(refused);
  const { asked } = await ctx.memory.plan.read();
  const elsewhere = new Set(asked.filter(isOpen).flatMap(({ paths }) => paths));
  const wanted = movable(files.slice(0, maxLookedAt)).filter(
    ({ id, path }) => !known.has(id) && !elsewhere.has(path),
  );
  const batch = wanted.slice(0, batchSize);
  if (batch.length === 0) return null;
  const stay = files.filter(({ stays }) => stays !== undefined);
  const action = await proposeMoves(
    ctx,
    batch.map(({ path }) => path),
    folder,
    {
      title: coldTitle(batch, folder),
      reason: coldReason(batch, { left: wanted.length - batch.length, stay, note }),
    },
  );
  if (typeof action === "string") return null;
  await updateCold(ctx, (cold) => ({
    ...cold,
    open: { action: action.id, files: batch.map(({ id, path }) => ({ id, path })) },
  }));
  return action;
}

/** Checks what became of the proposals, and remembers the refused ones. */
async function refreshCold(ctx: Context): Promise<ColdMemory> {
  const before = coldIn(await ctx.memory.plan.read());
  let { open } = before;
  const moved: ColdProposal[] = [];
  const refused: string[] = [];
  // The person may have undone a move since then, which counts as a refusal.
  for (const proposal of [...before.moved, ...(open === null ? [] : [open])]) {
    const action = await actionOf(ctx, proposal.action);
    const state = action?.state ?? "Expired";
    if (isWaiting(state)) continue;
    if (proposal === open) open = null;
    if (state === "Committed" && action !== null) moved.push(proposal);
    if (state === "Rejected" || state === "Undone") refused.push(...proposal.files.map(({ id }) => id));
    // The person took a part of it, and left out the rest.
    if (state === "Committed" && action !== null) refused.push(...leftOut(proposal, action));
  }
  const fresh = refused.filter((id) => !before.refused.includes(id));
  if (open === before.open && fresh.length === 0) return before;
  return await updateCold(ctx, () => ({
    open,
    moved: moved.slice(-maxColdMoved),
    refused: [...before.refused, ...fresh].slice(-maxColdRefused),
    restUntil: fresh.length === 0 ? before.restUntil : Date.now() + coldRestMs,
  }));
}

function leftOut({ files }: ColdProposal, { effects, receipt }: Action): string[] {
  const { applied } = receipt ?? {};
  const done =
    applied === undefined || applied.length === effects.length
      ? effects
      : effects.filter((_, index) => applied.includes(index));
  const paths = new Set(done.map(({ from }) => from));
  return files.filter(({ path }) => !paths.has(path)).map(({ id }) => id);
}

/** Returns null if the kernel does not keep the action any more. */
async function actionOf(ctx: Context, id: string): Promise<Action | null> {
  try {
    return await ctx.actions.get(id);
  } catch (error) {
    if (codeOf(error) === "NotFound") return null;
    throw error;
  }
}

async function updateCold(ctx: Context, change: (before: ColdMemory) => ColdMemory): Promise<ColdMemory> {
  return coldIn(await ctx.memory.plan.update((memory) => ({ ...memory, cold: change(coldIn(memory)) })));
}
