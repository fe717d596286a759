import type { EntryKind } from "../base/vocabulary/entry.ts";
import { workspaceTimes } from "./limits.ts";
import type { Origin } from "./recorder.ts";
import { subtree, type EntryNode, type FileFacts } from "./tree.ts";

interface Missing {
  readonly node: EntryNode;
  readonly sinceMs: number;
  /** When it counts as deleted. */
  goneAtMs: number;
  /** The name under which it was found, while it may still reappear under its own. */
  awaitedAs: string | null;
  readonly origin: Origin;
}

/** Entries that are no longer at their path, while it is not known yet whether they were moved or deleted. */
export class MissingEntries {
  readonly #roots = new Map<EntryNode, Missing>();
  /** Includes everything inside missing folders. */
  readonly #byInode = new Map<number, Set<EntryNode>>();

  get size(): number {
    return this.#roots.size;
  }

  has(node: EntryNode): boolean {
    return this.#roots.has(node);
  }

  /** True if the node, or a folder above it, is missing. */
  hasAbove(node: EntryNode): boolean {
    if (this.#roots.size === 0) return false;
    for (let at: EntryNode | null = node; at !== null; at = at.parent) if (this.#roots.has(at)) return true;
    return false;
  }

  /** True if a scan found an entry missing. */
  hasFromIndex(): boolean {
    return this.#roots.values().some(({ origin }) => origin === "index");
  }

  all(): readonly Missing[] {
    return [...this.#roots.values()];
  }

  add(node: EntryNode, sinceMs: number, origin: Origin): void {
    if (this.#roots.has(node)) return;
    const goneAtMs = sinceMs + workspaceTimes.goneMs;
    this.#roots.set(node, { node, sinceMs, goneAtMs, awaitedAs: null, origin });
    for (const each of subtree(node)) {
      const held = this.#byInode.get(each.inode);
      if (held === undefined) this.#byInode.set(each.inode, new Set([each]));
      else held.add(each);
    }
  }

  /**
   * Returns until when a file that was found under another name may still reappear under its own: editors rename the old
   * text to a backup before they write the new one. Null if the name is not that of a backup, or the time is over.
   */
  mayReappearUntilMs(node: EntryNode, name: string, nowMs: number): number | null {
    const missing = this.#roots.get(node);
    if (missing === undefined || missing.origin !== "live" || !name.includes(node.name)) return null;
    const untilMs = missing.sinceMs + workspaceTimes.backupMs;
    if (nowMs >= untilMs) return null;
    // The other name is looked at before it counts as deleted.
    missing.goneAtMs = untilMs + workspaceTimes.goneMs;
    missing.awaitedAs = name;
    return untilMs;
  }

  /** Removes an entry that was found again, with everything beneath it. */
  delete(node: EntryNode): void {
    if (!this.#roots.delete(node)) return;
    for (const each of subtree(node)) {
      // It went missing by itself before.
      if (this.hasAbove(each)) continue;
      const held = this.#byInode.get(each.inode);
      if (held?.delete(each) === true && held.size === 0) this.#byInode.delete(each.inode);
    }
  }

  /** Returns the missing entry that is the same file or folder as the observed one. */
  matching(kind: EntryKind, observed: FileFacts): EntryNode | undefined {
    const held = this.#byInode.get(observed.inode);
    return held?.values().find((node) => node.kind === kind && isSameFile(node, observed));
  }

  withContent(contentId: string): readonly EntryNode[] {
    return this.#files().filter((node) => node.contentId === contentId);
  }

  /** Returns the sizes of the missing files whose content is known. */
  sizesWithContent(): ReadonlySet<number> {
    return new Set(
      this.#files().flatMap((node) => (node.contentId === null || node.size === 0 ? [] : node.size)),
    );
  }

  #files(): EntryNode[] {
    return [...this.#byInode.values()].flatMap((held) => [...held]).filter((node) => node.kind === "file");
  }
}

/**
 * Inode numbers are reused at once, so the birth time has to agree as well; if the file system stores none, size and
 * modification time.
 */
function isSameFile(known: FileFacts, observed: FileFacts): boolean {
  if (known.inode !== observed.inode || known.device !== observed.device) return false;
  if (known.birthtimeMs > 0 && known.birthtimeMs === observed.birthtimeMs) return true;
  return known.size === observed.size && known.mtimeMs === observed.mtimeMs;
}
