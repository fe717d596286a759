import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { ChangeLog } from "./change-log.ts";
import { workspaceLimits, workspaceTimes } from "./limits.ts";
import type { Places } from "./places.ts";
import { rowOf } from "./rows.ts";
import { isAttached, pathOf, type EntryNode, type EntryTree } from "./tree.ts";

interface HasherPorts {
  readonly tree: EntryTree;
  readonly places: Places;
  readonly changes: ChangeLog;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Reads files in the background for their content ids: small ones synchronously, some in each turn of the loop, because
 * opening a file takes longer than reading it; large ones in pieces. A new content id is not an event, because the
 * creation or modification of the entry already was one.
 */
export class Hasher implements AsyncDisposable {
  readonly #ports: HasherPorts;
  readonly #small = new Set<EntryNode>();
  readonly #large = new Set<EntryNode>();
  /** Large files that are being read, with the means to abort. */
  readonly #reading = new Map<EntryNode, { readonly abort: AbortController; readonly done: Promise<void> }>();
  #isStarted = false;
  #turn: NodeJS.Immediate | null = null;
  #idleWaiters: (() => void)[] = [];

  constructor(ports: HasherPorts) {
    this.#ports = ports;
  }

  add(node: EntryNode): void {
    // What was read so far is no longer the file's content.
    this.#reading.get(node)?.abort.abort();
    this.#small.delete(node);
    this.#large.delete(node);
    if (node.size > workspaceLimits.hashedBytes) return this.#wake();
    const isSmall = node.size <= workspaceLimits.smallFileBytes;
    (isSmall ? this.#small : this.#large).add(node);
    this.#soon();
  }

  /** Nothing is read before this call, because the scan comes first. */
  start(): void {
    this.#isStarted = true;
    this.#soon();
  }

  get isIdle(): boolean {
    return this.#small.size === 0 && this.#large.size === 0 && this.#reading.size === 0;
  }

  async idle(): Promise<void> {
    while (!this.isIdle) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Resolves when no file is being read any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStarted = false;
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#small.clear();
    this.#large.clear();
    const reading = [...this.#reading.values()];
    for (const { abort } of reading) abort.abort();
    this.#wake();
    await Promise.all(reading.map(({ done }) => done));
  }

  #soon(): void {
    if (!this.#isStarted || (this.#small.size === 0 && this.#large.size === 0)) return;
    this.#turn ??= setImmediate(() => {
      this.#turn = null;
      void this.#takeTurn();
    });
  }

  #wake(): void {
    if (this.isIdle) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  async #takeTurn(): Promise<void> {
    for (const node of this.#large) {
      if (this.#reading.size >= workspaceLimits.hashing) break;
      // Its aborted read is about to end.
      if (this.#reading.has(node)) continue;
      this.#large.delete(node);
      const abort = new AbortController();
      const done = this.#hashLarge(node, abort.signal).finally(() => {
        this.#reading.delete(node);
        this.#soon();
        this.#wake();
      });
      this.#reading.set(node, { abort, done });
    }
    const endMs = this.#ports.clock.monotonic() + workspaceTimes.hashSliceMs;
    try {
      for (const node of this.#small) {
        this.#small.delete(node);
        this.#hashSmall(node);
        if (this.#ports.clock.monotonic() >= endMs) break;
      }
    } finally {
      this.#ports.places.release();
    }
    await this.#ports.changes.room();
    if (this.#small.size > 0) this.#soon();
    this.#wake();
  }

  #hashSmall(node: EntryNode): void {
    if (node.parent === null || !isAttached(this.#ports.tree, node)) return;
    const bytes = this.#ports.places.open(node.parent)?.readBytes(node.name, workspaceLimits.smallFileBytes);
    if (bytes instanceof Uint8Array && bytes.length === node.size) this.#found(node, node, sha256(bytes));
  }

  async #hashLarge(node: EntryNode, signal: AbortSignal): Promise<void> {
    const { tree, places, log } = this.#ports;
    const located = isAttached(tree, node) ? places.reads(node) : null;
    if (located === null) return;
    const before = { size: node.size, mtimeMs: node.mtimeMs };
    try {
      const contentId = await located.reads.hashFile(located.path, signal);
      if (signal.aborted || !isAttached(tree, node)) return;
      // The file, or a folder above it, was moved before it was opened: try again.
      if (contentId !== null) this.#found(node, before, contentId);
      else if (places.reads(node)?.path !== located.path) this.add(node);
    } catch (error) {
      if (signal.aborted) return;
      log.debug("A file could not be read for its content id.", {
        path: pathOf(node),
        error: messageOf(error),
      });
    } finally {
      places.release();
    }
  }

  /** Discards the id if the file has changed since before the read; the change itself triggers another look. */
  #found(
    node: EntryNode,
    before: { readonly size: number; readonly mtimeMs: number },
    contentId: Hash,
  ): void {
    const { tree, places, changes } = this.#ports;
    const now = node.parent === null ? null : (places.open(node.parent)?.observe(node.name) ?? null);
    if (now === null || now === "unreadable") return;
    for (const seen of [node, now]) if (seen.size !== before.size || seen.mtimeMs !== before.mtimeMs) return;
    tree.setContentId(node, contentId);
    changes.add({ id: node.id, row: rowOf(node), change: null });
  }
}
