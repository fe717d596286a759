import type { CpuBudget } from "../../base/cpu-budget.ts";
import { invalidParams, scopeViolation, stale } from "../../base/errors.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import type { FileStat } from "../../platform/files/rooted-fs.ts";
import type { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import type { ChangedContent, NewContent } from "../content-requests.ts";
import { foldersAbove, foldPath, isWithinExactly } from "../../policy/paths.ts";
import { fingerprint } from "../fingerprint.ts";
import type { ContentWork } from "../ports.ts";

/** What is at a path after the effects planned so far. */
export type Node = { readonly kind: "absent" } | { readonly kind: "folder" } | FileNode;

export interface FileNode {
  readonly kind: "file";
  readonly size: number;
  /** Where to read the bytes: in the workspace, where nothing has read them yet, or created by an earlier effect. */
  readonly content:
    { readonly path: string; readonly stat: FileStat } | { readonly bytes: Uint8Array; readonly hash: Hash };
}

export interface Known {
  readonly node: Node;
  /** The index of the effect that produced it; null if it is unchanged in the workspace. */
  readonly producer: number | null;
}

/**
 * The workspace as the effects of one action leave it, in order, without changing anything: each effect sees the
 * results of the earlier ones.
 */
export class Overlay {
  readonly #files: WorkspaceFiles;
  readonly #contents: ContentWork;
  readonly #budget: CpuBudget;
  readonly #known = new Map<string, Known>();
  /** Folded, like the changed paths: two spellings may be the same file. */
  readonly #movedFolders: { readonly from: string; readonly to: string; readonly effect: number }[] = [];
  readonly #changed = new Map<string, number>();
  readonly #hashes = new WeakMap<FileNode, Hash>();
  /** Paths that have another entry than before, or none. */
  readonly #newIdentity = new Set<string>();

  /** The work is charged to `budget`. */
  constructor({ files, contents }: { files: WorkspaceFiles; contents: ContentWork }, budget: CpuBudget) {
    this.#files = files;
    this.#contents = contents;
    this.#budget = budget;
  }

  async at(path: string): Promise<Known> {
    this.checkNotMoved(path);
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const seen: Known = { node: await this.#look(path), producer: null };
    this.#known.set(path, seen);
    return seen;
  }

  /** Throws InvalidParams if an earlier effect moves a folder that contains the path. */
  checkNotMoved(path: string): void {
    const folded = foldPath(path);
    const moved = this.#movedFolders.find(
      ({ from, to }) => isWithinExactly(from, folded) || isWithinExactly(to, folded),
    );
    if (moved !== undefined) {
      throw invalidParams(
        `${JSON.stringify(path)} is in a folder that effect ${moved.effect} moves. Propose the change as a separate action.`,
        { path },
      );
    }
  }

  set(path: string, node: Node, producer: number, sameEntry = false): void {
    this.#known.set(path, { node, producer });
    this.#changed.set(foldPath(path), producer);
    if (!sameEntry) this.#newIdentity.add(path);
  }

  /** True if an effect of this action creates, moves or removes the entry at this path. */
  changesIdentity(path: string): boolean {
    return this.#newIdentity.has(path);
  }

  /** True if an effect of this action changes this path, in any spelling, or moves a folder above it. */
  changes(path: string): boolean {
    const folded = foldPath(path);
    return this.#changed.has(folded) || this.#movedFolders.some(({ from }) => isWithinExactly(from, folded));
  }

  moveFolder(from: string, to: string, effect: number): void {
    const folded = { from: foldPath(from), to: foldPath(to), effect };
    for (const [path, producer] of this.#changed) {
      if (isWithinExactly(folded.from, path) || isWithinExactly(folded.to, path)) {
        // Without the path, because it may be a folder that an effect creates only if it is missing.
        throw invalidParams(
          `Effect ${producer} changes something in a folder that effect ${effect} moves. Propose them as two actions.`,
          { path: from },
        );
      }
    }
    this.#movedFolders.push(folded);
  }

  /**
   * Records the folders above a path as existing, because writing there creates the missing ones. Returns the missing
   * folders, and the effects that freed the path for them.
   */
  async makeParents(path: string, producer: number): Promise<{ cleared: number[]; made: string[] }> {
    const cleared: number[] = [];
    const made: string[] = [];
    for (const folder of foldersAbove(path)) {
      const { node, producer: before } = await this.at(folder);
      if (node.kind === "file") {
        throw invalidParams(
          `${JSON.stringify(folder)} is a file, so ${JSON.stringify(path)} cannot exist. Choose another path.`,
          {
            path: folder,
          },
        );
      }
      if (node.kind === "folder") continue;
      if (before !== null) cleared.push(before);
      made.push(folder);
      this.set(folder, { kind: "folder" }, producer);
    }
    return { cleared, made };
  }

  /** Returns the result of changing the file, or of creating it. The old content has at most `previewFileBytes`. */
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

  /** Returns the hash by which the file is compared. Computed on first use. */
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
        `${JSON.stringify(path)} is a link or a special file. Only regular files and folders can be changed.`,
      );
    }
    return { kind: "file", size: stat.size, content: { path, stat } };
  }
}

function changedMeanwhile(path: string) {
  return stale(path, `${JSON.stringify(path)} changed while it was read. Propose again.`);
}

export const absent: Known = { node: { kind: "absent" }, producer: null };

/**
 * Returns the permissions of an existing file; 0 for the result of an earlier effect, which was checked with that
 * effect.
 */
export function modeOf(node: Node): number {
  return node.kind === "file" && "stat" in node.content ? node.content.stat.mode : 0;
}

/** True if the file has another name in the file system, which a change of this one leaves as it was. */
export function hasOtherName(node: Node): boolean {
  return node.kind === "file" && "stat" in node.content && node.content.stat.names > 1;
}

/** Returns the indices of the effects that these depend on. */
export function producers(...known: readonly Known[]): number[] {
  return [...new Set(known.flatMap(({ producer }) => (producer === null ? [] : [producer])))];
}
