import { isLaresError, LaresError } from "../../base/errors.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import type { ImpactFacts } from "../../policy/impact.ts";
import { foldersAbove } from "../../policy/paths.ts";
import { checkExpected } from "./inputs.ts";
import { actionLimits } from "../limits.ts";
import { absent, type Known, type Node } from "./overlay.ts";
import type { PlanContext } from "./plan-context.ts";
import type { PlannedEffect } from "../plan.ts";
import { whyAsked } from "../unseen.ts";

/**
 * Plans an effect that puts `node` at a path that the agent cannot see. Conflicts at that path are left to the
 * commit, and the agent gets the same answer with or without them.
 */
export async function planUnseen(
  context: PlanContext,
  path: string,
  node: Node,
  index: number,
  facts: ImpactFacts,
  expected: Hash | null | undefined,
  run: (known: Known) => Promise<PlannedEffect>,
): Promise<PlannedEffect> {
  context.overlay.checkNotMoved(path);
  await checkNoLink(context, path);
  // For the agent, the path is free.
  await checkExpected(context.overlay, path, absent.node, expected);
  let obstacle: string | null = null;
  let planned: PlannedEffect;
  try {
    planned = await context.budget.unseen(async () => run(await context.overlay.at(path)));
  } catch (error) {
    if (!(error instanceof LaresError)) throw error;
    obstacle = error.message;
    planned = planFreePath(context, path, node);
    context.overlay.set(path, node, index);
  }
  return asUnseen(context, planned, facts, obstacle, foldersAbove(path), whyAsked.hidden);
}

/** Throws if the path is a link or lies behind one, unless the index hides that name. */
async function checkNoLink(context: PlanContext, path: string): Promise<void> {
  if (context.ports.index.hides(path)) return;
  try {
    await context.overlay.at(path);
  } catch (error) {
    if (isLaresError(error, "ScopeViolation")) throw error;
  }
}

/** Returns the plan for a free path. */
function planFreePath(context: PlanContext, path: string, node: Node): PlannedEffect {
  const summary = `Create ${node.kind === "folder" ? "the folder " : ""}${path}`;
  const after = node.kind === "file" && "hash" in node.content ? node.content.hash : null;
  const kind = after === null ? "folder.create" : "file.write";
  return {
    effect: { kind, path, before: null, after, summary },
    operation: after === null ? { do: "mkdir", path } : { do: "put", path, before: null, after },
    dependsOn: [],
    facts: { kind: after === null ? "folder" : "create", ...context.subjects.protectedFact([path]) },
    subject: context.subjects.of(kind, [path]),
  };
}

/**
 * Returns the effect as its agent may see it. `makes`: every folder on the way that may be missing; the
 * agent must not learn which of them are.
 */
export function asUnseen(
  context: PlanContext,
  planned: PlannedEffect,
  facts: ImpactFacts,
  obstacle: string | null,
  makes: readonly string[],
  why: string,
): PlannedEffect {
  const { effect, subject } = planned;
  const { diff, ...rest } = effect;
  const keepsDiff = diff !== undefined && context.diffBytes.unseen < actionLimits.unseenDiffBytes;
  if (keepsDiff) context.diffBytes.unseen += diff.length;
  const isReplaced = effect.before !== null && effect.from === undefined;
  const notes = [
    isReplaced ? ". The agent cannot see what this replaces" : "",
    obstacle === null ? "" : `. This cannot be applied: ${obstacle}`,
  ];
  return {
    ...planned,
    effect: { ...rest, ...(keepsDiff ? { diff } : {}), summary: effect.summary + notes.join("") },
    subject: { ...subject, makes, alwaysAsked: why },
    unseen: { facts: { ...facts, ...context.subjects.protectedFact(subject.paths) } },
  };
}
