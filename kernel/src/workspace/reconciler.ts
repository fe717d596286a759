import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { EntryKind } from "../base/vocabulary/entry.ts";
import type { Observation, OpenFolder } from "../platform/folder-reader.ts";
import type { Arrival } from "./arrival.ts";
import type { Exclusions } from "./exclusions.ts";
import { ignoreFileName, isAlwaysExcluded } from "./ignore-rules.ts";
import { workspaceLimits, workspaceTimes } from "./limits.ts";
import { readListing } from "./listing.ts";
import { matchByContent, type ContentOf } from "./lookalikes.ts";
import { MissingEntries } from "./missing.ts";
import { PendingNames } from "./pending-names.ts";
import { Places } from "./places.ts";
import type { Origin, Recorder } from "./recorder.ts";
import { isLongSettled, newPending, settles, type Pending } from "./settling.ts";
import { contains, isAttached, isUnchanged, subtree, type EntryNode, type EntryTree } from "./tree.ts";

export interface ReconcilerPorts {
  readonly tree: EntryTree;
  readonly places: Places;
  readonly exclusions: Exclusions;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly log: Log;
  /** Begins to watch a folder that is open; what was there before is listed afterwards. */
  watch(folder: EntryNode, open: OpenFolder): void;
  unwatch(folder: EntryNode): void;
  /** Resolves when there is room for more changes. */
  roomForChanges(): Promise<void>;
}

interface Listing {
  readonly folder: EntryNode;
  readonly origin: Origin;
  /** List the folders in it too, although they are known. */
  readonly deep: boolean;
}

/** Compares the index with the file system where it is told to look; what is there counts, not what was hinted. */
export class Reconciler implements Disposable {
  readonly #ports: ReconcilerPorts;
  readonly #pending = new PendingNames();
  readonly #missing = new MissingEntries();
  /** Folders to list, last in first out: their parents are still open then. */
  readonly #listings: Listing[] = [];
  /** What is new while a scan still finds out what is missing. */
  #held: { readonly folder: EntryNode; readonly name: string }[] = [];
  /** New files that may be missing ones, by their content. */
  readonly #lookalikes: Arrival[] = [];
  #isHolding = false;
  #isMatchingContent = false;
  #isStopped = false;
  #turn: NodeJS.Immediate | null = null;
  #timer: { readonly dueAtMs: number; readonly handle: Disposable } | null = null;
  readonly #quietWaiters: (() => void)[] = [];
  readonly #listingsWaiters: (() => void)[] = [];
  #isWaitingForRoom = false;

  constructor(ports: ReconcilerPorts) {
    this.#ports = ports;
  }

  /** Something happened to this name. Null: to nobody knows which. */
  hint(folder: EntryNode, name: string | null, origin: Origin = "live"): void {
    if (name === null) return this.list(folder, origin, false);
    if (isAlwaysExcluded(name)) return;
    if (this.#ports.exclusions.isNeverOfInterest(name) && folder.child(name) === undefined) return;
    this.#pending.hint(folder, name, this.#ports.clock.now(), origin);
    this.#soon();
  }

  /** Compares a folder with what is in it. */
  list(folder: EntryNode, origin: Origin, deep: boolean): void {
    this.#listings.push({ folder, origin, deep });
    this.#soon();
  }

  /** Looks at these paths now and takes what is there as settled. */
  lookAt(paths: readonly string[]): void {
    const arrivals: Arrival[] = [];
    for (const path of paths) {
      // Folders on the way that are new come first: each makes the next one known.
      for (let depth = 0; depth <= workspaceLimits.depth; depth++) {
        const nearest = this.#ports.places.nearest(path);
        const name = nearest?.names[0];
        if (nearest === null || name === undefined) break;
        const observed = this.#ports.places.open(nearest.folder)?.observe(name) ?? null;
        if (observed === "unreadable") break;
        this.#pending.delete(nearest.folder, name);
        const arrival = this.#judge(nearest.folder, name, observed, "live", null, true);
        if (nearest.names.length === 1 || arrival === null || arrival.observed.kind !== "folder") {
          if (arrival !== null) arrivals.push(arrival);
          break;
        }
        this.#arrive(arrival);
      }
    }
    for (const arrival of arrivals) this.#arrive(arrival);
    for (const path of paths) {
      const node = this.#ports.tree.find(path);
      if (node !== undefined) this.#removeIfMissing(node);
    }
    this.#ports.places.release();
    this.#soon();
  }

  /**
   * Compares everything. What is new is held back until it is known what is missing, so that what was
   * moved is recognised; on an empty index there is nothing to wait for.
   */
  async scan(contentOf: ContentOf): Promise<void> {
    this.#isHolding = this.#ports.tree.size > 0;
    this.#isMatchingContent = this.#isHolding;
    for (const place of this.#ports.places.all) this.list(place.node, "index", true);
    await this.#listed();
    this.#isHolding = false;
    for (const { folder, name } of this.#held) this.hint(folder, name, "index");
    this.#held = [];
    await this.#listed();
    await this.#matchContent(contentOf);
    await this.#settledIndex();
  }

  /** Resolves when nothing waits to be looked at. */
  async quiet(): Promise<void> {
    while (!this.isQuiet && !this.#isStopped) {
      await new Promise<void>((resolve) => this.#quietWaiters.push(resolve));
    }
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#timer?.handle[Symbol.dispose]();
    wake(this.#quietWaiters);
    wake(this.#listingsWaiters);
  }

  get isQuiet(): boolean {
    return (
      this.#pending.isEmpty &&
      this.#listings.length === 0 &&
      this.#missing.size === 0 &&
      this.#held.length === 0
    );
  }

  /** Resolves when all listings are done and everything found in them was judged once. */
  async #listed(): Promise<void> {
    while ((this.#listings.length > 0 || this.#hasDue()) && !this.#isStopped) {
      await new Promise<void>((resolve) => this.#listingsWaiters.push(resolve));
    }
  }

  /** Resolves when all that a scan found has settled. */
  async #settledIndex(): Promise<void> {
    const isOpen = (): boolean => this.#pending.hasFromIndex() || this.#missing.hasFromIndex();
    while ((this.#listings.length > 0 || isOpen()) && !this.#isStopped) {
      this.#soon();
      await new Promise<void>((resolve) => this.#listingsWaiters.push(resolve));
    }
  }

  #hasDue(): boolean {
    return this.#pending.nextDueAtMs() <= this.#ports.clock.now();
  }

  #soon(): void {
    if (this.#isStopped) return;
    this.#turn ??= setImmediate(() => {
      this.#turn = null;
      this.#takeTurn();
    });
  }

  #takeTurn(): void {
    const endMs = this.#ports.clock.monotonic() + workspaceTimes.sliceMs;
    const hasTime = (): boolean => this.#ports.clock.monotonic() < endMs;
    try {
      this.#lookAtDue(hasTime);
      while (this.#listings.length > 0 && hasTime() && !this.#isWaitingForRoom) {
        const listing = this.#listings.pop();
        if (listing !== undefined) this.#list(listing);
      }
      this.#expireMissing();
    } finally {
      this.#ports.places.release();
    }
    this.#pauseForRoom();
    this.#schedule();
    if (this.isQuiet) wake(this.#quietWaiters);
    if (this.#listings.length === 0) wake(this.#listingsWaiters);
  }

  /** A scan finds faster than is stored: it waits, so that what it found does not pile up. */
  #pauseForRoom(): void {
    if (this.#listings.length === 0 || this.#isWaitingForRoom) return;
    this.#isWaitingForRoom = true;
    void this.#ports.roomForChanges().then(() => {
      this.#isWaitingForRoom = false;
      this.#soon();
    });
  }

  #schedule(): void {
    if (this.#isStopped) return;
    const nowMs = this.#ports.clock.now();
    let dueAtMs = this.#pending.nextDueAtMs();
    if (!this.#isHolding && !this.#isMatchingContent) {
      for (const { sinceMs } of this.#missing.all())
        dueAtMs = Math.min(dueAtMs, sinceMs + workspaceTimes.goneMs);
    }
    if (dueAtMs <= nowMs) return this.#soon();
    if (this.#timer !== null && this.#timer.dueAtMs <= dueAtMs && this.#timer.dueAtMs > nowMs) return;
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = null;
    if (dueAtMs === Infinity) return;
    const handle = this.#ports.clock.timer(dueAtMs - nowMs, () => {
      this.#timer = null;
      this.#soon();
    });
    this.#timer = { dueAtMs, handle };
  }

  #lookAtDue(hasTime: () => boolean): void {
    const nowMs = this.#ports.clock.now();
    const arrivals: Arrival[] = [];
    for (const { folder, due } of this.#pending.takeDue(nowMs)) {
      const open = this.#ports.places.open(folder);
      const seen = due.map(([name, pending]) => ({ name, pending, observed: open?.observe(name) ?? null }));
      // A folder that cannot be opened (any more) is judged where it is listed, not by what was in it.
      if (open === null && folder.isEntry && folder.parent !== null) this.hint(folder.parent, folder.name);
      for (const { name, pending, observed } of seen) {
        if (name === ignoreFileName) this.#rulesChanged(folder);
        if (open === null || observed === "unreadable") continue;
        const arrival = this.#judge(folder, name, observed, pending.origin, pending, false);
        if (arrival !== null) arrivals.push(arrival);
      }
      if (!hasTime()) break;
    }
    for (const arrival of arrivals) this.#arrive(arrival);
  }

  #list({ folder, origin, deep }: Listing): void {
    const { tree, places, exclusions } = this.#ports;
    if (!isAttached(tree, folder)) return;
    exclusions.warm(folder);
    const open = places.open(folder);
    if (open === null) {
      // Gone or not ours to read. The folder above knows whether it is still there.
      if (folder.parent !== null && folder.isEntry) this.hint(folder.parent, folder.name, origin);
      return;
    }
    this.#ports.watch(folder, open);
    const listing = readListing(folder, open, this.#ports);
    if (listing === null) return;
    const arrivals: Arrival[] = [];
    for (const { name, observed } of listing.seen) {
      const known = folder.child(name);
      const arrival = this.#judge(folder, name, observed, origin, null, false);
      if (arrival !== null) arrivals.push(arrival);
      else if (deep && known?.kind === "folder" && !this.#missing.has(known)) this.list(known, origin, true);
    }
    for (const child of listing.absent) this.#judge(folder, child.name, null, origin, null, false);
    for (const arrival of arrivals) this.#arrive(arrival);
  }

  /**
   * Holds what was seen under a name against the index. What is new is returned, to be dealt with when all
   * that was seen together was judged: only then it is known what is missing.
   */
  #judge(
    folder: EntryNode,
    name: string,
    seen: Observation | null,
    origin: Origin,
    pending: Pending | null,
    isForced: boolean,
  ): Arrival | null {
    const { recorder, exclusions, clock } = this.#ports;
    const known = folder.child(name);
    const kind: EntryKind | null = seen === null || seen.kind === "other" ? null : seen.kind;
    const observed = kind !== null && !exclusions.excludes(folder, name, kind) ? seen : null;
    if (observed === null) {
      if (known !== undefined) this.#missing.add(known, clock.now(), origin);
      return null;
    }
    if (known === undefined) return { folder, name, observed, origin, pending, isForced };
    this.#missing.delete(known);
    if (known.kind !== kind) {
      recorder.remove(known, origin);
      return { folder, name, observed, origin, pending, isForced };
    }
    if (kind === "folder") {
      if (known.inode !== observed.inode || known.device !== observed.device) {
        // Another folder of the same name: the watch is on the old one.
        this.#ports.unwatch(known);
        recorder.refresh(known, observed);
        this.list(known, origin, true);
      } else known.take(observed);
      return null;
    }
    if (isUnchanged(known, observed)) return null;
    if (this.#mayGoOn(folder, name, observed, origin, pending, isForced))
      recorder.modify(known, observed, origin);
    return null;
  }

  /** Something is where the index has nothing: a missing entry found again, or a new one. */
  #arrive(arrival: Arrival): void {
    const { recorder, tree } = this.#ports;
    const { folder, name, observed, origin, isForced } = arrival;
    if (!isAttached(tree, folder) || folder.child(name) !== undefined) return;
    if (Places.pathIn(folder, name).length > workspaceLimits.pathLength) {
      this.#ports.log.warn("A path is too long and is left out.", { folder: folder.name });
      return;
    }
    const kind = observed.kind === "folder" ? "folder" : "file";
    const missing = this.#missing.matching(kind, observed);
    if (missing !== undefined && isAttached(tree, missing) && !contains(missing, folder)) {
      this.#missing.delete(missing);
      recorder.move(missing, folder, name, origin);
      // Under its new name it may have changed as well, and other rules hold.
      if (kind === "folder") {
        for (const each of subtree(missing)) this.#ports.exclusions.forget(each);
        this.list(missing, origin, true);
      } else if (!isUnchanged(missing, observed)) this.hint(folder, name, origin);
      return;
    }
    if (this.#isHolding && !isForced) {
      this.#held.push({ folder, name });
      return;
    }
    if (kind === "folder") {
      const created = recorder.create(folder, name, observed, origin);
      this.list(created, origin, false);
      return;
    }
    if (this.#isMatchingContent && !isForced && this.#missing.sizesWithContent().has(observed.size)) {
      this.#lookalikes.push(arrival);
    } else if (this.#mayGoOn(folder, name, observed, origin, arrival.pending, isForced)) {
      recorder.create(folder, name, observed, origin);
    }
  }

  /** Whether a file has settled; if not, it will be looked at again. */
  #mayGoOn(
    folder: EntryNode,
    name: string,
    observed: Observation,
    origin: Origin,
    pending: Pending | null,
    isForced: boolean,
  ): boolean {
    const nowMs = this.#ports.clock.now();
    if (isForced || isLongSettled(observed, nowMs)) return true;
    const waiting = pending ?? this.#pending.get(folder, name) ?? newPending(nowMs, origin);
    if (settles(waiting, observed, nowMs)) return true;
    this.#pending.put(folder, name, waiting);
    return false;
  }

  async #matchContent(contentOf: ContentOf): Promise<void> {
    const lookalikes = this.#lookalikes.splice(0);
    await matchByContent(lookalikes, contentOf, {
      missing: this.#missing,
      recorder: this.#ports.recorder,
      tree: this.#ports.tree,
    });
    this.#isMatchingContent = false;
    for (const { folder, name } of lookalikes) this.hint(folder, name, "index");
  }

  #expireMissing(): void {
    if (this.#missing.size === 0 || this.#isHolding || this.#isMatchingContent) return;
    const nowMs = this.#ports.clock.now();
    for (const { node, sinceMs, origin } of this.#missing.all()) {
      if (nowMs - sinceMs < workspaceTimes.goneMs) continue;
      this.#missing.delete(node);
      if (isAttached(this.#ports.tree, node)) this.#ports.recorder.remove(node, origin);
    }
  }

  #removeIfMissing(node: EntryNode): void {
    const found = this.#missing.all().find((missing) => missing.node === node);
    if (found === undefined) return;
    this.#missing.delete(node);
    this.#ports.recorder.remove(node, "live");
  }

  #rulesChanged(folder: EntryNode): void {
    for (const node of subtree(folder)) if (node.kind === "folder") this.#ports.exclusions.forget(node);
    this.list(folder, "live", true);
  }
}

function wake(waiters: (() => void)[]): void {
  for (const resolve of waiters.splice(0)) resolve();
}
