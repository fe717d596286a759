import { messageOf } from "../base/errors.ts";
import { Fifo } from "../base/fifo.ts";
import type { Log } from "../base/log.ts";
import type { FolderLister, FolderListerEvents, FolderListing } from "../platform/files/folder-lister.ts";
import type { OpenFolder } from "../platform/files/folder-reader.ts";
import type { FolderComparison } from "./listing.ts";
import { workspaceLimits } from "./limits.ts";
import type { Place, Places } from "./places.ts";
import { isAttached, type EntryNode, type EntryTree } from "./tree.ts";

/** A folder that another thread lists. */
export interface RequestedFolder {
  readonly folder: EntryNode;
  readonly place: Place;
  /** The folder's path when the listing was requested. */
  readonly path: string;
  /** Compare known subfolders, too. */
  readonly deep: boolean;
  /** Names that changed since the request; the listing may be outdated for them. */
  readonly hinted: Set<string>;
  /** The comparison of the pieces handled so far. */
  comparison: FolderComparison | null;
}

interface Arrived {
  readonly asked: RequestedFolder;
  readonly listing: FolderListing | null;
}

interface ScanListingsPorts {
  readonly tree: EntryTree;
  readonly places: Places;
  readonly log: Log;
  openLister(place: Place, events: FolderListerEvents): FolderLister;
  /** Begins to watch an open folder, which is listed afterwards. */
  watch(folder: EntryNode, open: OpenFolder): void;
  /** A listing arrived. */
  arrived(): void;
  /** The folder cannot be opened: it is gone or unreadable. */
  unopened(folder: EntryNode): void;
  /** These folders will not be listed by another thread after all. */
  abandoned(listings: readonly { readonly folder: EntryNode; readonly deep: boolean }[]): void;
}

/**
 * Sends the folders of a scan to threads that list them. Each folder is watched before it is listed, so no change is
 * missed; a name that changes after that is outdated in the listing. Listings arrive in the order of the requests, so a
 * folder is handled before its subfolders.
 */
export class ScanListings {
  readonly #ports: ScanListingsPorts;
  readonly #listers = new Map<Place, FolderLister>();
  readonly #waiting = new Fifo<{ readonly folder: EntryNode; readonly deep: boolean }>();
  readonly #asked = new Map<number, RequestedFolder>();
  readonly #byFolder = new Map<EntryNode, RequestedFolder | null>();
  readonly #arrived = new Fifo<Arrived>();
  #lastNumber = 0;
  #isClosed = false;

  constructor(ports: ScanListingsPorts) {
    this.#ports = ports;
    try {
      for (const place of ports.places.all) this.#listers.set(place, ports.openLister(place, this.#events()));
    } catch (error) {
      this.#die(messageOf(error));
    }
  }

  /** True after `close`: folders are to be listed in this thread. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isEmpty(): boolean {
    return this.#byFolder.size === 0;
  }

  has(folder: EntryNode): boolean {
    return this.#byFolder.has(folder);
  }

  add(folder: EntryNode, deep: boolean): void {
    this.#byFolder.set(folder, null);
    this.#waiting.push({ folder, deep });
  }

  /** This name changed or was checked. */
  hinted(folder: EntryNode, name: string): void {
    this.#byFolder.get(folder)?.hinted.add(name);
  }

  /** Discards the listing of a folder. Returns true if its subfolders were to be compared, too. */
  outdate(folder: EntryNode): boolean {
    const asked = this.#byFolder.get(folder);
    this.#byFolder.delete(folder);
    return asked?.deep ?? false;
  }

  /** Returns true if the listing is still wanted. */
  isWanted(asked: RequestedFolder): boolean {
    return this.#byFolder.get(asked.folder) === asked;
  }

  /** True if more folders can be requested now. */
  get mayAsk(): boolean {
    return this.#waiting.length > 0 && this.#asked.size < workspaceLimits.foldersAsked;
  }

  /** Watches folders and requests their listings, as far as time and room allow. */
  ask(hasTime: () => boolean): void {
    const { tree, places } = this.#ports;
    const requests = new Map<Place, [number, readonly string[]][]>();
    while (this.mayAsk && hasTime()) {
      const next = this.#waiting.shift();
      // Handled in another way meanwhile.
      if (next === undefined || this.#byFolder.get(next.folder) !== null) continue;
      const { folder, deep } = next;
      this.#byFolder.delete(folder);
      if (!isAttached(tree, folder)) continue;
      const located = places.locate(folder);
      const open = places.open(folder);
      if (located === null || open === null) {
        this.#ports.unopened(folder);
        continue;
      }
      this.#ports.watch(folder, open);
      const { place, components } = located;
      const asked: RequestedFolder = {
        folder,
        place,
        path: components.join("/"),
        deep,
        hinted: new Set(),
        comparison: null,
      };
      this.#byFolder.set(folder, asked);
      this.#asked.set(++this.#lastNumber, asked);
      const request = requests.get(place) ?? [];
      request.push([this.#lastNumber, components]);
      requests.set(place, request);
    }
    for (const [place, request] of requests) this.#listers.get(place)?.list(request);
  }

  get hasArrived(): boolean {
    return this.#arrived.length > 0;
  }

  /** Returns the next listing that arrived, or undefined. Call its `done` after handling it. */
  take(): Arrived | undefined {
    return this.#arrived.shift();
  }

  done({ asked, listing }: Arrived): void {
    this.#listers.get(asked.place)?.taken(listing?.count ?? 0);
    if (listing?.isLast !== false && this.isWanted(asked)) this.#byFolder.delete(asked.folder);
  }

  /** Resolves when the threads have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#listers.values()].map((lister) => lister[Symbol.asyncDispose]()));
  }

  #events(): FolderListerEvents {
    return {
      listed: (number, listing) => {
        const asked = this.#asked.get(number);
        if (asked === undefined) return;
        if (listing?.isLast !== false) this.#asked.delete(number);
        this.#arrived.push({ asked, listing });
        this.#ports.arrived();
      },
      unreadable: (path, reason) =>
        this.#ports.log.warn("A folder or file cannot be read and is ignored.", { path, reason }),
      died: (reason) => this.#die(reason),
    };
  }

  #die(reason: string): void {
    if (this.#isClosed) return;
    this.#ports.log.warn("The thread that lists folders has ended; folders are listed in the main thread.", {
      reason,
    });
    const folders = [...this.#byFolder].map(([folder, asked]) => ({ folder, deep: asked?.deep ?? true }));
    this.#byFolder.clear();
    this.#waiting.clear();
    this.#arrived.clear();
    void this.close();
    this.#ports.abandoned(folders);
  }
}
