import type { Action, ActionState, EffectInput } from "@lares/sdk";
import type { Context } from "./context.ts";
import type { Group } from "./groups.ts";
import { isOpen, unasked, withAsked, type Asked } from "./memory.ts";
import { heeding, Standings } from "./photos.ts";
import { settingsOf } from "./settings.ts";
import { archivedPath, reasonFor, titleOf } from "./wording.ts";

/** The number of names that are tried for a copy before its place in the archive counts as full. */
const maxAttempts = 20;
/** The number of copies in one proposal; a person should be able to read it. */
const maxMoves = 100;
/** The number of groups about whose photos one call may ask. */
const lookAhead = 100;

/** Queries the state of the proposals that were open. */
export function refreshOpen(ctx: Context): Promise<void> {
  return refresh(ctx, isOpen);
}

async function refresh(ctx: Context, wanted: (asked: Asked) => boolean): Promise<void> {
  const states = new Map<string, ActionState>();
  for (const asked of (await ctx.memory.plan.read()).asked.filter(wanted)) {
    const state = (await stateOf(ctx, asked.action)) ?? "Expired";
    if (state !== asked.state) states.set(asked.action, state);
  }
  if (states.size === 0) return;
  await ctx.memory.plan.update((memory) => ({
    ...memory,
    asked: memory.asked.map((asked) => ({ ...asked, state: states.get(asked.action) ?? asked.state })),
  }));
}

/** Makes one proposal for each group that has copies which were never proposed, as long as not too many are open. */
export async function proposeFor(
  ctx: Context,
  groups: readonly Group[],
  { again }: { again: boolean },
): Promise<Action[]> {
  const settings = settingsOf(ctx.config);
  const standings = new Standings(ctx);
  const made: Action[] = [];
  let more = false;
  for (const [index, found] of groups.entries()) {
    // A committed action may have been undone since, which counts as a refusal.
    await refresh(ctx, (one) => one.content_id === found.content_id && one.state === "Committed");
    const { asked } = await ctx.memory.plan.read();
    const left = (group: Group): Group => ({
      ...group,
      extra: unasked(group.extra, group.content_id, asked, { again }).slice(0, maxMoves),
    });
    const open = left(found);
    if (open.extra.length === 0) continue;
    if (asked.filter(isOpen).length >= settings.max_open) {
      ctx.trace.info(
        `${settings.max_open} proposals wait for an answer; the next come when some are decided`,
      );
      more = true;
      break;
    }
    const ahead = (): Group[] =>
      groups
        .slice(index + 1, index + 1 + lookAhead)
        .map(left)
        .filter(({ extra }) => extra.length > 0);
    const standing = await standings.of(open, ahead);
    if (standing === null) {
      ctx.trace.info("There are too many photos to ask about at once; the rest comes with the next look");
      more = true;
      break;
    }
    // The copy that would have stayed may have become an extra one.
    const group = left(heeding(open, standing));
    const { extra } = group;
    if (extra.length === 0) continue;
    const action = await propose(ctx, group, settings.archive);
    if (action === "refused") break;
    if (action === "changed") continue;
    made.push(action);
    await ctx.memory.plan.update((memory) =>
      withAsked(memory, {
        content_id: group.content_id,
        paths: extra,
        action: action.id,
        state: action.state,
      }),
    );
  }
  const { more: before } = await ctx.memory.plan.read();
  if (more !== before) await ctx.memory.plan.update((memory) => ({ ...memory, more }));
  return made;
}

async function propose(ctx: Context, group: Group, archive: string): Promise<Action | "refused" | "changed"> {
  return await proposeMoves(ctx, group.extra, archive, { title: titleOf(group), reason: reasonFor(group) });
}

/** Proposes to move files into a folder, each beneath its own path. */
export async function proposeMoves(
  ctx: Context,
  paths: readonly string[],
  folder: string,
  words: { readonly title: string; readonly reason: string },
): Promise<Action | "refused" | "changed"> {
  const effects: EffectInput[] = [];
  for (const path of paths) {
    const to = await freePlace(ctx, path, folder);
    if (to !== null) effects.push({ kind: "file.move", from: path, to });
  }
  if (effects.length === 0) return "changed";
  try {
    return await ctx.actions.propose(effects, words);
  } catch (error) {
    switch (codeOf(error)) {
      case "ScopeViolation":
        ctx.trace.warn(
          `The folder for moved files is outside the granted locations. Add "${folder}/" to its locations in lares.yaml`,
          { folder, error: messageOf(error) },
        );
        return "refused";
      case "PermissionDenied":
      case "LimitExceeded":
        ctx.trace.warn(`A proposal was refused: ${messageOf(error)}`);
        return "refused";
      case "NotFound":
      case "Stale":
      case "Conflict":
        // A file vanished or changed in between; its own event triggers another look.
        ctx.trace.debug(`A group changed while it was proposed: ${messageOf(error)}`);
        return "changed";
      default:
        throw error;
    }
  }
}

async function freePlace(ctx: Context, path: string, archive: string): Promise<string | null> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const place = archivedPath(path, archive, attempt);
    if ((await ctx.vdfs.get(place)) === null) return place;
  }
  return null;
}

async function stateOf(ctx: Context, id: string): Promise<ActionState | null> {
  try {
    return (await ctx.actions.get(id)).state;
  } catch (error) {
    if (codeOf(error) === "NotFound") return null;
    throw error;
  }
}

/** Returns the code of an error from the kernel. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
