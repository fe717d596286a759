import { unreachable } from "../base/exhaustive.ts";
import { invalidParams, LaresError, limitExceeded, notFound, scopeViolation } from "../base/errors.ts";
import type { Effect, EffectInput } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { sha256 } from "../platform/hash.ts";
import type { ApprovalSubject } from "../policy/approval.ts";
import { isExecutable } from "../policy/executable.ts";
import { changedShare, type ImpactFacts } from "../policy/impact.ts";
import { isWithin } from "../policy/paths.ts";
import { protectionOf, type ProtectedPlaces, type Protection } from "../policy/protected.ts";
import { listFolder } from "./folder-listing.ts";
import { checkExpected, contentOf, entryPath, fileOf } from "./inputs.ts";
import { actionLimits } from "./limits.ts";
import { planMetadata, slotOf, type MetadataInput } from "./metadata.ts";
import type { Operation } from "./operations.ts";
import { Overlay, type FileNode, type Known, type Node } from "./overlay.ts";
import { PackageScripts } from "./package-scripts.ts";
import type { ActionPorts } from "./ports.ts";
import { bytesText, sizeChange } from "./sizes.ts";
import { applyEdits, textOf, unifiedDiff } from "./text.ts";
import { withoutLargeValue } from "./values.ts";

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

export type PlannerPorts = Pick<ActionPorts, "files" | "metadata" | "copies">;

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
): Promise<Plan> {
  const planner = new Planner(ports, places);
  const effects: PlannedEffect[] = [];
  for (const [index, input] of inputs.entries()) {
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
  readonly #overlay: Overlay;
  readonly #scripts: PackageScripts;
  /** What earlier effects leave beside entries, by place. */
  readonly #slots = new Map<string, { readonly hash: Hash | null; readonly effect: number }>();
  #contentBytes = 0;
  #diffBytes = 0;

  constructor(ports: PlannerPorts, places: ProtectedPlaces) {
    this.#ports = ports;
    this.#places = places;
    this.#overlay = new Overlay(ports.files);
    this.#scripts = new PackageScripts(ports.files);
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
    return this.#put(input.kind, path, known, contentOf(input), index);
  }

  async #edit(input: Extract<EffectInput, { kind: "file.edit" }>, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    const known = await this.#overlay.at(path);
    const node = fileOf(path, known.node);
    checkEditable(path, node);
    await checkExpected(this.#overlay, path, node, input.expected);
    const text = textOf(await this.#overlay.bytesOf(path, node));
    if (text === null) {
      throw invalidParams(
        `${JSON.stringify(path)} is not UTF-8 text, so it cannot be edited; write it whole.`,
        { path },
      );
    }
    const edited = applyEdits(path, text, input.edits);
    return this.#put(input.kind, path, known, new TextEncoder().encode(edited), index);
  }

  async #put(
    kind: "file.write" | "file.edit",
    path: string,
    known: Known,
    content: Uint8Array,
    index: number,
  ): Promise<PlannedEffect> {
    const { node } = known;
    const old = node.kind === "file" ? await this.#overlay.bytesOf(path, node) : null;
    const before = node.kind === "file" ? await this.#overlay.hashOf(path, node) : null;
    const after = sha256(content);
    this.#keep(after, content);
    const dependsOn = [...producers(known), ...(await this.#overlay.makeParents(path, index))];
    this.#overlay.set(path, { kind: "file", size: content.length, content }, index, before !== null);
    const diff = this.#diff(path, old, content);
    const share = old === null ? 1 : changedShare(old, content);
    const larger = Math.max(old?.length ?? 0, content.length);
    const runs =
      isExecutable(modeOf(node), content) || isExecutable(0, old) || (await this.#scripts.run(path));
    const verb = before === null ? "Create" : kind === "file.edit" ? "Edit" : "Overwrite";
    return {
      effect: {
        kind,
        path,
        before,
        after,
        ...(diff === undefined ? {} : { diff }),
        summary: `${verb} ${path} (${sizeChange(old?.length ?? null, content.length)})`,
      },
      operation: { do: "put", path, before, after },
      dependsOn,
      facts: {
        kind: before === null ? "create" : kind === "file.edit" ? "edit" : "overwrite",
        changedShare: share,
        bytes: Math.round(share * larger),
        ...this.#protectedFact([path], runs),
      },
      subject: this.#subject(kind, [path], [], runs),
    };
  }

  async #delete(input: Extract<EffectInput, { kind: "file.delete" }>, index: number): Promise<PlannedEffect> {
    const path = entryPath(input.path);
    const known = await this.#overlay.at(path);
    const node = fileOf(path, known.node);
    checkKeepable(path, node, "move it instead");
    await checkExpected(this.#overlay, path, node, input.expected);
    const old = node.size <= actionLimits.diffTextBytes ? await this.#overlay.bytesOf(path, node) : null;
    const diff = old === null ? undefined : this.#diff(path, old, null);
    const before = await this.#overlay.hashOf(path, node);
    const copyRemains = this.#ports
      .copies(before)
      .some((copy) => copy !== path && !this.#overlay.changesIdentity(copy));
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
        copyRemains,
        ...this.#protectedFact([path], runs),
      },
      subject: this.#subject(input.kind, [path], [], runs),
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
    const members = (listing?.members ?? []).flatMap((member) => [`${from}/${member}`, `${to}/${member}`]);
    const mode = listing?.mode ?? modeOf(source.node);
    const inside = listing?.members ?? [];
    const runs =
      isExecutable(mode) || (await this.#scripts.run(from, inside)) || (await this.#scripts.run(to, inside));
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
        ...this.#protectedFact([from, to, ...members], runs),
      },
      subject: this.#subject(input.kind, [from, to], members, runs),
    };
  }

  async #folderToMove(from: string, to: string, source: Known, index: number) {
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
    const listing = await listFolder(this.#ports.files, from);
    const closed = listing.members.find(
      (member) => this.#protection([`${from}/${member}`, `${to}/${member}`]) === "forbidden",
    );
    if (closed !== undefined) {
      throw scopeViolation(
        from,
        `The folder ${JSON.stringify(from)} holds ${JSON.stringify(closed)}, which is never touched.`,
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
    const planned = await planMetadata(this.#ports.metadata, path, input);
    const { change } = planned;
    const slot = slotOf(planned.change);
    const earlier = this.#slots.get(slot);
    const before = earlier === undefined ? planned.effect.before : earlier.hash;
    this.#slots.set(slot, { hash: planned.effect.after, effect: index });
    const { after } = planned.effect;
    const { operation, content } = withoutLargeValue({ do: "metadata", change, before, after });
    if (content !== null && after !== null) this.#keep(after, content);
    const { value, ...rest } = planned.effect;
    return {
      effect: { ...rest, before, ...(value === undefined || content !== null ? {} : { value }) },
      operation,
      dependsOn: earlier === undefined ? [] : [earlier.effect],
      facts: { kind: "metadata" },
      subject: this.#subject(input.kind, [path]),
    };
  }

  #diff(path: string, old: Uint8Array | null, content: Uint8Array | null): string | undefined {
    if (this.#diffBytes >= actionLimits.diffTotalBytes) return undefined;
    const diff = unifiedDiff({ before: path, after: path }, old, content);
    this.#diffBytes += diff?.length ?? 0;
    return diff;
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

  #subject(
    kind: EffectInput["kind"],
    paths: readonly string[],
    members: readonly string[] = [],
    runs = false,
  ): ApprovalSubject {
    return { kind, paths, protection: this.#protection([...paths, ...members], runs) };
  }

  #protectedFact(paths: readonly string[], runs = false): { protected?: true } {
    return this.#protection(paths, runs) === "none" ? {} : { protected: true };
  }

  /** `runs`: something there can be executed, or could be afterwards. */
  #protection(paths: readonly string[], runs = false): Protection {
    let strictest: Protection = runs ? "protected" : "none";
    for (const path of paths) {
      const found = protectionOf(path, this.#places);
      if (found === "forbidden") return found;
      if (found === "protected") strictest = found;
    }
    return strictest;
  }
}

/** The permissions of a file that is there; none of what an earlier effect makes, which was looked at with that effect. */
function modeOf(node: Node): number {
  return node.kind === "file" && !(node.content instanceof Uint8Array) ? node.content.stat.mode : 0;
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
