import type { CpuBudget } from "../base/cpu-budget.ts";
import { invalidParams, scopeViolation, stale } from "../base/errors.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { FileStat } from "../platform/rooted-fs.ts";
import type { WorkspaceFiles } from "../platform/workspace-files.ts";
import type { ChangedContent, NewContent } from "./content-requests.ts";
import { foldersAbove, foldPath, isWithinExactly } from "../policy/paths.ts";
import { fingerprint } from "./fingerprint.ts";
import type { ContentWork } from "./ports.ts";

/** What is at a path, as far as an action has come. */
export type Node = { readonly kind: "absent" } | { readonly kind: "folder" } | FileNode;

export interface FileNode {
  readonly kind: "file";
  readonly size: number;
  /** Where its bytes are: still in the workspace, where nothing has read it yet, or made by an earlier effect. */
  readonly content:
    { readonly path: string; readonly stat: FileStat } | { readonly bytes: Uint8Array; readonly hash: Hash };
}

export interface Known {
  readonly node: Node;
  /** Index of the effect that made it so; null: the workspace is like this. */
  readonly producer: number | null;
}

/**
 * The workspace as the effects of one action leave it, one after the other, without anything having been
 * changed: each effect sees what those before it did.
 */
export class Overlay {
  readonly #files: WorkspaceFiles;
  readonly #contents: ContentWork;
  readonly #budget: CpuBudget;
  readonly #known = new Map<string, Known>();
  /** Folded, as are the paths that effects changed: two spellings may be one file. */
  readonly #movedFolders: { readonly from: string; readonly to: string; readonly effect: number }[] = [];
  readonly #changed = new Map<string, number>();
  readonly #hashes = new WeakMap<FileNode, Hash>();
  /** Paths at which another entry than before is, or none. */
  readonly #newIdentity = new Set<string>();

  /** The work is done at the expense of `budget`. */
  constructor({ files, contents }: { files: WorkspaceFiles; contents: ContentWork }, budget: CpuBudget) {
    this.#files = files;
    this.#contents = contents;
    this.#budget = budget;
  }

  async at(path: string): Promise<Known> {
    this.refuseMoved(path);
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const seen: Known = { node: await this.#look(path), producer: null };
    this.#known.set(path, seen);
    return seen;
  }

  /** Throws InvalidParams if an earlier effect moves a folder that the path lies in. */
  refuseMoved(path: string): void {
    const folded = foldPath(path);
    const moved = this.#movedFolders.find(
      ({ from, to }) => isWithinExactly(from, folded) || isWithinExactly(to, folded),
    );
    if (moved !== undefined) {
      throw invalidParams(
        `${JSON.stringify(path)} lies in a folder that effect ${moved.effect} moves; propose that as an action of its own.`,
        { path },
      );
    }
  }

  set(path: string, node: Node, producer: number, sameEntry = false): void {
    this.#known.set(path, { node, producer });
    this.#changed.set(foldPath(path), producer);
    if (!sameEntry) this.#newIdentity.add(path);
  }

  /** True if an effect of this action makes, moves or removes the entry at this path. */
  changesIdentity(path: string): boolean {
    return this.#newIdentity.has(path);
  }

  /** True if an effect of this action changes what is at this path, in any spelling, or moves a folder above it. */
  changes(path: string): boolean {
    const folded = foldPath(path);
    return this.#changed.has(folded) || this.#movedFolders.some(({ from }) => isWithinExactly(from, folded));
  }

  moveFolder(from: string, to: string, effect: number): void {
    const folded = { from: foldPath(from), to: foldPath(to), effect };
    for (const [path, producer] of this.#changed) {
      if (isWithinExactly(folded.from, path) || isWithinExactly(folded.to, path)) {
        // Without the path: a folder that an effect makes on its way is named only where it was missing.
        throw invalidParams(
          `Effect ${producer} changes something in a folder that effect ${effect} moves; propose them as two actions.`,
          { path: from },
        );
      }
    }
    this.#movedFolders.push(folded);
  }

  /**
   * Makes the folders above a path known as folders, since what is put there makes those that are missing.
   * Returns those that are missing, and the effects that cleared the way.
   */
  async makeParents(path: string, producer: number): Promise<{ cleared: number[]; made: string[] }> {
    const cleared: number[] = [];
    const made: string[] = [];
    for (const folder of foldersAbove(path)) {
      const { node, producer: before } = await this.at(folder);
      if (node.kind === "file") {
        throw invalidParams(`${JSON.stringify(folder)} is a file, so ${JSON.stringify(path)} cannot be.`, {
          path: folder,
        });
      }
      if (node.kind === "folder") continue;
      if (before !== null) cleared.push(before);
      made.push(folder);
      this.set(folder, { kind: "folder" }, producer);
    }
    return { cleared, made };
  }

  /** What would be made of the file, or of a new one. Its content has at most `previewFileBytes`. */
  async change(
    path: string,
    node: FileNode | null,
    made: NewContent,
    wantsDiff: boolean,
  ): Promise<ChangedContent> {
    const changed = await this.#contents.change(
      { path, old: node?.content ?? null, made, wantsDiff },
      this.#budget,
    );
    if (node === null || changed.before === null) return changed;
    if ((this.#hashes.get(node) ?? changed.before) !== changed.before) throw changedMeanwhile(path);
    this.#hashes.set(node, changed.before);
    return changed;
  }

  /** What the file is compared by. Read when it is needed, and once. */
  async hashOf(path: string, node: FileNode): Promise<Hash> {
    const known = this.#hashes.get(node);
    if (known !== undefined) return known;
    const { content } = node;
    const hash =
      "hash" in content
        ? content.hash
        : await fingerprint(this.#contents, content.path, content.stat, this.#budget);
    if (hash === null) throw changedMeanwhile(path);
    this.#hashes.set(node, hash);
    return hash;
  }

  async #look(path: string): Promise<Node> {
    const stat = await this.#files.stat(path);
    if (stat === null) return { kind: "absent" };
    if (stat.kind === "folder") return { kind: "folder" };
    if (stat.kind !== "file") {
      throw scopeViolation(
        path,
        `${JSON.stringify(path)} is a link or a special file, which is never changed.`,
      );
    }
    return { kind: "file", size: stat.size, content: { path, stat } };
  }
}

function changedMeanwhile(path: string) {
  return stale(path, `${JSON.stringify(path)} changed while it was read; propose again.`);
}
