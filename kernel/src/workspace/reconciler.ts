import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { FolderLister, FolderListerEvents, FolderListing } from "../platform/folder-lister.ts";
import type { Observation, OpenFolder } from "../platform/folder-reader.ts";
import type { Arrival } from "./arrival.ts";
import type { Exclusions } from "./exclusions.ts";
import { ignoreFileName } from "../platform/ignore-file.ts";
import { isAlwaysExcluded } from "./ignore-rules.ts";
import { workspaceLimits, workspaceTimes } from "./limits.ts";
import { FolderComparison, listNow, type ListingPorts } from "./listing.ts";
import { Judge } from "./judge.ts";
import type { ContentOf } from "./lookalikes.ts";
import { PendingNames } from "./pending-names.ts";
import type { Place, Places } from "./places.ts";
import type { Origin, Recorder } from "./recorder.ts";
import { ScanListings, type Asked } from "./scan-listings.ts";
import { isAttached, isSameFolder, subtree, type EntryNode, type EntryTree } from "./tree.ts";
import { Turns } from "./turns.ts";

export interface ReconcilerPorts {
  readonly tree: EntryTree;
  readonly places: Places;
  readonly exclusions: Exclusions;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly log: Log;
  /** Lists folders in another thread, for scans. */
  openLister(place: Place, events: FolderListerEvents): FolderLister;
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
export class Reconciler implements AsyncDisposable {
  readonly #ports: ReconcilerPorts;
  readonly #pending = new PendingNames();
  /** Folders to list, last in first out: their parents are still open then. */
  readonly #listings: Listing[] = [];
  #isStopped = false;
  /** Folders that a scan compares; null while none runs. */
  #scan: ScanListings | null = null;
  /** What is stored is being loaded: nothing can be compared yet. */
  #isLoading = false;
  readonly #judge: Judge;
  readonly #turns: Turns;
  readonly #quietWaiters: (() => void)[] = [];
  readonly #listingsWaiters: (() => void)[] = [];
  #isWaitingForRoom = false;

  constructor(ports: ReconcilerPorts) {
    this.#ports = ports;
    this.#turns = new Turns(ports.clock, () => this.#takeTurn());
    this.#judge = new Judge({
      ...ports,
      pending: this.#pending,
      hint: (folder, name, origin) => this.hint(folder, name, origin),
      list: (folder, origin, deep) => this.list(folder, origin, deep),
      replaced: (folder) => {
        ports.unwatch(folder);
        this.#scan?.outdate(folder);
      },
    });
  }

  /** Something happened to this name. Null: to nobody knows which. */
  hint(folder: EntryNode, name: string | null, origin: Origin = "live"): void {
    if (name === null) return this.list(folder, origin, false);
    if (isAlwaysExcluded(name)) return;
    if (this.#ports.exclusions.isNeverOfInterest(name) && folder.child(name) === undefined) return;
    this.#scan?.hinted(folder, name);
    this.#pending.hint(folder, name, this.#ports.clock.now(), origin);
    this.#turns.soon();
  }

  /** Compares a folder with what is in it. */
  list(folder: EntryNode, origin: Origin, deep: boolean): void {
    if (origin === "index" && this.#scan !== null) {
      if (!this.#scan.has(folder)) this.#scan.add(folder, deep);
    } else this.#listHere(folder, origin, deep || this.#scan?.outdate(folder) === true);
    this.#turns.soon();
  }

  #listHere(folder: EntryNode, origin: Origin, deep: boolean): void {
    this.#listings.push({ folder, origin, deep });
  }

  /** Begins a scan while what is stored is still being loaded; the folders are known. `scan` goes on with it. */
  prepare(): void {
    this.#isLoading = true;
    this.#openScan();
    for (const place of this.#ports.places.all) {
      for (const node of subtree(place.node)) if (node.kind === "folder") this.list(node, "index", true);
    }
  }

  /** Looks at these paths now and takes what is there as settled. */
  lookAt(paths: readonly string[]): void {
    // What is not loaded yet would be taken for new; the scan that follows sees it.
    if (this.#isLoading) return;
    const arrivals: Arrival[] = [];
    for (const path of paths) {
      // Folders on the way that are new come first: each makes the next one known.
      for (let depth = 0; depth <= workspaceLimits.depth; depth++) {
        const nearest = this.#ports.places.nearest(path);
        const name = nearest?.names[0];
        if (nearest === null || name === undefined || !this.#ports.places.hasRoot(nearest.folder)) break;
        const observed = this.#ports.places.open(nearest.folder)?.observe(name) ?? null;
        if (observed === "unreadable") break;
        this.#pending.delete(nearest.folder, name);
        this.#scan?.hinted(nearest.folder, name);
        const arrival = this.#judge.judge(nearest.folder, name, observed, "live", null, true);
        if (nearest.names.length === 1 || arrival === null || arrival.observed.kind !== "folder") {
          if (arrival !== null) arrivals.push(arrival);
          break;
        }
        this.#judge.arrive(arrival);
      }
    }
    for (const arrival of arrivals) this.#judge.arrive(arrival);
    for (const path of paths) {
      const node = this.#ports.tree.find(path);
      if (node !== undefined) this.#judge.removeIfMissing(node);
    }
    this.#ports.places.release();
    this.#turns.soon();
  }

  /**
   * Compares everything. What is new is held back until it is known what is missing, so that what was
   * moved is recognised; on an empty index there is nothing to wait for.
   */
  async scan(contentOf: ContentOf): Promise<void> {
    if (this.#ports.tree.size > 0) this.#judge.hold();
    this.#isLoading = false;
    if (this.#scan === null) this.#openScan();
    for (const place of this.#ports.places.all) this.list(place.node, "index", true);
    await this.#listed();
    this.#judge.release();
    await this.#listed();
    await this.#judge.matchContent(contentOf);
    // What went missing meanwhile may be gone now, and nothing else may happen that makes anybody look.
    this.#turns.soon();
    await this.#settledIndex();
    await this.#closeScan();
  }

  #openScan(): void {
    if (this.#isStopped) return;
    const { tree, places, log } = this.#ports;
    const scan = new ScanListings({
      tree,
      places,
      log,
      openLister: (place, events) => this.#ports.openLister(place, events),
      watch: (folder, open) => this.#ports.watch(folder, open),
      arrived: () => this.#turns.soon(),
      unopened: (folder) => this.#hintItself(folder, "index"),
      abandoned: (listings) => {
        this.#scan = null;
        for (const { folder, deep } of listings) this.list(folder, "index", deep);
      },
    });
    if (!scan.isClosed) this.#scan = scan;
  }

  async #closeScan(): Promise<void> {
    const scan = this.#scan;
    this.#scan = null;
    await scan?.close();
  }

  /** Resolves when nothing waits to be looked at. */
  async quiet(): Promise<void> {
    while (!this.isQuiet && !this.#isStopped) {
      await new Promise<void>((resolve) => this.#quietWaiters.push(resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#turns[Symbol.dispose]();
    wake(this.#quietWaiters);
    wake(this.#listingsWaiters);
    await this.#closeScan();
  }

  get isQuiet(): boolean {
    return this.#pending.isEmpty && !this.#hasListings && this.#judge.isQuiet;
  }

  get #hasListings(): boolean {
    return this.#listings.length > 0 || this.#scan?.isEmpty === false;
  }

  /** Resolves when all listings are done and everything found in them was judged once. */
  async #listed(): Promise<void> {
    while ((this.#hasListings || this.#hasDue()) && !this.#isStopped) {
      await new Promise<void>((resolve) => this.#listingsWaiters.push(resolve));
    }
  }

  /** Resolves when all that a scan found has settled. */
  async #settledIndex(): Promise<void> {
    const isOpen = (): boolean => this.#pending.hasFromIndex() || this.#judge.missing.hasFromIndex();
    while ((this.#hasListings || isOpen()) && !this.#isStopped) {
      this.#turns.soon();
      await new Promise<void>((resolve) => this.#listingsWaiters.push(resolve));
    }
  }

  #hasDue(): boolean {
    return this.#pending.nextDueAtMs() <= this.#ports.clock.now();
  }

  #takeTurn(): void {
    const endMs = this.#ports.clock.monotonic() + workspaceTimes.sliceMs;
    const hasTime = (): boolean => this.#ports.clock.monotonic() < endMs;
    let hasMore = false;
    try {
      this.#scan?.ask(hasTime);
      hasMore = this.#scan?.mayAsk === true;
      if (this.#isLoading) return;
      this.#lookAtDue(hasTime);
      while (this.#listings.length > 0 && hasTime() && !this.#isWaitingForRoom) {
        const listing = this.#listings.pop();
        if (listing !== undefined) this.#list(listing);
      }
      hasMore = !this.#compareArrived(hasTime) || hasMore;
      this.#judge.expireMissing();
    } finally {
      this.#ports.places.release();
      if (hasMore && !this.#isWaitingForRoom) this.#turns.soon();
    }
    this.#pauseForRoom();
    this.#turns.at(Math.min(this.#pending.nextDueAtMs(), this.#judge.nextGoneAtMs()));
    if (this.isQuiet) wake(this.#quietWaiters);
    if (!this.#hasListings) wake(this.#listingsWaiters);
  }

  /** A scan finds faster than is stored: it waits, so that what it found does not pile up. */
  #pauseForRoom(): void {
    if (!this.#hasListings || this.#isWaitingForRoom) return;
    this.#isWaitingForRoom = true;
    void this.#ports.roomForChanges().then(() => {
      this.#isWaitingForRoom = false;
      const { hasArrived = false, mayAsk = false } = this.#scan ?? {};
      if (this.#listings.length > 0 || hasArrived || mayAsk) this.#turns.soon();
    });
  }

  #lookAtDue(hasTime: () => boolean): void {
    const nowMs = this.#ports.clock.now();
    const arrivals: Arrival[] = [];
    for (const { folder, due } of this.#pending.takeDue(nowMs)) {
      const open = this.#ports.places.open(folder);
      // A listing under way is older than this look.
      for (const [name] of due) this.#scan?.hinted(folder, name);
      const seen = due.map(([name, pending]) => ({ name, pending, observed: open?.observe(name) ?? null }));
      // A folder that cannot be opened (any more) is judged where it is listed, not by what was in it.
      if (open === null) this.#hintItself(folder, "live");
      for (const { name, pending, observed } of seen) {
        if (name === ignoreFileName) this.#rulesChanged(folder);
        if (open === null || observed === "unreadable") continue;
        const arrival = this.#judge.judge(folder, name, observed, pending.origin, pending, false);
        if (arrival !== null) arrivals.push(arrival);
      }
      if (!hasTime()) break;
    }
    for (const arrival of arrivals) this.#judge.arrive(arrival);
  }

  /** Gone or not ours to read. The folder above knows whether it is still there. */
  #hintItself(folder: EntryNode, origin: Origin): void {
    if (folder.parent !== null && folder.isEntry) this.hint(folder.parent, folder.name, origin);
  }

  #list({ folder, origin, deep }: Listing): void {
    const { tree, places, exclusions } = this.#ports;
    if (!isAttached(tree, folder)) return;
    exclusions.warm(folder);
    const open = places.open(folder);
    if (open === null) return this.#hintItself(folder, origin);
    this.#ports.watch(folder, open);
    const listed = listNow(open);
    if (listed === null) return;
    exclusions.readRules(folder, open, listed.names);
    const comparison = new FolderComparison(folder, this.#listingPorts);
    const seen = comparison.seen(listed);
    this.#judgeAll(folder, seen, comparison.absent(), origin, deep);
  }

  get #listingPorts(): ListingPorts {
    return { ...this.#ports, missing: this.#judge.missing };
  }

  #judgeAll(
    folder: EntryNode,
    seen: readonly { readonly name: string; readonly observed: Observation | null }[],
    absent: readonly EntryNode[],
    origin: Origin,
    deep: boolean,
  ): void {
    const arrivals: Arrival[] = [];
    for (const { name, observed } of seen) {
      const known = folder.child(name);
      const arrival = this.#judge.judge(folder, name, observed, origin, null, false);
      if (arrival !== null) arrivals.push(arrival);
      else if (deep && known?.kind === "folder" && !this.#judge.missing.has(known))
        this.list(known, origin, true);
    }
    for (const child of absent) this.#judge.judge(folder, child.name, null, origin, null, false);
    for (const arrival of arrivals) this.#judge.arrive(arrival);
  }

  /** What other threads listed. False: there is more. */
  #compareArrived(hasTime: () => boolean): boolean {
    while (hasTime() && !this.#isWaitingForRoom) {
      const arrived = this.#scan?.take();
      if (arrived === undefined) return true;
      const { asked, listing } = arrived;
      if (this.#scan?.isWanted(asked) === true) this.#compare(asked, listing);
      this.#scan?.done(arrived);
    }
    return false;
  }

  #compare(asked: Asked, listing: FolderListing | null): void {
    const { tree, places, exclusions } = this.#ports;
    const { folder, deep } = asked;
    if (!isAttached(tree, folder) || this.#judge.missing.hasAbove(folder)) return;
    const isSame =
      listing !== null &&
      (folder.isEntry ? isSameFolder(folder, listing) : asked.place.reader.isRoot(listing));
    if (!isSame || places.locate(folder)?.components.join("/") !== asked.path) {
      // Not what was asked for, or not to be read: what is there is found here and now.
      this.#hintItself(folder, "index");
      this.#scan?.outdate(folder);
      return this.#listHere(folder, "index", deep);
    }
    if (asked.comparison === null) {
      exclusions.warm(folder);
      exclusions.setRules(folder, listing.text);
      asked.comparison = new FolderComparison(folder, this.#listingPorts, asked.hinted);
    }
    const seen = asked.comparison.seen(listing);
    this.#judgeAll(folder, seen, listing.isLast ? asked.comparison.absent() : [], "index", deep);
    if (!listing.isLast) return;
    for (const name of asked.hinted) this.hint(folder, name, "index");
  }

  #rulesChanged(folder: EntryNode): void {
    for (const node of subtree(folder)) if (node.kind === "folder") this.#ports.exclusions.forget(node);
    this.list(folder, "live", true);
  }
}

function wake(waiters: (() => void)[]): void {
  for (const resolve of waiters.splice(0)) resolve();
}
