import type { CpuBudget } from "../base/cpu-budget.ts";
import { unreachable } from "../base/exhaustive.ts";
import { invalidParams, isLaresError, LaresError, limitExceeded, notFound } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import type { Slices } from "../base/slices.ts";
import type { EffectInput } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { isExecutable } from "../policy/executable.ts";
import type { ImpactFacts } from "../policy/impact.ts";
import { foldersAbove, isWithinExactly, parentOf } from "../policy/paths.ts";
import { strictest, type Protection } from "../policy/protected.ts";
import { createSight, type Sight } from "../policy/sight.ts";
import type { ChangedContent, FolderListing, HashedValue, NewContent } from "./content-requests.ts";
import { checkExpected, entryPath, fileOf } from "./inputs.ts";
import { actionLimits } from "./limits.ts";
import { changeOf, currentValue, fieldsOf, slotOf, type MetadataInput } from "./metadata.ts";
import { NewContents } from "./new-contents.ts";
import { valueOf } from "./operations.ts";
import { Overlay, type FileNode, type Known, type Node } from "./overlay.ts";
import { PackageScripts } from "./package-scripts.ts";
import type { MadeContent, Plan, PlannedEffect } from "./plan.ts";
import { PlanBudget } from "./plan-budget.ts";
import type { ActionPorts } from "./ports.ts";
import { bytesText, sizeChange } from "./sizes.ts";
import { Subjects, type SeenMembers } from "./subjects.ts";
import { hiddenNote, Obstacles, unknownListing, whyAsked } from "./unseen.ts";
import { withValueStored } from "./values.ts";

type PlannerPorts = Pick<ActionPorts, "files" | "contents" | "metadata" | "copies" | "index">;

/** The resources of a plan. */
interface PlanMeans {
  /** The budget to which the work on contents is charged. */
  readonly budget: CpuBudget;
  /** The time on the kernel's event loop. */
  readonly slices: Slices;
  /** Contents that replace those of the inputs, by the indices of the effects. */
  readonly made?: ReadonlyMap<number, MadeContent>;
}

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
  means: PlanMeans,
): Promise<Plan> {
  const planner = new Planner(ports, authority, means);
  const effects: PlannedEffect[] = [];
  for (const [index, input] of inputs.entries()) {
    await means.slices.begin();
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
    contents: planner.contents.all,
  };
}

class Planner {
  readonly contents = new NewContents();
  readonly #ports: PlannerPorts;
  readonly #authority: Authority;
  readonly #sight: Sight;
  readonly #slices: Slices;
  readonly #made: ReadonlyMap<number, MadeContent>;
  readonly #budget: PlanBudget;
  readonly #overlay: Overlay;
  readonly #scripts: PackageScripts;
  readonly #subjects: Subjects;
  /** The metadata that earlier effects leave, by slot. */
  readonly #slots = new Map<string, { readonly hash: Hash | null; readonly effect: number }>();
  readonly #diffBytes = { seen: 0, unseen: 0 };

  constructor(ports: PlannerPorts, authority: Authority, { budget, slices, made }: PlanMeans) {
    this.#ports = ports;
    this.#made = made ?? new Map();
    this.#authority = authority;
    this.#sight = createSight(authority, ports.index);
    this.#slices = slices;
    this.#budget = new PlanBudget(budget);
    this.#overlay = new Overlay(ports, this.#budget);
    this.#scripts = new PackageScripts(ports, (path) => this.#sight.sees(path), this.#budget);
    this.#subjects = new Subjects(authority, ports.index);
  }

  async plan(input: EffectInput, index: number): Promise<PlannedEffect> {
    this.#budget.checkAgent();
    const planned = await this.#planOne(input, index);
    if (planned.unseen === undefined) this.#diffBytes.seen += planned.effect.diff?.length ?? 0;
    return planned;
  }

  /**
   * Scores a delete lower if a copy of its content remains that no effect of the action touches. The commit checks the
   * copy again.
   */
  withRemainingCopy(planned: PlannedEffect): PlannedEffect {
    const { operation, facts } = planned;
    if (operation.do !== "remove") return planned;
    const remains = this.#ports
      .copies(operation.before)
      .find(
        (copy) =>
          copy !== operation.path && this.#sight.seesEntry(copy, "file") && !this.#overlay.changes(copy),
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
        return this.#move(input, index);
      case "folder.create":
        return this.#createFolder(input, index);
      case "tag.add":
      case "tag.remove":
      case "field.set":
      case "sidecar.write":
        return this.#metadata(input, index);
      default:
        return unreachable(input);
    }
  }

  async #write(input: Extract<EffectInput, { kind: "file.write" }>, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    const making = this.#made.get(index) ?? { from: "write" as const, input };
    const run = async (known: Known): Promise<PlannedEffect> => {
      if (known.node.kind === "folder") throw invalidParams(`${JSON.stringify(path)} is a folder.`, { path });
      if (known.node.kind === "file") checkEditable(path, known.node);
      await checkExpected(this.#overlay, path, known.node, input.expected);
      return this.#put(input.kind, path, known, making, index);
    };
    if (await this.#sight.seesWayTo(path)) return run(await this.#overlay.at(path));
    // The result of the proposal alone is computed at the agent's expense.
    const alone =
      making.from === "merge" ? { from: "content" as const, bytes: making.proposed, isJson: false } : making;
    const { bytes, hash } = madeBy(await this.#overlay.change(path, null, alone, false));
    this.contents.keep(hash, bytes);
    const node: Node = { kind: "file", size: bytes.length, content: { bytes, hash } };
    return this.#unseenly(path, node, index, { kind: "create", bytes: bytes.length }, input.expected, run);
  }

  async #edit(input: Extract<EffectInput, { kind: "file.edit" }>, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    this.#mustSee("file", path);
    const known = await this.#overlay.at(path);
    const node = fileOf(path, known.node);
    checkEditable(path, node);
    await checkExpected(this.#overlay, path, node, input.expected);
    const making = this.#made.get(index) ?? { from: "edits" as const, edits: input.edits };
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
    const changed = await this.#change(path, node, making);
    const { before, sizeBefore, share, diff } = changed;
    const { hash: after, bytes: content } = madeBy(changed);
    this.contents.keep(after, content);
    const { cleared, made } = await this.#overlay.makeParents(path, index);
    const left: FileNode = { kind: "file", size: content.length, content: { bytes: content, hash: after } };
    this.#overlay.set(path, left, index, before !== null);
    const larger = Math.max(sizeBefore ?? 0, content.length);
    const runs = changed.runs || isExecutable(modeOf(node)) || (await this.#scripts.run(path));
    const verb = before === null ? "Create" : kind === "file.edit" ? "Edit" : "Overwrite";
    return {
      effect: {
        kind,
        path,
        before,
        after,
        ...(diff === undefined ? {} : { diff }),
        summary: `${verb} ${path} (${sizeChange(sizeBefore, content.length)})`,
      },
      operation: { do: "put", path, before, after },
      dependsOn: [...producers(known), ...cleared],
      facts: {
        kind: before === null ? "create" : kind === "file.edit" ? "edit" : "overwrite",
        changedShare: share,
        bytes: Math.round(share * larger),
        ...this.#subjects.protectedFact([path], { runs }),
      },
      subject: this.#subjects.of(kind, [path], { made, runs }),
    };
  }

  async #delete(input: Extract<EffectInput, { kind: "file.delete" }>, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    this.#mustSee("file", path);
    const known = await this.#overlay.at(path);
    const node = fileOf(path, known.node);
    checkKeepable(path, node, "move it instead");
    await checkExpected(this.#overlay, path, node, input.expected);
    const diff =
      node.size <= actionLimits.diffTextBytes
        ? (await this.#change(path, node, { from: "nothing" })).diff
        : undefined;
    const before = await this.#overlay.hashOf(path, node);
    const runs = isExecutable(modeOf(node)) || (await this.#scripts.run(path));
    this.#overlay.set(path, { kind: "absent" }, index);
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
        ...this.#subjects.protectedFact([path], { runs }),
      },
      subject: this.#subjects.of(input.kind, [path], { runs }),
    };
  }

  async #move(input: Extract<EffectInput, { kind: "file.move" }>, index: number): Promise<PlannedEffect> {
    const [from, to] = [entryPath(input.from), entryPath(input.to)];
    if (from === to) throw invalidParams(`${JSON.stringify(from)} is already there.`, { path: to });
    this.#mustSee("file or folder", from);
    const source = await this.#overlay.at(from);
    if (source.node.kind === "absent") throw notFound("file or folder", from);
    // Members of a folder may be hidden, so no answer may depend on them.
    const seesTarget = await this.#sight.seesWayTo(to);
    const isUnseen = source.node.kind === "folder" || !seesTarget;
    const met = new Obstacles(isUnseen);
    this.#overlay.refuseMoved(to);
    const target = await met.at(this.#sight.sees(to), absent, () => this.#freeTarget(to));
    const listing =
      source.node.kind === "folder" ? await this.#folderToMove(from, to, source, index, met) : null;
    if (source.node.kind === "file" && !this.#ports.files.sameRoot(from, to))
      checkKeepable(from, source.node, "it can be moved within its own folder of the workspace only");
    const content = listing?.hash ?? (await this.#overlay.hashOf(from, fileOf(from, source.node)));
    const { cleared, made } = await met.at(seesTarget, { cleared: [], made: [] }, () =>
      this.#overlay.makeParents(to, index),
    );
    if (listing === null) {
      this.#overlay.set(from, { kind: "absent" }, index);
      this.#overlay.set(to, source.node, index);
    } else {
      this.#overlay.moveFolder(from, to, index);
    }
    const kind = listing === null ? "file" : "folder";
    const members = listing === null ? undefined : await this.#seenMembers(from, listing);
    const hidden = (listing?.members.length ?? 0) - (members?.paths.length ?? 0);
    const mode = listing?.mode ?? modeOf(source.node);
    const runs =
      isExecutable(mode) ||
      (await this.#scripts.run(from, members?.paths)) ||
      (await this.#scripts.run(to, members?.paths));
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
        ...this.#subjects.protectedFact([from, to], { members, runs }),
      },
      subject: this.#subjects.of(input.kind, [from, to], { made, members, runs }),
    };
    if (!isUnseen) return planned;
    const why = listing === null ? whyAsked.hidden : whyAsked.folder;
    const makes = seesTarget ? made : foldersAbove(to);
    const asUnseen = this.#asUnseen(planned, { kind: "move" }, met.first, makes, why);
    const sawAll = listing !== null && listing !== unknownListing && hidden === 0 && seesTarget;
    if (!sawAll || met.first !== null || asUnseen.unseen === undefined) return asUnseen;
    return { ...asUnseen, unseen: { ...asUnseen.unseen, sawAll } };
  }

  async #freeTarget(to: string): Promise<Known> {
    const target = await this.#overlay.at(to);
    if (target.node.kind === "absent") return target;
    throw invalidParams(`There is already something at ${JSON.stringify(to)}; choose another name.`, {
      path: to,
    });
  }

  async #folderToMove(from: string, to: string, source: Known, index: number, met: Obstacles) {
    if (isWithinExactly(from, to))
      throw invalidParams(`${JSON.stringify(from)} cannot be moved into itself.`, { path: to });
    if (source.producer !== null) {
      throw invalidParams(
        `Effect ${source.producer} makes the folder ${JSON.stringify(from)}; make it where it should be.`,
        { path: from },
      );
    }
    if (!this.#ports.files.sameRoot(from, to)) {
      throw invalidParams(
        `The folder ${JSON.stringify(from)} cannot be moved to another folder of the workspace; move its files.`,
        { path: to },
      );
    }
    // Registered before the folder is read: nothing else in this action may touch it.
    this.#overlay.moveFolder(from, from, index);
    const { protectedPaths, forbiddenPaths } = this.#authority;
    const move = { to, places: { protectedPaths, forbiddenPaths } };
    return met.at(false, unknownListing, () =>
      this.#budget.unseen(() => this.#ports.contents.list(from, move, this.#budget)),
    );
  }

  async #createFolder(
    input: Extract<EffectInput, { kind: "folder.create" }>,
    index: number,
  ): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    const run = (known: Known): Promise<PlannedEffect> => this.#makeFolder(path, known, index);
    if (await this.#sight.seesWayTo(path)) return run(await this.#overlay.at(path));
    return this.#unseenly(path, { kind: "folder" }, index, { kind: "folder" }, undefined, run);
  }

  async #makeFolder(path: string, known: Known, index: number): Promise<PlannedEffect> {
    if (known.node.kind === "file") throw invalidParams(`${JSON.stringify(path)} is a file.`, { path });
    const exists = known.node.kind === "folder";
    const { cleared, made } = exists
      ? { cleared: [], made: [] }
      : await this.#overlay.makeParents(path, index);
    const dependsOn = exists ? [] : [...producers(known), ...cleared];
    if (!exists) this.#overlay.set(path, { kind: "folder" }, index);
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
      facts: { kind: "folder", ...this.#subjects.protectedFact([path]) },
      subject: this.#subjects.of("folder.create", [path], { made }),
    };
  }

  async #metadata(input: MetadataInput, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    this.#mustSee("file or folder", path);
    const known = await this.#overlay.at(path);
    if (known.node.kind === "absent") throw notFound("file or folder", path);
    if (this.#overlay.changesIdentity(path)) {
      throw invalidParams(
        `Another effect of this action makes or moves ${JSON.stringify(path)}; propose ${input.kind} once that is done.`,
        { path },
      );
    }
    const change = changeOf(path, input);
    const slot = slotOf(change);
    const earlier = this.#slots.get(slot);
    const before =
      earlier === undefined
        ? ((await this.#hashed(await currentValue(this.#ports.metadata, change)))?.hash ?? null)
        : earlier.hash;
    const { hash: after, content } = (await this.#hashed(valueOf(change))) ?? { hash: null, content: null };
    this.#slots.set(slot, { hash: after, effect: index });
    if (content !== null && after !== null) this.contents.keep(after, content);
    const operation = { do: "metadata" as const, change, before, after };
    const { value, ...rest } = fieldsOf(input);
    return {
      effect: {
        kind: input.kind,
        path,
        before,
        after,
        ...rest,
        ...(value === undefined || content !== null ? {} : { value }),
      },
      operation: content === null ? operation : withValueStored(operation),
      dependsOn: earlier === undefined ? [] : [earlier.effect],
      facts: { kind: "metadata" },
      subject: this.#subjects.of(input.kind, [path]),
    };
  }

  async #hashed(value: JsonValue | undefined): Promise<HashedValue | null> {
    return value === undefined ? null : this.#ports.contents.value(value, this.#budget);
  }

  async #change(path: string, node: Node, made: NewContent): Promise<ChangedContent> {
    const hasRoom = this.#budget.isUnseen
      ? this.#diffBytes.unseen < actionLimits.unseenDiffBytes
      : this.#diffBytes.seen < actionLimits.diffTotalBytes;
    const wantsDiff = hasRoom && this.#budget.hasTimeToCompare;
    return this.#overlay.change(path, node.kind === "file" ? node : null, made, wantsDiff);
  }

  /** Throws the same NotFound for a hidden path as for a missing one. */
  #mustSee(what: string, path: string): void {
    if (!this.#sight.sees(path)) throw notFound(what, path);
  }

  async #seenMembers(folder: string, { members, protections }: FolderListing): Promise<SeenMembers> {
    const paths: string[] = [];
    const found: Protection[] = [];
    // In order: a folder comes before its members.
    const leftOut = new Set<string>();
    for (const [index, member] of members.entries()) {
      if (!this.#slices.hasTime) await this.#slices.next();
      const path = `${folder}/${member}`;
      if (leftOut.has(parentOf(member) ?? ".") || this.#ports.index.hides(path)) {
        leftOut.add(member);
      } else if (this.#sight.seesEntry(path, "file")) {
        paths.push(member);
        found.push(protections[index] ?? "forbidden");
      }
    }
    return { paths, protection: strictest(found) };
  }

  /**
   * Plans an effect that puts `node` at a path that the agent cannot see. Conflicts at that path are left to the
   * commit, and the agent gets the same answer with or without them.
   */
  async #unseenly(
    path: string,
    node: Node,
    index: number,
    facts: ImpactFacts,
    expected: Hash | null | undefined,
    run: (known: Known) => Promise<PlannedEffect>,
  ): Promise<PlannedEffect> {
    this.#overlay.refuseMoved(path);
    await this.#refuseLink(path);
    // For the agent, the path is free.
    await checkExpected(this.#overlay, path, absent.node, expected);
    let obstacle: string | null = null;
    let planned: PlannedEffect;
    try {
      planned = await this.#budget.unseen(async () => run(await this.#overlay.at(path)));
    } catch (error) {
      if (!(error instanceof LaresError)) throw error;
      obstacle = error.message;
      planned = this.#blind(path, node);
      this.#overlay.set(path, node, index);
    }
    return this.#asUnseen(planned, facts, obstacle, foldersAbove(path), whyAsked.hidden);
  }

  /** Throws if the path is a link or lies behind one, unless the index hides that name. */
  async #refuseLink(path: string): Promise<void> {
    if (this.#ports.index.hides(path)) return;
    try {
      await this.#overlay.at(path);
    } catch (error) {
      if (isLaresError(error, "ScopeViolation")) throw error;
    }
  }

  /** Returns the plan for a free path. */
  #blind(path: string, node: Node): PlannedEffect {
    const summary = `Create ${node.kind === "folder" ? "the folder " : ""}${path}`;
    const after = node.kind === "file" && "hash" in node.content ? node.content.hash : null;
    const kind = after === null ? "folder.create" : "file.write";
    return {
      effect: { kind, path, before: null, after, summary },
      operation: after === null ? { do: "mkdir", path } : { do: "put", path, before: null, after },
      dependsOn: [],
      facts: { kind: after === null ? "folder" : "create", ...this.#subjects.protectedFact([path]) },
      subject: this.#subjects.of(kind, [path]),
    };
  }

  /** `makes`: every folder on the way that may be missing; the agent must not learn which of them are. */
  #asUnseen(
    planned: PlannedEffect,
    facts: ImpactFacts,
    obstacle: string | null,
    makes: readonly string[],
    why: string,
  ): PlannedEffect {
    const { effect, subject } = planned;
    const { diff, ...rest } = effect;
    const keepsDiff = diff !== undefined && this.#diffBytes.unseen < actionLimits.unseenDiffBytes;
    if (keepsDiff) this.#diffBytes.unseen += diff.length;
    const isReplaced = effect.before !== null && effect.from === undefined;
    const notes = [
      isReplaced ? ". The agent cannot see what this replaces" : "",
      obstacle === null ? "" : `. This cannot be made: ${obstacle}`,
    ];
    return {
      ...planned,
      effect: { ...rest, ...(keepsDiff ? { diff } : {}), summary: effect.summary + notes.join("") },
      subject: { ...subject, makes, alwaysAsked: why },
      unseen: { facts: { ...facts, ...this.#subjects.protectedFact(subject.paths) } },
    };
  }
}

const absent: Known = { node: { kind: "absent" }, producer: null };

function madeBy({ made }: ChangedContent): NonNullable<ChangedContent["made"]> {
  if (made === null) throw new LaresError("InternalError", "A change made no content.");
  return made;
}

/**
 * Returns the permissions of an existing file; 0 for the result of an earlier effect, which was checked with that
 * effect.
 */
function modeOf(node: Node): number {
  return node.kind === "file" && "stat" in node.content ? node.content.stat.mode : 0;
}

/** Checked before the file is read. */
function checkEditable(path: string, { size }: FileNode): void {
  if (size <= actionLimits.previewFileBytes) return;
  throw limitExceeded(
    "previewFileBytes",
    size,
    `${JSON.stringify(path)} has ${size} bytes; files up to ${actionLimits.previewFileBytes} bytes can be written or edited.`,
  );
}

/** The same for what an undo has to restore. */
function checkKeepable(path: string, { size }: FileNode, instead: string): void {
  if (size <= actionLimits.preimageBytes) return;
  throw limitExceeded(
    "preimageBytes",
    size,
    `${JSON.stringify(path)} has ${size} bytes, more than are kept for an undo (${actionLimits.preimageBytes}); ${instead}.`,
  );
}

function producers(...known: readonly Known[]): number[] {
  return [...new Set(known.flatMap(({ producer }) => (producer === null ? [] : [producer])))];
}
