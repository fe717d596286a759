import { unreachable } from "../../base/exhaustive.ts";
import { invalidParams, LaresError } from "../../base/errors.ts";
import type { EffectInput } from "../../base/vocabulary/action.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { isExecutable } from "../../policy/executable.ts";
import type { ChangedContent, NewContent } from "../content-requests.ts";
import { checkEditable, checkExpected, checkKeepable, checkNames, entryPath, fileOf } from "./inputs.ts";
import { actionLimits } from "../limits.ts";
import { hasOtherName, modeOf, producers, type FileNode, type Known, type Node } from "./overlay.ts";
import { PlanContext, type PlannerPorts, type PlanResources } from "./plan-context.ts";
import { MetadataPlanner } from "./plan-metadata.ts";
import { planMove } from "./plan-move.ts";
import { planUnseen } from "./plan-unseen.ts";
import type { Plan, PlannedEffect } from "../plan.ts";
import { bytesText, sizeChange } from "./sizes.ts";

/**
 * Plans what a proposal would do, without changing anything. Policy has checked the paths. Rejects with InvalidParams
 * (an impossible effect: an edit that does not apply, a target that exists), NotFound, Stale (`expected` does not
 * hold), ScopeViolation (a link) and LimitExceeded. For the agent, what it cannot see does not exist: neither the error
 * nor its absence depends on anything hidden. An effect that fails only because of something hidden is planned
 * nevertheless; the person is shown the reason, and the commit fails because the workspace has changed.
 */
export async function planEffects(
  ports: PlannerPorts,
  authority: Authority,
  inputs: readonly EffectInput[],
  resources: PlanResources,
): Promise<Plan> {
  const context = new PlanContext(ports, authority, resources);
  const planner = new Planner(context);
  const effects: PlannedEffect[] = [];
  for (const [index, input] of inputs.entries()) {
    await resources.slices.begin();
    try {
      effects.push(await planner.plan(input, index));
    } catch (error) {
      if (!(error instanceof LaresError) || inputs.length === 1) throw error;
      throw new LaresError(
        error.code,
        `Effect ${index}: ${error.message}`,
        { ...error.facts, effect: index },
        { cause: error },
      );
    }
  }
  return {
    effects: effects.map((effect) => planner.withRemainingCopy(effect)),
    contents: context.contents.all,
  };
}

class Planner {
  readonly #context: PlanContext;
  readonly #metadata: MetadataPlanner;

  constructor(context: PlanContext) {
    this.#context = context;
    this.#metadata = new MetadataPlanner(context);
  }

  async plan(input: EffectInput, index: number): Promise<PlannedEffect> {
    this.#context.budget.checkAgent();
    const planned = await this.#planOne(input, index);
    if (planned.unseen === undefined) this.#context.diffBytes.seen += planned.effect.diff?.length ?? 0;
    return planned;
  }

  /**
   * Scores a delete lower if a copy of its content remains that no effect of the action touches. The commit checks the
   * copy again.
   */
  withRemainingCopy(planned: PlannedEffect): PlannedEffect {
    const { operation, facts } = planned;
    if (operation.do !== "remove") return planned;
    const remains = this.#context.ports
      .copies(operation.before)
      .find(
        (copy) =>
          copy !== operation.path &&
          this.#context.sight.seesEntry(copy, "file") &&
          !this.#context.overlay.changes(copy),
      );
    if (remains === undefined) return planned;
    return { ...planned, operation: { ...operation, remains }, facts: { ...facts, copyRemains: true } };
  }

  async #planOne(input: EffectInput, index: number): Promise<PlannedEffect> {
    switch (input.kind) {
      case "file.write":
        return this.#write(input, index);
      case "file.edit":
        return this.#edit(input, index);
      case "file.delete":
        return this.#delete(input, index);
      case "file.move":
        return planMove(this.#context, input, index);
      case "folder.create":
        return this.#createFolder(input, index);
      case "tag.add":
      case "tag.remove":
      case "field.set":
      case "sidecar.write":
        return this.#metadata.plan(input, index);
      default:
        return unreachable(input);
    }
  }

  async #write(input: Extract<EffectInput, { kind: "file.write" }>, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    const making = this.#context.made.get(index) ?? { from: "write" as const, input };
    const run = async (known: Known): Promise<PlannedEffect> => {
      if (known.node.kind === "folder") throw invalidParams(`${JSON.stringify(path)} is a folder.`, { path });
      if (known.node.kind === "file") checkEditable(path, known.node);
      await checkExpected(this.#context.overlay, path, known.node, input.expected);
      return this.#put(input.kind, path, known, making, index);
    };
    if (await this.#context.sight.seesWayTo(path)) {
      const known = await this.#context.overlay.at(path);
      // Some file systems count characters, and may have a longer one.
      if (known.node.kind === "absent") checkNames(path);
      return run(known);
    }
    checkNames(path);
    // The result of the proposal alone is computed at the agent's expense.
    const alone =
      making.from === "merge" ? { from: "content" as const, bytes: making.proposed, isJson: false } : making;
    const { bytes, hash } = madeBy(await this.#context.overlay.change(path, null, alone, false));
    this.#context.contents.keep(hash, bytes);
    const node: Node = { kind: "file", size: bytes.length, content: { bytes, hash } };
    return planUnseen(
      this.#context,
      path,
      node,
      index,
      { kind: "create", bytes: bytes.length },
      input.expected,
      run,
    );
  }

  async #edit(input: Extract<EffectInput, { kind: "file.edit" }>, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    this.#context.checkSees("file", path);
    const known = await this.#context.overlay.at(path);
    const node = fileOf(path, known.node);
    checkEditable(path, node);
    await checkExpected(this.#context.overlay, path, node, input.expected);
    const making = this.#context.made.get(index) ?? { from: "edits" as const, edits: input.edits };
    return this.#put(input.kind, path, known, making, index);
  }

  async #put(
    kind: "file.write" | "file.edit",
    path: string,
    known: Known,
    making: NewContent,
    index: number,
  ): Promise<PlannedEffect> {
    const { node } = known;
    const changed = await this.#context.change(path, node, making);
    const { before, sizeBefore, share, diff } = changed;
    const { hash: after, bytes: content } = madeBy(changed);
    this.#context.contents.keep(after, content);
    const { cleared, made } = await this.#context.overlay.makeParents(path, index);
    const left: FileNode = { kind: "file", size: content.length, content: { bytes: content, hash: after } };
    this.#context.overlay.set(path, left, index, before !== null);
    const larger = Math.max(sizeBefore ?? 0, content.length);
    const runs = changed.runs || isExecutable(modeOf(node)) || (await this.#context.scripts.run(path));
    const verb = before === null ? "Create" : kind === "file.edit" ? "Edit" : "Overwrite";
    return {
      effect: {
        kind,
        path,
        before,
        after,
        ...(diff === undefined ? {} : { diff }),
        summary: `${verb} ${path} (${sizeChange(sizeBefore, content.length)})`,
        ...(hasOtherName(node) ? { hard_link: true as const } : {}),
      },
      operation: { do: "put", path, before, after },
      dependsOn: [...producers(known), ...cleared],
      facts: {
        kind: before === null ? "create" : kind === "file.edit" ? "edit" : "overwrite",
        changedShare: share,
        bytes: Math.round(share * larger),
        ...this.#context.subjects.protectedFact([path], { runs }),
      },
      subject: this.#context.subjects.of(kind, [path], { made, runs }),
    };
  }

  async #delete(input: Extract<EffectInput, { kind: "file.delete" }>, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    this.#context.checkSees("file", path);
    const known = await this.#context.overlay.at(path);
    const node = fileOf(path, known.node);
    checkKeepable(path, node, "Move it instead");
    await checkExpected(this.#context.overlay, path, node, input.expected);
    const diff =
      node.size <= actionLimits.diffTextBytes
        ? (await this.#context.change(path, node, { from: "nothing" })).diff
        : undefined;
    const before = await this.#context.overlay.hashOf(path, node);
    const runs = isExecutable(modeOf(node)) || (await this.#context.scripts.run(path));
    this.#context.overlay.set(path, { kind: "absent" }, index);
    return {
      effect: {
        kind: input.kind,
        path,
        before,
        after: null,
        ...(diff === undefined ? {} : { diff }),
        summary: `Delete ${path} (${bytesText(node.size)})`,
      },
      operation: { do: "remove", path, before },
      dependsOn: producers(known),
      facts: {
        kind: "delete",
        bytes: node.size,
        ...this.#context.subjects.protectedFact([path], { runs }),
      },
      subject: this.#context.subjects.of(input.kind, [path], { runs }),
    };
  }

  async #createFolder(
    input: Extract<EffectInput, { kind: "folder.create" }>,
    index: number,
  ): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    checkNames(path);
    const run = (known: Known): Promise<PlannedEffect> => this.#makeFolder(path, known, index);
    if (await this.#context.sight.seesWayTo(path)) return run(await this.#context.overlay.at(path));
    return planUnseen(this.#context, path, { kind: "folder" }, index, { kind: "folder" }, undefined, run);
  }

  async #makeFolder(path: string, known: Known, index: number): Promise<PlannedEffect> {
    if (known.node.kind === "file") throw invalidParams(`${JSON.stringify(path)} is a file.`, { path });
    const exists = known.node.kind === "folder";
    const { cleared, made } = exists
      ? { cleared: [], made: [] }
      : await this.#context.overlay.makeParents(path, index);
    const dependsOn = exists ? [] : [...producers(known), ...cleared];
    if (!exists) this.#context.overlay.set(path, { kind: "folder" }, index);
    return {
      effect: {
        kind: "folder.create",
        path,
        before: null,
        after: null,
        summary: exists ? `Keep the folder ${path}, which exists` : `Create the folder ${path}`,
      },
      operation: { do: "mkdir", path },
      dependsOn,
      facts: { kind: "folder", ...this.#context.subjects.protectedFact([path]) },
      subject: this.#context.subjects.of("folder.create", [path], { made }),
    };
  }
}

function madeBy({ made }: ChangedContent): NonNullable<ChangedContent["made"]> {
  if (made === null) throw new LaresError("InternalError", "A change produced no content.");
  return made;
}
