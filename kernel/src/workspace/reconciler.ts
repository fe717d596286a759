import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { FolderLister, FolderListerEvents, FolderListing } from "../platform/files/folder-lister.ts";
import type { Observation, OpenFolder } from "../platform/files/folder-reader.ts";
import type { Arrival } from "./arrival.ts";
import type { Exclusions } from "./exclusions.ts";
import { ignoreFileName } from "../platform/files/ignore-file.ts";
import { isAlwaysExcluded } from "./ignore-rules.ts";
import { workspaceLimits, workspaceTimes } from "./limits.ts";
import { Looks } from "./looks.ts";
import { FolderComparison, listNow, type ListingPorts } from "./listing.ts";
import { ChangeDetector } from "./change-detector.ts";
import type { ContentOf } from "./lookalikes.ts";
import { PendingNames } from "./pending-names.ts";
import type { Place, Places } from "./places.ts";
import type { Origin, Recorder } from "./recorder.ts";
import { ScanListings, type RequestedFolder } from "./scan-listings.ts";
import { isAttached, isSameFolder, subtree, type EntryNode, type EntryTree } from "./tree.ts";
import { Turns } from "./turns.ts";

interface ReconcilerPorts {
  readonly tree: EntryTree;
  readonly places: Places;
  readonly exclusions: Exclusions;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly log: Log;
  /** Lists folders in another thread, for scans. */
  openLister(place: Place, events: FolderListerEvents): FolderLister;
  /** Begins to watch an open folder, which is listed afterwards. */
  watch(folder: EntryNode, open: OpenFolder): void;
  unwatch(folder: EntryNode): void;
  /** Resolves when there is room for more changes. */
  roomForChanges(): Promise<void>;
}

interface Listing {
  readonly folder: EntryNode;
  readonly origin: Origin;
  /** List known subfolders, too. */
  readonly deep: boolean;
}

/** Compares the index with the file system at the hinted places. The actual state counts, not the hint. */
export class Reconciler implements AsyncDisposable {
  readonly #ports: ReconcilerPorts;
  readonly #pending = new PendingNames();
  /** Folders to list, last in first out, because their parents are still open then. */
  readonly #listings: Listing[] = [];
  #isStopped = false;
  /** The folders of the running scan; null if none runs. */
  #scan: ScanListings | null = null;
  readonly #looks = new Looks();
  /** The stored index is being loaded, and nothing can be compared yet. */
  #isLoading = false;
  readonly #detector: ChangeDetector;
  readonly #turns: Turns;
  readonly #quietWaiters: (() => void)[] = [];
  readonly #listingsWaiters: (() => void)[] = [];
  #isWaitingForRoom = false;

  constructor(ports: ReconcilerPorts) {
    this.#ports = ports;
    this.#turns = new Turns(ports.clock, () => this.#takeTurn());
    this.#detector = new ChangeDetector({
      ...ports,
      pending: this.#pending,
      looks: this.#looks,
      isLooking: () => this.#isLooking,
      hint: (folder, name, origin) => this.hint(folder, name, origin),
      list: (folder, origin, deep) => this.list(folder, origin, deep),
      replaced: (folder) => {
        ports.unwatch(folder);
        this.#scan?.outdate(folder);
      },
    });
  }

  /** Something happened to this name; null if the name is unknown. */
  hint(folder: EntryNode, name: string | null, origin: Origin = "live"): void {
    if (name === null) return this.list(folder, origin, false);
    if (isAlwaysExcluded(name)) return;
    if (this.#ports.exclusions.isNeverOfInterest(name) && folder.child(name) === undefined) return;
    this.#scan?.hinted(folder, name);
    this.#pending.hint(folder, name, this.#ports.clock.now(), origin);
    this.#turns.soon();
  }

  /** Compares a folder with its contents on disk. */
  list(folder: EntryNode, origin: Origin, deep: boolean): void {
    if (origin === "index" && this.#scan !== null) {
      if (!this.#scan.has(folder)) this.#scan.add(folder, deep);
    } else this.#listHere(folder, origin, deep || this.#scan?.outdate(folder) === true);
    this.#turns.soon();
  }

  #listHere(folder: EntryNode, origin: Origin, deep: boolean): void {
    this.#listings.push({ folder, origin, deep });
  }

  /** Begins a scan while the stored files are still being loaded; the folders are loaded. `scan` continues it. */
  prepare(): void {
    this.#isLoading = true;
    this.#openScan();
    for (const place of this.#ports.places.all) {
      for (const node of subtree(place.node)) if (node.kind === "folder") this.list(node, "index", true);
    }
  }

  /** Looks at these paths now and treats them as settled. */
  lookAt(paths: readonly string[]): void {
    // Files that are not loaded yet would look new; the following scan finds the changes.
    if (this.#isLoading) return;
    const arrivals: Arrival[] = [];
    for (const path of paths) {
      // New folders on the way come first, because each makes the next one known.
      for (let depth = 0; depth <= workspaceLimits.depth; depth++) {
        const nearest = this.#ports.places.nearest(path);
        const name = nearest?.names[0];
        if (nearest === null || name === undefined || !this.#ports.places.hasRoot(nearest.folder)) break;
        const observed = this.#ports.places.open(nearest.folder)?.observe(name) ?? null;
        if (observed === "unreadable") break;
        this.#pending.delete(nearest.folder, name);
        this.#scan?.hinted(nearest.folder, name);
        const arrival = this.#detector.compare(nearest.folder, name, observed, "live", null, true);
        if (nearest.names.length === 1 || arrival === null || arrival.observed.kind !== "folder") {
          if (arrival !== null) arrivals.push(arrival);
          break;
        }
        this.#detector.arrive(arrival);
      }
    }
    for (const arrival of arrivals) this.#detector.arrive(arrival);
    for (const path of paths) {
      const node = this.#ports.tree.find(path);
      if (node !== undefined) this.#detector.removeIfMissing(node);
    }
    this.#ports.places.release();
    this.#turns.soon();
  }

  /**
   * Compares everything. New entries are held back until the missing ones are known, so that moves are recognized; an
   * empty index has nothing to wait for.
   */
  async scan(contentOf: ContentOf): Promise<void> {
    if (this.#ports.tree.size > 0) this.#detector.hold();
    this.#isLoading = false;
    if (this.#scan === null) this.#openScan();
    for (const place of this.#ports.places.all) this.list(place.node, "index", true);
    await this.#listed();
    this.#detector.release();
    await this.#listed();
    await this.#detector.matchContent(contentOf);
    // Entries that went missing meanwhile may count as deleted now, and nothing else might trigger a look.
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

  /** Resolves when nothing waits to be checked. */
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
    return this.#pending.isEmpty && !this.#hasListings && this.#detector.isQuiet;
  }

  /** True if folders wait to be listed, or names to be looked at, among which a missing entry may be found again. */
  get #isLooking(): boolean {
    const { isUnderWay, openTurn } = this.#looks;
    return this.#listings.length > 0 || isUnderWay || this.#pending.hasSightedSince(openTurn);
  }

  get #hasListings(): boolean {
    return this.#listings.length > 0 || this.#scan?.isEmpty === false;
  }

  /** Resolves when all listings are done and everything found in them was compared once. */
  async #listed(): Promise<void> {
    while ((this.#hasListings || this.#hasDue()) && !this.#isStopped) {
      await new Promise<void>((resolve) => this.#listingsWaiters.push(resolve));
    }
  }

  /** Resolves when everything that a scan found has settled. */
  async #settledIndex(): Promise<void> {
    const isOpen = (): boolean => this.#pending.hasFromIndex() || this.#detector.missing.hasFromIndex();
    while ((this.#hasListings || isOpen()) && !this.#isStopped) {
      this.#turns.soon();
      await new Promise<void>((resolve) => this.#listingsWaiters.push(resolve));
    }
  }

  #hasDue(): boolean {
    return this.#pending.nextDueAtMs() <= this.#ports.clock.now();
  }

  #takeTurn(): void {
    this.#looks.beginTurn();
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
      this.#detector.expireMissing();
    } finally {
      this.#ports.places.release();
      if (hasMore && !this.#isWaitingForRoom) this.#turns.soon();
    }
    this.#pauseForRoom();
    this.#turns.at(Math.min(this.#pending.nextDueAtMs(), this.#detector.nextGoneAtMs()));
    if (this.isQuiet) wake(this.#quietWaiters);
    if (!this.#hasListings) wake(this.#listingsWaiters);
  }

  /** A scan finds changes faster than they are stored, so it pauses to bound their number. */
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
    this.#looks.begin(() => this.#pending.folders());
    for (let folder = this.#looks.next(); folder !== null; folder = this.#looks.next()) {
      const { due, isAll } = this.#pending.takeDue(folder, nowMs);
      if (!isAll) this.#looks.leftOut();
      if (due.length === 0) continue;
      const open = this.#ports.places.open(folder);
      // A listing that is under way is older than this look.
      for (const [name] of due) this.#scan?.hinted(folder, name);
      const seen = due.map(([name, pending]) => ({ name, pending, observed: open?.observe(name) ?? null }));
      // If the folder cannot be opened (any more), the folder above decides; its contents do not count.
      if (open === null) this.#hintItself(folder, "live");
      for (const { name, pending, observed } of seen) {
        if (name === ignoreFileName) this.#rulesChanged(folder);
        if (open === null || observed === "unreadable") continue;
        const arrival = this.#detector.compare(folder, name, observed, pending.origin, pending, false);
        if (arrival !== null) arrivals.push(arrival);
      }
      if (!hasTime()) break;
    }
    for (const arrival of arrivals) this.#detector.arrive(arrival);
  }

  /** The folder is gone or unreadable. The folder above knows whether it still exists. */
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
    this.#detectorAll(folder, seen, comparison.absent(), origin, deep);
  }

  get #listingPorts(): ListingPorts {
    return { ...this.#ports, missing: this.#detector.missing };
  }

  #detectorAll(
    folder: EntryNode,
    seen: readonly { readonly name: string; readonly observed: Observation | null }[],
    absent: readonly EntryNode[],
    origin: Origin,
    deep: boolean,
  ): void {
    const arrivals: Arrival[] = [];
    for (const { name, observed } of seen) {
      const known = folder.child(name);
      const arrival = this.#detector.compare(folder, name, observed, origin, null, false);
      if (arrival !== null) arrivals.push(arrival);
      else if (deep && known?.kind === "folder" && !this.#detector.missing.has(known))
        this.list(known, origin, true);
    }
    for (const child of absent) this.#detector.compare(folder, child.name, null, origin, null, false);
    for (const arrival of arrivals) this.#detector.arrive(arrival);
  }

  /** Compares the listings that arrived from the threads. Returns false if there are more. */
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

  #compare(asked: RequestedFolder, listing: FolderListing | null): void {
    const { tree, places, exclusions } = this.#ports;
    const { folder, deep } = asked;
    if (!isAttached(tree, folder) || this.#detector.missing.hasAbove(folder)) return;
    const isSame =
      listing !== null &&
      (folder.isEntry ? isSameFolder(folder, listing) : asked.place.reader.isRoot(listing));
    if (!isSame || places.locate(folder)?.components.join("/") !== asked.path) {
      // The listing is of another folder or failed, so the folder is listed here.
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
    this.#detectorAll(folder, seen, listing.isLast ? asked.comparison.absent() : [], "index", deep);
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
