import { unreachable } from "../../base/exhaustive.ts";
import type { CpuBudget } from "../../base/cpu-budget.ts";
import { stale } from "../../base/errors.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import type { MetadataChange } from "../../base/vocabulary/metadata.ts";
import { stagingName } from "../../base/names.ts";
import { foldersAbove, isWithinExactly, parentOf } from "../../policy/paths.ts";
import { fingerprint } from "../fingerprint.ts";
import { currentValue, hashOfValue, restoring, slotOf } from "../metadata.ts";
import { valueOf, type Operation } from "../operations.ts";
import type { ActionPorts } from "../ports.ts";
import { identityOf, type BackedUp, type Identity, type Staged, type Step, type StepPlan } from "../steps.ts";

export interface Compiled {
  readonly plan: StepPlan;
  readonly metadata: readonly MetadataChange[];
  /** Metadata of files that an undo brings back. */
  readonly restored: readonly MetadataChange[];
  /** The operations that undo all of it, in the order in which to carry them out. */
  readonly inverse: readonly Operation[];
  /** Files of the workspace whose content must be stored before they are touched. */
  readonly preimages: readonly { readonly path: string; readonly hash: Hash; readonly bytes: number }[];
  /** Every path that changes. */
  readonly touched: readonly string[];
}

type Simulated =
  | { readonly kind: "absent" }
  | { readonly kind: "folder" }
  | {
      readonly kind: "file";
      readonly hash: Hash;
      readonly identity: Identity;
      readonly size?: number;
      readonly mode?: number;
      readonly mtimeMs?: number;
      /** The path at which the workspace still has the content. */
      readonly original?: string;
    };

type CompilePorts = Pick<ActionPorts, "files" | "contents" | "metadata" | "openWithUnsavedChanges">;

/**
 * Compares operations with the current workspace and compiles them to steps. Rejects with Stale {path} at the first
 * difference: other content, a file that appeared or disappeared, or a file that a client has open with unsaved
 * changes. Reading contents is charged to `budget`.
 */
export async function compileOperations(
  ports: CompilePorts,
  actionId: string,
  operations: readonly Operation[],
  budget: CpuBudget,
): Promise<Compiled> {
  const compiler = new Compiler(ports, actionId, operations, budget);
  for (const operation of operations) await compiler.add(operation);
  return compiler.result();
}

class Compiler {
  readonly #ports: CompilePorts;
  readonly #actionId: string;
  readonly #budget: CpuBudget;
  readonly #simulated = new Map<string, Simulated>();
  /** Metadata slots of entries: the change that restores the original value, and the current value. */
  readonly #slots = new Map<string, { readonly original: MetadataChange; readonly hash: Hash | null }>();
  readonly #goingFolders: readonly string[];
  readonly #staged: Staged[] = [];
  readonly #steps: Step[] = [];
  readonly #metadata: MetadataChange[] = [];
  readonly #restored: MetadataChange[] = [];
  readonly #inverse: Operation[] = [];
  readonly #preimages: { path: string; hash: Hash; bytes: number }[] = [];
  /** Files that are removed, together with their metadata. */
  readonly #going = new Set<string>();
  readonly #touched = new Set<string>();
  #names = 0;

  constructor(ports: CompilePorts, actionId: string, operations: readonly Operation[], budget: CpuBudget) {
    this.#ports = ports;
    this.#budget = budget;
    this.#actionId = actionId;
    this.#goingFolders = operations.flatMap((operation) =>
      operation.do === "rmdir" ? [operation.path] : [],
    );
  }

  result(): Compiled {
    for (const { original, hash } of this.#slots.values()) {
      if (this.#going.has(original.path)) continue;
      const after = hashOfValue(valueOf(original));
      if (after !== hash) this.#inverse.push({ do: "metadata", change: original, before: hash, after });
    }
    return {
      plan: { staged: this.#staged, steps: this.#steps },
      metadata: this.#metadata,
      restored: this.#restored,
      inverse: this.#inverse.toReversed(),
      preimages: this.#preimages,
      touched: [...this.#touched],
    };
  }

  async add(operation: Operation): Promise<void> {
    switch (operation.do) {
      case "put":
        return this.#put(operation);
      case "remove":
        return this.#remove(operation);
      case "move":
        return operation.kind === "folder" ? this.#moveFolder(operation) : this.#moveFile(operation);
      case "mkdir":
        return this.#mkdir(operation.path);
      case "rmdir":
        this.#touched.add(operation.path);
        this.#steps.push({ kind: "rmdir", path: operation.path });
        this.#simulated.set(operation.path, { kind: "absent" });
        return;
      case "metadata":
        return this.#changeMetadata(operation);
      default:
        return unreachable(operation);
    }
  }

  async #put(operation: Extract<Operation, { do: "put" }>): Promise<void> {
    const { path, before, after } = operation;
    if (before === null) {
      await this.#free(path);
      await this.#makeParents(path);
      const staged = await this.#stage(path, after, operation);
      this.#steps.push({ kind: "place", path, staged });
      this.#become(path, { kind: "file", hash: after, identity: { staged } });
      this.#inverse.push({ do: "remove", path, before: after });
      return;
    }
    const old = await this.#fileWith(path, before);
    this.#preserve(old);
    const mode = operation.mode ?? old.mode;
    const staged = await this.#stage(path, after, { ...operation, ...(mode === undefined ? {} : { mode }) });
    this.#steps.push({ kind: "replace", staged, ...(await this.#backUp(path, old)) });
    this.#become(path, {
      kind: "file",
      hash: after,
      identity: { staged },
      ...(mode === undefined ? {} : { mode }),
    });
    this.#inverse.push({ do: "put", path, before: after, after: before, ...attributes(old) });
  }

  async #remove({ path, before, remains }: Extract<Operation, { do: "remove" }>): Promise<void> {
    if (remains !== undefined) {
      const copy = await this.#at(remains);
      if (copy.kind !== "file" || copy.hash !== before) throw changed(path);
    }
    const old = await this.#fileWith(path, before);
    this.#preserve(old);
    this.#steps.push({ kind: "remove", ...(await this.#backUp(path, old)) });
    this.#become(path, { kind: "absent" });
    if (old.original === path) await this.#keepBeside(path);
    this.#inverse.push({ do: "put", path, before: null, after: before, ...attributes(old) });
  }

  /** Metadata is removed together with its entry, so an undo has to restore it too. */
  async #keepBeside(path: string): Promise<void> {
    this.#going.add(path);
    for (const change of await this.#ports.metadata.kept(path)) {
      const after = hashOfValue(valueOf(change));
      this.#inverse.push({ do: "metadata", change, before: null, after, ofRestored: true });
    }
  }

  async #moveFile({ from, to, content }: Extract<Operation, { do: "move" }>): Promise<void> {
    const old = await this.#fileWith(from, content);
    await this.#free(to);
    if (!this.#ports.files.sameRoot(from, to)) {
      // The target may be on another file system, so the file is copied and the original removed.
      await this.#put({ do: "put", path: to, before: null, after: content, ...attributes(old) });
      await this.#remove({ do: "remove", path: from, before: content });
      return;
    }
    await this.#makeParents(to);
    this.#steps.push({ kind: "rename", from, to, identity: old.identity });
    this.#become(from, { kind: "absent" });
    this.#become(to, old);
    this.#inverse.push({ do: "move", from: to, to: from, kind: "file", content });
  }

  async #moveFolder({ from, to, content }: Extract<Operation, { do: "move" }>): Promise<void> {
    const stat = await this.#ports.files.stat(from);
    if (stat?.kind !== "folder") throw changed(from);
    const listing = await this.#ports.contents.list(from, null, this.#budget);
    if (listing.hash !== content) throw changed(from);
    const members = listing.members.map((member) => `${from}/${member}`);
    await this.#notUnsaved(members);
    await this.#free(to);
    await this.#makeParents(to);
    this.#steps.push({ kind: "rename", from, to, identity: { known: identityOf(stat) } });
    this.#become(from, { kind: "absent" });
    this.#become(to, { kind: "folder" });
    this.#inverse.push({ do: "move", from: to, to: from, kind: "folder", content });
  }

  async #mkdir(path: string): Promise<void> {
    const found = await this.#at(path);
    if (found.kind === "file") throw changed(path);
    if (found.kind === "folder") return;
    await this.#makeParents(path);
    this.#steps.push({ kind: "mkdir", path });
    this.#become(path, { kind: "folder" });
    this.#inverse.push({ do: "rmdir", path });
  }

  async #changeMetadata(operation: Extract<Operation, { do: "metadata" }>): Promise<void> {
    const { change, before, after } = operation;
    if (operation.ofRestored === true) {
      // If the entry exists now, it was never removed: another file took its place within the action.
      if (this.#ports.metadata.current(change.path) === null) this.#restored.push(change);
      return;
    }
    const slot = slotOf(change);
    const earlier = this.#slots.get(slot);
    const original = earlier?.original ?? restoring(change, await currentValue(this.#ports.metadata, change));
    const found = earlier === undefined ? hashOfValue(valueOf(original)) : earlier.hash;
    // A tag is either present or not, so it does not matter who set it. A value may be somebody's work, so a different
    // value is a conflict.
    if (change.kind !== "tag" && found !== before) throw changed(change.path);
    this.#slots.set(slot, { original, hash: after });
    this.#metadata.push(change);
    this.#touched.add(change.path);
  }

  async #makeParents(path: string): Promise<void> {
    for (const folder of foldersAbove(path)) {
      const found = await this.#at(folder);
      if (found.kind === "file") throw changed(folder);
      if (found.kind === "folder") continue;
      this.#steps.push({ kind: "mkdir", path: folder });
      this.#become(folder, { kind: "folder" });
      this.#inverse.push({ do: "rmdir", path: folder });
    }
  }

  async #free(path: string): Promise<void> {
    if ((await this.#at(path)).kind !== "absent") throw changed(path);
    // An editor may have unsaved changes of this file.
    await this.#notUnsaved([path]);
  }

  async #fileWith(path: string, hash: Hash): Promise<Extract<Simulated, { kind: "file" }>> {
    const found = await this.#at(path);
    if (found.kind !== "file" || found.hash !== hash) throw changed(path);
    if (found.original !== undefined) await this.#notUnsaved([found.original]);
    return found;
  }

  async #notUnsaved(paths: readonly string[]): Promise<void> {
    const unsaved = await this.#ports.openWithUnsavedChanges(paths);
    if (unsaved !== null) throw unsavedChanges(unsaved);
  }

  async #at(path: string): Promise<Simulated> {
    const known = this.#simulated.get(path);
    if (known !== undefined) return known;
    const seen = await this.#look(path);
    this.#simulated.set(path, seen);
    return seen;
  }

  async #look(path: string): Promise<Simulated> {
    const { files, contents } = this.#ports;
    const stat = await files.stat(path);
    if (stat === null) return { kind: "absent" };
    if (stat.kind === "folder") return { kind: "folder" };
    const hash = stat.kind === "file" ? await fingerprint(contents, path, stat, this.#budget) : null;
    const after = await files.stat(path);
    if (
      hash === null ||
      after?.mtimeMs !== stat.mtimeMs ||
      after.inode !== stat.inode ||
      after.size !== stat.size
    ) {
      throw changed(path);
    }
    const { size, mode, mtimeMs } = stat;
    return { kind: "file", hash, identity: { known: identityOf(stat) }, size, mode, mtimeMs, original: path };
  }

  #become(path: string, node: Simulated): void {
    this.#simulated.set(path, node);
    this.#touched.add(path);
  }

  async #backUp(
    path: string,
    { identity, size, mtimeMs }: Extract<Simulated, { kind: "file" }>,
  ): Promise<BackedUp> {
    const was = size === undefined || mtimeMs === undefined ? {} : { was: { size, mtimeMs } };
    return { path, backup: await this.#nameBeside(path), identity, ...was };
  }

  #preserve(file: Extract<Simulated, { kind: "file" }>): void {
    if (file.original !== undefined)
      this.#preimages.push({ path: file.original, hash: file.hash, bytes: file.size ?? 0 });
  }

  async #stage(
    path: string,
    content: Hash,
    { mode, mtimeMs }: { mode?: number; mtimeMs?: number },
  ): Promise<number> {
    this.#staged.push({
      temporary: await this.#nameBeside(path),
      content,
      ...(mode === undefined ? {} : { mode }),
      ...(mtimeMs === undefined ? {} : { mtimeMs }),
    });
    return this.#staged.length - 1;
  }

  /**
   * Returns an unused name in the nearest folder that exists both before and after the action, so that the file stays
   * on the same file system.
   */
  async #nameBeside(path: string): Promise<string> {
    let folder = parentOf(path) ?? ".";
    for (let parent = parentOf(folder); parent !== null; parent = parentOf(folder)) {
      const stays = !this.#goingFolders.some((going) => isWithinExactly(going, folder));
      const inRoot = this.#ports.files.locate(folder).path !== ".";
      if ((stays && (await this.#ports.files.stat(folder))?.kind === "folder") || !inRoot) break;
      folder = parent;
    }
    const name = stagingName(this.#actionId, this.#names++);
    return folder === "." ? name : `${folder}/${name}`;
  }
}

function attributes(file: Extract<Simulated, { kind: "file" }>): { mode?: number; mtimeMs?: number } {
  return {
    ...(file.mode === undefined ? {} : { mode: file.mode }),
    ...(file.mtimeMs === undefined ? {} : { mtimeMs: file.mtimeMs }),
  };
}

function changed(path: string) {
  return stale(path, `${JSON.stringify(path)} has changed in the meantime. Nothing was written.`);
}

function unsavedChanges(path: string) {
  return stale(
    path,
    `${JSON.stringify(path)} is open with unsaved changes. Save or discard them first. Nothing was written.`,
  );
}
