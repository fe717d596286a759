import { limitExceeded, messageOf, notFound } from "../base/errors.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Entry } from "../base/vocabulary/entry.ts";
import { openFolderLister } from "../platform/files/folder-lister.ts";
import { openFolderReader } from "../platform/files/folder-reader.ts";
import type { IndexView } from "../policy/sight.ts";
import type { Arrival } from "./arrival.ts";
import { AwaitedMetadata } from "./awaited-metadata.ts";
import { ChangeLog } from "./change-log.ts";
import { entryOf } from "./entry.ts";
import { Exclusions } from "./exclusions.ts";
import { Hasher } from "./hasher.ts";
import { ignoreFileName } from "../platform/files/ignore-file.ts";
import { ruleForAll } from "./ignore-rules.ts";
import { workspaceLimits, workspaceTimes } from "./limits.ts";
import { loadTree } from "./load.ts";
import { metadataAccess } from "./metadata.ts";
import { Places, type Place } from "./places.ts";
import type { MetadataAccess, Workspace, WorkspaceOptions, WorkspacePorts } from "./ports.ts";
import { comparePaths, countEntries, countFiles, queryEntries } from "./query.ts";
import { Reconciler } from "./reconciler.ts";
import { Recorder } from "./recorder.ts";
import { RootCheck } from "./root-check.ts";
import { RootWatches } from "./root-watches.ts";
import { Slices } from "../base/slices.ts";
import { EntryTree, pathOf, type EntryNode } from "./tree.ts";
import { indexView } from "./view.ts";

/**
 * Opens the folders of a workspace. Nothing is read before `start`. Throws StorageError for a root that cannot be
 * opened, InvalidDocument for an invalid ignore glob.
 */
export async function openWorkspace(options: WorkspaceOptions, ports: WorkspacePorts): Promise<Workspace> {
  const tree = new EntryTree();
  const places: Place[] = [];
  try {
    for (const { name, path } of options.roots) {
      const reader = openFolderReader(path, (unreadable, reason) =>
        ports.log.warn("A folder or file cannot be read and is ignored.", {
          root: name,
          path: unreadable,
          reason,
        }),
      );
      const node = options.roots.length === 1 ? tree.top : tree.addRoot(name);
      places.push({ name, node, reader, reads: await ports.open(reader.root) });
    }
    return new IndexedWorkspace(options, ports, tree, new Places(tree, places));
  } catch (error) {
    for (const { reads } of places) reads[Symbol.dispose]();
    throw error;
  }
}

class IndexedWorkspace implements Workspace {
  readonly roots: Workspace["roots"];
  readonly indexed: Promise<void>;
  readonly metadata: MetadataAccess;
  readonly view: IndexView;
  readonly #ports: WorkspacePorts;
  readonly #tree: EntryTree;
  readonly #places: Places;
  readonly #exclusions: Exclusions;
  readonly #changes: ChangeLog;
  readonly #hasher: Hasher;
  readonly #awaited: AwaitedMetadata;
  /** Shared by all queries. */
  readonly #slices: Slices;
  readonly #reconciler: Reconciler;
  readonly #markIndexed: () => void;
  readonly #watches: RootWatches;
  #isComplete = false;
  #isDisposed = false;
  #loading: Promise<void> | null = null;
  #scanning: Promise<void> | null = null;
  #scanAgain = false;
  #rootCheck: RootCheck | null = null;

  constructor(options: WorkspaceOptions, ports: WorkspacePorts, tree: EntryTree, places: Places) {
    this.#ports = ports;
    this.#tree = tree;
    this.#places = places;
    this.roots = places.all.map(({ name, reader }) => ({ name, path: reader.root }));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.indexed = promise;
    this.#markIndexed = resolve;
    this.#exclusions = new Exclusions(places, {
      ...options.index,
      never: this.#pathsOf(options.stateFolder),
    });
    this.#changes = new ChangeLog(ports);
    this.#slices = new Slices(ports.clock, workspaceTimes.sliceMs);
    this.#hasher = new Hasher({ tree, places, changes: this.#changes, clock: ports.clock, log: ports.log });
    const recorder = new Recorder({
      tree,
      changes: this.#changes,
      unhashed: (node) => this.#hasher.add(node),
      folderGone: (folder) => {
        this.#exclusions.forget(folder);
        this.#watches.removeEverywhere(folder);
      },
    });
    this.#reconciler = new Reconciler({
      tree,
      places,
      exclusions: this.#exclusions,
      recorder,
      clock: ports.clock,
      log: ports.log,
      openLister: ({ reader }, events) =>
        openFolderLister(
          {
            root: reader.root,
            hidden: options.index.hidden,
            textName: ignoreFileName,
            textBytes: workspaceLimits.ignoreFileBytes,
            textOfUnreadable: ruleForAll,
          },
          events,
        ),
      watch: (folder, open) => this.#watches.of(folder)?.add(folder, open),
      unwatch: (folder) => this.#watches.of(folder)?.remove(folder),
      roomForChanges: () => this.#changes.room(),
    });
    this.#watches = new RootWatches({
      places,
      clock: ports.clock,
      log: ports.log,
      hint: (folder, name) => this.#reconciler.hint(folder, name),
      rescan: () => this.rescan(),
    });
    this.view = indexView({ tree, places, exclusions: this.#exclusions, query: this.query });
    this.metadata = metadataAccess({
      tree,
      database: ports.database,
      deliver: (changes) => ports.deliver(changes),
      awaiting: () => this.#awaited.expect(),
      lookAt: (paths) => this.#reconciler.lookAt(paths),
    });
    this.#awaited = new AwaitedMetadata({
      database: ports.database,
      metadata: this.metadata,
      log: ports.log,
    });
  }

  start(): Promise<void> {
    return (this.#loading ??= this.#start());
  }

  async #start(): Promise<void> {
    const rootOf = (name: string): EntryNode | undefined =>
      this.#places.all.length === 1
        ? this.#places.all[0]?.node
        : this.#places.all.find((place) => place.name === name)?.node;
    for (const place of this.#places.all) this.#watches.watch(place);
    this.#rootCheck = new RootCheck({
      places: this.#places.all,
      clock: this.#ports.clock,
      log: this.#ports.log,
      returned: (place) => this.#rootReturned(place),
    });
    const orphans = await loadTree(this.#ports.database, this.#tree, rootOf, {
      foldersLoaded: () => this.#reconciler.prepare(),
      fileLoaded: (node) => {
        if (node.contentId === null) this.#hasher.add(node);
      },
    });
    for (const id of orphans) this.#changes.add({ id, row: null, change: null });
    void this.rescan();
  }

  rescan(): Promise<void> {
    if (this.#scanning !== null) {
      this.#scanAgain = true;
      return this.#scanning;
    }
    this.#scanning = this.#scan().finally(() => {
      this.#scanning = null;
    });
    return this.#scanning;
  }

  async #scan(): Promise<void> {
    do {
      this.#scanAgain = false;
      const startedMs = this.#ports.clock.monotonic();
      await this.#reconciler.scan((arrival) => this.#contentOf(arrival));
      await this.#changes.flushed();
      if (this.#isDisposed) return;
      await this.#awaited.attach(true);
      this.#isComplete = true;
      this.#markIndexed();
      const durationMs = Math.round(this.#ports.clock.monotonic() - startedMs);
      this.#ports.indexed({ entries: this.#tree.size, durationMs });
      this.#hasher.start();
    } while (this.#scanAgain);
  }

  missingRoots(): readonly string[] {
    this.#rootCheck?.look();
    return this.#places.all.flatMap(({ reader }) => (reader.rootState() === "missing" ? reader.root : []));
  }

  status(): { entries: number; complete: boolean } {
    return { entries: this.#tree.size, complete: this.#isComplete };
  }

  get isIdle(): boolean {
    return (
      this.status().complete &&
      this.#scanning === null &&
      this.#reconciler.isQuiet &&
      this.#hasher.isIdle &&
      this.#changes.waiting === 0
    );
  }

  async idle(): Promise<void> {
    await this.indexed;
    // The system may be reporting a write of this moment only now.
    await new Promise<void>((resolve) => this.#ports.clock.timer(workspaceTimes.settleMs, resolve));
    for (let isQuiet = false; !isQuiet && !this.#isDisposed;) {
      await this.#scanning;
      await this.#reconciler.quiet();
      await this.#hasher.idle();
      await this.#changes.flushed();
      isQuiet = this.isIdle;
    }
  }

  query: Workspace["query"] = (query, visible, reach, signal) =>
    queryEntries(this.#tree, query, visible, this.#slices, reach, signal);
  count: Workspace["count"] = (query, visible, reach, signal) =>
    countEntries(this.#tree, query, visible, this.#slices, reach, signal);
  filesIn: Workspace["filesIn"] = (folder, atMost) => countFiles(this.#tree, folder, this.#slices, atMost);

  get: Workspace["get"] = (ref, visible) => {
    const node = "id" in ref ? this.#tree.byId(ref.id) : this.#tree.find(ref.path);
    if (node?.isEntry !== true) return null;
    const path = pathOf(node);
    return visible(path, node.kind) ? entryOf(node, path) : null;
  };

  read: Workspace["read"] = async (path, offset, length, visible) => {
    if (length > workspaceLimits.readBytes) {
      throw limitExceeded(
        "length",
        length,
        `${length} bytes were requested at once; at most ${workspaceLimits.readBytes} are allowed. Read in pieces.`,
      );
    }
    if (this.#tree.find(path) === undefined) await this.indexed;
    const node = this.#tree.find(path);
    // The entry's own spelling counts, not the one that was asked for.
    const isSeen = visible(node === undefined ? path : pathOf(node), "file");
    const located = node === undefined ? this.#locateUnsettled(path) : this.#locateFile(node);
    if (located === null || !isSeen) throw notFound("file", path);
    return await located.reads.readRange(located.path, offset, length);
  };

  #locateFile(node: EntryNode): ReturnType<Places["reads"]> {
    return node.kind === "file" && node.isEntry ? this.#places.reads(node) : null;
  }

  /** Finds a file that is not listed because it has not settled: a caller that was just told its name may read it. */
  #locateUnsettled(path: string): ReturnType<Places["reads"]> {
    const nearest = this.#places.nearest(path);
    const [name, ...deeper] = nearest?.names ?? [];
    if (nearest === null || name === undefined || deeper.length > 0) return null;
    if (this.#exclusions.mayExclude(nearest.folder, [name])) return null;
    const observed = this.#places.open(nearest.folder)?.observe(name) ?? null;
    this.#places.release();
    const located = this.#places.reads(nearest.folder);
    const isFile = observed !== null && observed !== "unreadable" && observed.kind === "file";
    return located === null || !isFile ? null : { reads: located.reads, path: joined(located.path, name) };
  }

  readSidecar: Workspace["readSidecar"] = (path, sidecar) => this.metadata.sidecar(path, sidecar);

  copies: Workspace["copies"] = (contentId, visible) => {
    const paths = this.#tree.byContent
      .get(contentId as Hash)
      .map(pathOf)
      .filter((path) => visible(path, "file"))
      .toSorted(comparePaths);
    return { count: paths.length, paths: paths.slice(0, workspaceLimits.queryEntries) };
  };

  *allEntries(): Iterable<Entry> {
    for (const node of this.#tree.nodes()) yield entryOf(node);
  }

  async touched(paths: readonly string[]): Promise<void> {
    // Stored entries that are not loaded yet would look new.
    await this.#loading;
    this.#reconciler.lookAt(paths);
    const attached = async (): Promise<void> => {
      await this.#changes.flushed();
      await this.#awaited.attach(false);
    };
    if (await this.#changes.flushedUnlessStalled()) return attached();
    // The disk refuses writes. The metadata is stored once there is room, and the caller does not wait for that.
    attached().catch((error: unknown) =>
      this.#ports.log.error("Restored files could not be given their metadata yet.", {
        error: messageOf(error),
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#rootCheck?.[Symbol.dispose]();
    this.#watches[Symbol.dispose]();
    await this.#reconciler[Symbol.asyncDispose]();
    await this.#hasher[Symbol.asyncDispose]();
    await this.#changes[Symbol.asyncDispose]();
    this.#markIndexed();
    await this.#scanning;
    this.#places.release();
    for (const { reads } of this.#places.all) reads[Symbol.dispose]();
  }

  #rootReturned(place: Place): void {
    this.#watches.renew(place);
    void this.rescan();
    this.#ports.rootReturned(place.reader.root);
  }

  async #contentOf(arrival: Arrival): Promise<string | null> {
    const located = this.#places.reads(arrival.folder);
    if (located === null) return null;
    const path = joined(located.path, arrival.name);
    try {
      return await located.reads.hashFile(path);
    } catch (error) {
      this.#ports.log.debug("A file could not be read.", { path, error: messageOf(error) });
      return null;
    }
  }

  /** Returns the workspace paths under which an absolute folder would be listed. */
  #pathsOf(folder: string): string[] {
    return this.roots.flatMap(({ name, path }) => {
      if (!folder.startsWith(`${path}/`)) return [];
      const inRoot = folder.slice(path.length + 1).replace(/\/$/, "");
      return this.roots.length === 1 ? inRoot : `${name}/${inRoot}`;
    });
  }
}

function joined(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
