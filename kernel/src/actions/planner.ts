import type { CpuBudget } from "../base/cpu-budget.ts";
import { unreachable } from "../base/exhaustive.ts";
import type { JsonValue } from "../base/json.ts";
import { invalidParams, LaresError, limitExceeded, notFound, scopeViolation } from "../base/errors.ts";
import type { Effect, EffectInput } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Slices } from "../base/slices.ts";
import type { ApprovalSubject } from "../policy/approval.ts";
import type { ImpactFacts } from "../policy/impact.ts";
import { isWithin } from "../policy/paths.ts";
import { protectionOf, type ProtectedPlaces, type Protection } from "../policy/protected.ts";
import type { ChangedContent, FolderListing, HashedValue, NewContent } from "./content-requests.ts";
import { checkExpected, entryPath, fileOf } from "./inputs.ts";
import { actionLimits } from "./limits.ts";
import { changeOf, currentValue, fieldsOf, slotOf, type MetadataInput } from "./metadata.ts";
import { valueOf, type Operation } from "./operations.ts";
import { Overlay, type FileNode, type Known, type Node } from "./overlay.ts";
import type { ActionPorts } from "./ports.ts";
import { bytesText, sizeChange } from "./sizes.ts";
import { withValueStored } from "./values.ts";

/** One effect, looked at against the workspace and the effects before it. */
export interface PlannedEffect {
  readonly effect: Effect;
  readonly operation: Operation;
  /** Indices of the effects it builds on. */
  readonly dependsOn: readonly number[];
  readonly facts: ImpactFacts;
  readonly subject: ApprovalSubject;
}

export interface Plan {
  readonly effects: readonly PlannedEffect[];
  /** New contents, to be stored before the action is recorded. */
  readonly contents: ReadonlyMap<Hash, Uint8Array>;
}

export type PlannerPorts = Pick<ActionPorts, "files" | "contents" | "metadata" | "copies">;

/** What a plan may take. */
export interface PlanMeans {
  /** Whose CPU time the work on contents is. */
  readonly budget: CpuBudget;
  /** The time on the kernel's loop, between effects. */
  readonly slices: Slices;
}

/**
 * Works out what a proposal would do, changing nothing. Paths were checked by policy. Rejects with
 * InvalidParams (an effect that cannot be: an edit that does not apply, a target that exists), NotFound,
 * Stale (`expected` does not hold), ScopeViolation (a link; something closed inside a moved folder),
 * LimitExceeded.
 */
export async function planEffects(
  ports: PlannerPorts,
  places: ProtectedPlaces,
  inputs: readonly EffectInput[],
  { budget, slices }: PlanMeans,
): Promise<Plan> {
  const planner = new Planner(ports, places, budget);
  const effects: PlannedEffect[] = [];
  for (const [index, input] of inputs.entries()) {
    await slices.begin();
    if (budget.leftMs() <= 0) throw overBudget(budget);
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
  return { effects, contents: planner.contents };
}

class Planner {
  readonly contents = new Map<Hash, Uint8Array>();
  readonly #ports: PlannerPorts;
  readonly #places: ProtectedPlaces;
  readonly #budget: CpuBudget;
  readonly #overlay: Overlay;
  /** What earlier effects leave beside entries, by place. */
  readonly #slots = new Map<string, { readonly hash: Hash | null; readonly effect: number }>();
  #contentBytes = 0;
  #diffBytes = 0;

  constructor(ports: PlannerPorts, places: ProtectedPlaces, budget: CpuBudget) {
    this.#ports = ports;
    this.#places = places;
    this.#budget = budget;
    this.#overlay = new Overlay(ports, budget);
  }

  async plan(input: EffectInput, index: number): Promise<PlannedEffect> {
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
    const known = await this.#overlay.at(path);
    if (known.node.kind === "folder") throw invalidParams(`${JSON.stringify(path)} is a folder.`, { path });
    if (known.node.kind === "file") checkEditable(path, known.node);
    await checkExpected(this.#overlay, path, known.node, input.expected);
    return this.#put(input.kind, path, known, { from: "write", input }, index);
  }

  async #edit(input: Extract<EffectInput, { kind: "file.edit" }>, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    const known = await this.#overlay.at(path);
    const node = fileOf(path, known.node);
    checkEditable(path, node);
    await checkExpected(this.#overlay, path, node, input.expected);
    return this.#put(input.kind, path, known, { from: "edits", edits: input.edits }, index);
  }

  async #put(
    kind: "file.write" | "file.edit",
    path: string,
    known: Known,
    made: NewContent,
    index: number,
  ): Promise<PlannedEffect> {
    const changed = await this.#change(path, known.node, made);
    const { before, sizeBefore, share, diff } = changed;
    const { hash: after, bytes: content } = madeBy(changed);
    this.#keep(after, content);
    const dependsOn = [...producers(known), ...(await this.#overlay.makeParents(path, index))];
    const node: FileNode = {
      kind: "file",
      size: content.length,
      content: { bytes: content, hash: after },
    };
    this.#overlay.set(path, node, index, before !== null);
    const larger = Math.max(sizeBefore ?? 0, content.length);
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
      dependsOn,
      facts: {
        kind: before === null ? "create" : kind === "file.edit" ? "edit" : "overwrite",
        changedShare: share,
        bytes: Math.round(share * larger),
        ...this.#protectedFact([path]),
      },
      subject: this.#subject(kind, [path]),
    };
  }

  async #delete(input: Extract<EffectInput, { kind: "file.delete" }>, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    const known = await this.#overlay.at(path);
    const node = fileOf(path, known.node);
    checkKeepable(path, node, "move it instead");
    await checkExpected(this.#overlay, path, node, input.expected);
    const diff =
      node.size <= actionLimits.diffTextBytes
        ? (await this.#change(path, node, { from: "nothing" })).diff
        : undefined;
    const before = await this.#overlay.hashOf(path, node);
    const copyRemains = this.#ports
      .copies(before)
      .some((copy) => copy !== path && !this.#overlay.changesIdentity(copy));
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
      facts: { kind: "delete", bytes: node.size, copyRemains, ...this.#protectedFact([path]) },
      subject: this.#subject(input.kind, [path]),
    };
  }

  async #move(input: Extract<EffectInput, { kind: "file.move" }>, index: number): Promise<PlannedEffect> {
    const [from, to] = [entryPath(input.from), entryPath(input.to)];
    if (from === to) throw invalidParams(`${JSON.stringify(from)} is already there.`, { path: to });
    const [source, target] = [await this.#overlay.at(from), await this.#overlay.at(to)];
    if (source.node.kind === "absent") throw notFound("file or folder", from);
    if (target.node.kind !== "absent") {
      throw invalidParams(`There is already something at ${JSON.stringify(to)}; choose another name.`, {
        path: to,
      });
    }
    const listing = source.node.kind === "folder" ? await this.#folderToMove(from, to, source, index) : null;
    if (source.node.kind === "file" && !this.#ports.files.sameRoot(from, to))
      checkKeepable(from, source.node, "it can be moved within its own folder of the workspace only");
    const content = listing?.hash ?? (await this.#overlay.hashOf(from, fileOf(from, source.node)));
    const dependsOn = [...producers(source, target), ...(await this.#overlay.makeParents(to, index))];
    if (listing === null) {
      this.#overlay.set(from, { kind: "absent" }, index);
      this.#overlay.set(to, source.node, index);
    } else {
      this.#overlay.moveFolder(from, to, index);
    }
    const kind = listing === null ? "file" : "folder";
    const protection = strictest([this.#protection([from, to]), listing?.protection ?? "none"]);
    return {
      effect: {
        kind: input.kind,
        path: to,
        from,
        before: content,
        after: content,
        summary: `Move ${from} to ${to}${listing === null ? "" : ` (a folder of ${listing.files} files)`}`,
      },
      operation: { do: "move", from, to, kind, content },
      dependsOn,
      facts: {
        kind: "move",
        ...(listing === null ? {} : { files: listing.files }),
        ...protectedFact(protection),
      },
      subject: { kind: input.kind, paths: [from, to], protection },
    };
  }

  async #folderToMove(from: string, to: string, source: Known, index: number): Promise<FolderListing> {
    if (isWithin(from, to))
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
    // Before anything in it is looked at: nothing else in this action may touch it.
    this.#overlay.moveFolder(from, from, index);
    const { protectedPaths, forbiddenPaths } = this.#places;
    const move = { to, places: { protectedPaths, forbiddenPaths } };
    const listing = await this.#ports.contents.list(from, move, this.#budget);
    if (listing.forbidden !== null) {
      throw scopeViolation(
        from,
        `The folder ${JSON.stringify(from)} holds ${JSON.stringify(listing.forbidden)}, which is never touched.`,
      );
    }
    return listing;
  }

  async #createFolder(
    input: Extract<EffectInput, { kind: "folder.create" }>,
    index: number,
  ): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    const known = await this.#overlay.at(path);
    if (known.node.kind === "file") throw invalidParams(`${JSON.stringify(path)} is a file.`, { path });
    const exists = known.node.kind === "folder";
    const dependsOn = exists ? [] : [...producers(known), ...(await this.#overlay.makeParents(path, index))];
    if (!exists) this.#overlay.set(path, { kind: "folder" }, index);
    return {
      effect: {
        kind: input.kind,
        path,
        before: null,
        after: null,
        summary: exists ? `Keep the folder ${path}, which exists` : `Create the folder ${path}`,
      },
      operation: { do: "mkdir", path },
      dependsOn,
      facts: { kind: "folder", ...this.#protectedFact([path]) },
      subject: this.#subject(input.kind, [path]),
    };
  }

  async #metadata(input: MetadataInput, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
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
    if (content !== null && after !== null) this.#keep(after, content);
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
      facts: { kind: "metadata", ...this.#protectedFact([path]) },
      subject: this.#subject(input.kind, [path]),
    };
  }

  async #hashed(value: JsonValue | undefined): Promise<HashedValue | null> {
    return value === undefined ? null : this.#ports.contents.value(value, this.#budget);
  }

  async #change(path: string, node: Node, made: NewContent): Promise<ChangedContent> {
    const wantsDiff = this.#diffBytes < actionLimits.diffTotalBytes;
    const old = node.kind === "file" ? node : null;
    const changed = await this.#overlay.change(path, old, made, wantsDiff);
    this.#diffBytes += changed.diff?.length ?? 0;
    return changed;
  }

  #keep(hash: Hash, content: Uint8Array): void {
    if (content.length > actionLimits.previewFileBytes) {
      throw limitExceeded(
        "previewFileBytes",
        content.length,
        `A file of at most ${actionLimits.previewFileBytes} bytes can be written.`,
      );
    }
    if (this.contents.has(hash)) return;
    this.#contentBytes += content.length;
    if (this.#contentBytes > actionLimits.previewTotalBytes) {
      throw limitExceeded(
        "previewTotalBytes",
        this.#contentBytes,
        `The new contents of one action have at most ${actionLimits.previewTotalBytes} bytes together; propose several actions.`,
      );
    }
    this.contents.set(hash, content);
  }

  #subject(kind: EffectInput["kind"], paths: readonly string[]): ApprovalSubject {
    return { kind, paths, protection: this.#protection(paths) };
  }

  #protectedFact(paths: readonly string[]): { protected?: true } {
    return protectedFact(this.#protection(paths));
  }

  #protection(paths: readonly string[]): Protection {
    return strictest(paths.map((path) => protectionOf(path, this.#places)));
  }
}

function overBudget({ limit, allowedMs }: CpuBudget): LaresError {
  return limitExceeded(
    limit,
    allowedMs,
    `No CPU time is left to plan with: ${limit} allows ${allowedMs} ms. Propose less at a time.`,
  );
}

function strictest(found: readonly Protection[]): Protection {
  if (found.includes("forbidden")) return "forbidden";
  return found.includes("protected") ? "protected" : "none";
}

function protectedFact(protection: Protection): { protected?: true } {
  return protection === "none" ? {} : { protected: true };
}

function madeBy({ made }: ChangedContent): NonNullable<ChangedContent["made"]> {
  if (made === null) throw new LaresError("InternalError", "A change made no content.");
  return made;
}

/** Before anything of it is read. */
function checkEditable(path: string, { size }: FileNode): void {
  if (size <= actionLimits.previewFileBytes) return;
  throw limitExceeded(
    "previewFileBytes",
    size,
    `${JSON.stringify(path)} has ${size} bytes; files up to ${actionLimits.previewFileBytes} bytes can be written or edited.`,
  );
}

/** The same for what an undo has to bring back. */
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
