import { invalidParams, notFound } from "../../base/errors.ts";
import type { EffectInput } from "../../base/vocabulary/action.ts";
import { isExecutable } from "../../policy/executable.ts";
import { foldersAbove, isWithinExactly, parentOf } from "../../policy/paths.ts";
import { strictest, type Protection } from "../../policy/protected.ts";
import type { FolderListing } from "../content-requests.ts";
import { checkKeepable, checkNames, entryPath, fileOf } from "./inputs.ts";
import { absent, modeOf, producers, type Known } from "./overlay.ts";
import type { PlanContext } from "./plan-context.ts";
import { asUnseen } from "./plan-unseen.ts";
import type { PlannedEffect } from "../plan.ts";
import type { SeenMembers } from "./subjects.ts";
import { hiddenNote, Obstacles, unknownListing, whyAsked } from "../unseen.ts";

/** Plans the move of a file or folder. */
export async function planMove(
  context: PlanContext,
  input: Extract<EffectInput, { kind: "file.move" }>,
  index: number,
): Promise<PlannedEffect> {
  const [from, to] = [entryPath(input.from), entryPath(input.to)];
  if (from === to)
    throw invalidParams(`The source and the target of the move are the same: ${JSON.stringify(from)}.`, {
      path: to,
    });
  checkNames(to);
  context.checkSees("file or folder", from);
  const source = await context.overlay.at(from);
  if (source.node.kind === "absent") throw notFound("file or folder", from);
  // Members of a folder may be hidden, so no answer may depend on them.
  const seesTarget = await context.sight.seesWayTo(to);
  const isUnseen = source.node.kind === "folder" || !seesTarget;
  const obstacles = new Obstacles(isUnseen);
  context.overlay.checkNotMoved(to);
  const target = await obstacles.try(context.sight.sees(to), absent, () => freeTarget(context, to));
  const listing =
    source.node.kind === "folder" ? await folderToMove(context, from, to, source, index, obstacles) : null;
  if (source.node.kind === "file" && !context.ports.files.sameRoot(from, to))
    checkKeepable(from, source.node, "Move it only within the same root folder of the workspace");
  const content = listing?.hash ?? (await context.overlay.hashOf(from, fileOf(from, source.node)));
  const { cleared, made } = await obstacles.try(seesTarget, { cleared: [], made: [] }, () =>
    context.overlay.makeParents(to, index),
  );
  if (listing === null) {
    context.overlay.set(from, { kind: "absent" }, index);
    context.overlay.set(to, source.node, index);
  } else {
    context.overlay.moveFolder(from, to, index);
  }
  const kind = listing === null ? "file" : "folder";
  const members = listing === null ? undefined : await seenMembers(context, from, listing);
  const hidden = (listing?.members.length ?? 0) - (members?.paths.length ?? 0);
  const mode = listing?.mode ?? modeOf(source.node);
  const runs =
    isExecutable(mode) ||
    (await context.scripts.run(from, members?.paths)) ||
    (await context.scripts.run(to, members?.paths));
  const planned: PlannedEffect = {
    effect: {
      kind: input.kind,
      path: to,
      from,
      before: content,
      after: content,
      summary: `Move ${from} to ${to}${listing === null ? "" : ` (a folder of ${listing.files} files)`}${hiddenNote(hidden)}`,
    },
    operation: { do: "move", from, to, kind, content },
    dependsOn: [...producers(source, target), ...cleared],
    facts: {
      kind: "move",
      ...(listing === null ? {} : { files: listing.files }),
      ...context.subjects.protectedFact([from, to], { members, runs }),
    },
    subject: context.subjects.of(input.kind, [from, to], { made, members, runs }),
  };
  if (!isUnseen) return planned;
  const why = listing === null ? whyAsked.hidden : whyAsked.folder;
  const makes = seesTarget ? made : foldersAbove(to);
  const shown = asUnseen(context, planned, { kind: "move" }, obstacles.first, makes, why);
  const sawAll = listing !== null && listing !== unknownListing && hidden === 0 && seesTarget;
  if (!sawAll || obstacles.first !== null || shown.unseen === undefined) return shown;
  return { ...shown, unseen: { ...shown.unseen, sawAll } };
}

async function freeTarget(context: PlanContext, to: string): Promise<Known> {
  const target = await context.overlay.at(to);
  if (target.node.kind === "absent") return target;
  throw invalidParams(`${JSON.stringify(to)} exists already. Choose another name.`, {
    path: to,
  });
}

async function folderToMove(
  context: PlanContext,
  from: string,
  to: string,
  source: Known,
  index: number,
  obstacles: Obstacles,
) {
  if (isWithinExactly(from, to))
    throw invalidParams(`${JSON.stringify(from)} cannot be moved into itself.`, { path: to });
  if (source.producer !== null) {
    throw invalidParams(
      `Effect ${source.producer} creates the folder ${JSON.stringify(from)}. Create it at its final path instead of moving it.`,
      { path: from },
    );
  }
  if (!context.ports.files.sameRoot(from, to)) {
    throw invalidParams(
      `The folder ${JSON.stringify(from)} cannot be moved to another root folder of the workspace. Move its files instead.`,
      { path: to },
    );
  }
  // Registered before the folder is read: nothing else in this action may touch it.
  context.overlay.moveFolder(from, from, index);
  const { protectedPaths, forbiddenPaths } = context.authority;
  const move = { to, places: { protectedPaths, forbiddenPaths } };
  return obstacles.try(false, unknownListing, () =>
    context.budget.unseen(() => context.ports.contents.list(from, move, context.budget)),
  );
}

async function seenMembers(
  context: PlanContext,
  folder: string,
  { members, protections }: FolderListing,
): Promise<SeenMembers> {
  const paths: string[] = [];
  const found: Protection[] = [];
  // In order: a folder comes before its members.
  const leftOut = new Set<string>();
  for (const [index, member] of members.entries()) {
    if (!context.slices.hasTime) await context.slices.next();
    const path = `${folder}/${member}`;
    if (leftOut.has(parentOf(member) ?? ".") || context.ports.index.hides(path)) {
      leftOut.add(member);
    } else if (context.sight.seesEntry(path, "file")) {
      paths.push(member);
      found.push(protections[index] ?? "forbidden");
    }
  }
  return { paths, protection: strictest(found) };
}
