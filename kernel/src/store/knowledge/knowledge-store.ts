import { OneAtATime } from "../../base/one-at-a-time.ts";
import type {
  KnowledgeItem,
  KnowledgeQuery,
  SearchPage,
  SearchQuery,
} from "../../memory-contract/queries.ts";
import type { Embedder } from "../embedding/port.ts";
import type { StoreSettings } from "../../memory-contract/store-settings.ts";
import { EmbeddingQueue } from "../embedding/queue.ts";
import type {
  Maintained,
  Nearest,
  NewItem,
  ProposedUpdates,
  PrunePolicy,
  StoreStats,
  WrittenItem,
} from "../../memory-contract/store-port.ts";
import { AccessCounter } from "./search/access-counter.ts";
import { BackgroundWork, type SliceEnd } from "./upkeep/background-work.ts";
import { EmbedderOpening } from "./embedding/embedder-opening.ts";
import { EmbedderSwitch } from "./embedding/embedder-switch.ts";
import { givenServing } from "./embedding/given-space.ts";
import { nearestItems } from "./search/nearest.ts";
import { embedAtOnce, PendingRows } from "./upkeep/pending-items.ts";
import { type KnowledgeView, queryKnowledge } from "./search/query.ts";
import { type ImportedVector, takeImported, type TakenVectors } from "./upkeep/imported-vectors.ts";
import { existingItems, writtenItem, type VectorsPage, type VectorsPlace, vectorsPage } from "./records.ts";
import { search } from "./search/search.ts";
import { proposeUpdates } from "./upkeep/propose-updates.ts";
import { evictColdest, forgetGone, proposeMerges, proposePrunes } from "./upkeep/maintain.ts";
import { moveTiers } from "./upkeep/tiers.ts";
import {
  beginWith,
  dropOthers,
  factOf,
  hasVectors,
  type ServingFact,
  servingFact,
  spaceOf,
} from "./rows/serving-fact.ts";
import { Retiring, Serving } from "./embedding/serving.ts";
import { Notices } from "./notices.ts";
import type { KnowledgeOptions } from "./options.ts";
import { LearnedStatistics } from "./statistics.ts";
import { knowledgeStats } from "./stats.ts";
import { type SpaceOptions, VectorSpace } from "./embedding/vector-space.ts";

/**
 * When there are this many more vectors than `maxVectors`, the coldest are removed without waiting for
 * maintenance.
 */
const toleratedExcess = { part: 0.05, vectors: 1_000 } as const;

/**
 * The knowledge of one memory: its vectors, its queries, and the background work (embedding queue, switch of
 * embedder or engine), which never blocks a query. While the projections are rebuilt, it must not be used:
 * dispose of it, and open it again on the new tables.
 */
export class KnowledgeStore implements AsyncDisposable {
  readonly #options: KnowledgeOptions;
  readonly #accesses: AccessCounter;
  /** The projector and background work use it, each for one task at a time. */
  readonly #oneAtATime = new OneAtATime();
  readonly #work: BackgroundWork;
  readonly #opening: EmbedderOpening;
  readonly #pending: PendingRows;
  readonly #queue: EmbeddingQueue;
  #settings: StoreSettings;
  #made = new Serving("", null, null);
  #given = new Serving("", null, null);
  #switch: EmbedderSwitch | null = null;
  #learned: LearnedStatistics | null = null;
  readonly #notices: Notices;
  readonly #retiring = new Retiring((error) => this.#notices.log("warn", error));

  private constructor(options: KnowledgeOptions, settings: StoreSettings) {
    this.#options = options;
    this.#notices = new Notices(options.memory, (notice) => options.tell(notice));
    this.#settings = settings;
    this.#accesses = new AccessCounter(options.database);
    this.#pending = new PendingRows(options.database, async (texts) => {
      for (const text of texts) this.#made.embedder?.statistics?.add(text);
      await this.#made.space?.follow();
    });
    this.#queue = new EmbeddingQueue({
      items: this.#pending,
      clock: options.clock,
      report: (error) => this.#notices.log("error", error),
    });
    this.#opening = new EmbedderOpening({
      clock: options.clock,
      open: (spec) => options.openEmbedder(spec),
      ready: () => void this.#adoptLate(),
      failed: (error) => this.#notices.log("warn", error),
    });
    this.#work = new BackgroundWork(
      options.clock,
      () => this.#workSlice(),
      (error) => this.#notices.log("error", error),
    );
  }

  static async open(options: KnowledgeOptions, settings: StoreSettings): Promise<KnowledgeStore> {
    const store = new KnowledgeStore(options, settings);
    await store.#oneAtATime.run("follow", () => store.#adopt());
    await store.follow();
    return store;
  }

  /** Applies the settings of a request; the resulting work is done in the background. */
  async configure(settings: StoreSettings): Promise<void> {
    const before = this.#settings;
    this.#settings = settings;
    if (JSON.stringify(before.embedder) !== JSON.stringify(settings.embedder)) {
      await this.#oneAtATime.run("follow", () => this.#adopt());
    }
    if (before.isGivenVectors !== settings.isGivenVectors) {
      this.#useQueue();
      await this.follow();
    }
    if (JSON.stringify(before) !== JSON.stringify(settings)) this.#work.wake();
  }

  /** Brings vectors and queue up to the tables. Has to be called after each projected batch. */
  async follow(): Promise<void> {
    await this.#oneAtATime.run("follow", async () => {
      const { embedder } = this.#made;
      if (embedder?.isImmediate === true && this.#settings.isGivenVectors !== true) {
        await embedAtOnce(this.#pending, embedder, this.#options.clock);
      }
      await this.#made.space?.follow();
      await this.#followGiven();
    });
    this.#queue.wake();
    this.#work.wake();
  }

  async query(query: KnowledgeQuery, nowMs: number): Promise<{ items: readonly KnowledgeItem[] }> {
    const found = await this.#viewed((view) => queryKnowledge(view, query, nowMs));
    this.#found(
      found.map(({ row }) => row),
      nowMs,
    );
    return { items: found.map(({ item }) => item) };
  }

  nearest(items: readonly NewItem[], minSimilarity: number): Promise<readonly Nearest[]> {
    return this.#viewed((view) => nearestItems(view, items, minSimilarity));
  }

  /** See `proposeUpdates`. */
  updates(): Promise<ProposedUpdates> {
    return this.#viewed((view) => proposeUpdates(view, new Set()));
  }

  async search(query: SearchQuery, nowMs: number): Promise<SearchPage> {
    const { page, rows } = await this.#viewed((view) =>
      search({ ...view, events: (rows) => this.#options.events(rows) }, query, nowMs),
    );
    this.#found(rows, nowMs);
    return page;
  }

  readonly item = (id: string): Promise<WrittenItem | null> => writtenItem(this.#options.database, id);

  existing(ids: readonly string[]): Promise<string[]> {
    return existingItems(this.#options.database, ids);
  }

  /** Takes vectors of an import, while the settings say that vectors are given. */
  takeVectors(name: string, vectors: readonly ImportedVector[]): Promise<TakenVectors> {
    return takeImported(this.#options.database, this.#pending, this.#made.embedder, { name, vectors });
  }

  vectorsPage(page: VectorsPlace): Promise<VectorsPage> {
    return this.#viewed(async ({ database, made }) =>
      made === null
        ? { dimensions: 0, items: [], isLast: true }
        : vectorsPage(database, { name: made.name, dimensions: made.options.dimensions }, page),
    );
  }

  stats(): Promise<Pick<StoreStats, "knowledge" | "vectors" | "embedder" | "rebuilding">> {
    return knowledgeStats(this.#options.database, this.#made, this.#given, this.#notices.rebuilding);
  }

  /** Returns what maintenance wants to move, merge or prune (see `maintain.ts`), and saves the index. */
  async maintain(nowMs: number, prune: PrunePolicy | null): Promise<Maintained> {
    await this.#accesses.write();
    const maintained = await this.#viewed(async (view) => {
      const { database } = this.#options;
      await this.#evict(nowMs);
      await moveTiers(database, nowMs, (space, label) =>
        space === view.made?.name ? view.made.index.vectorOf(label) : null,
      );
      const merges = await proposeMerges(view);
      const gone = merges.flatMap((change) => (change.operation === "delete" ? [change.id] : []));
      const updates = await proposeUpdates(view, new Set(gone));
      const prunes = await proposePrunes(database, prune, nowMs);
      const isUnfinished = updates.isWaiting || updates.isMore;
      return { isUnfinished, changes: [...merges, ...updates.changes, ...prunes] };
    });
    await this.follow();
    const spaces = [this.#made.space, this.#given.space].filter((space) => space !== null);
    for (const space of spaces) await space.save();
    await this.#learned?.check();
    await this.#learned?.save();
    this.#work.wake();
    await forgetGone(this.#options.database, spaces);
    return maintained;
  }

  /** Resolves when no work is left that could be done now. */
  idle(): Promise<void> {
    return this.#work.idle();
  }

  /** Stops accepting work, waits for work in progress, then saves and closes the index. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#opening[Symbol.dispose]();
    await this.#queue[Symbol.asyncDispose]();
    const stopped = this.#work[Symbol.asyncDispose]();
    // Disposing of an embedder cancels its calls, for which the work may be waiting.
    await this.#switch?.embedder[Symbol.asyncDispose]();
    await stopped;
    await this.#accesses.write();
    await this.#made.space?.save();
    await this.#given.space?.save();
    await this.#learned?.save();
    await this.#made[Symbol.asyncDispose]();
    await this.#given[Symbol.asyncDispose]();
    await this.#retiring.all();
  }

  async #viewed<Result>(work: (view: KnowledgeView) => Promise<Result>): Promise<Result> {
    const made = this.#made;
    const given = this.#given;
    using _made = made.lease();
    using _given = given.lease();
    return await work({
      database: this.#options.database,
      text: this.#options.text,
      embedder: made.embedder,
      made: made.space,
      given: given.space,
    });
  }

  #found(rows: readonly number[], nowMs: number): void {
    this.#accesses.count(rows, nowMs);
    if (this.#accesses.isFull) this.#work.wake();
  }

  /**
   * Switches to the embedder that the settings name. Until it has made the vectors, the previous one serves.
   */
  async #adopt(): Promise<void> {
    const { database } = this.#options;
    const wanted = await this.#opening.take(this.#settings.embedder);
    const fact = await servingFact(database);
    const before = this.#switch;
    this.#switch = null;
    await before?.embedder[Symbol.asyncDispose]();
    const isFree =
      fact === null || fact.name === wanted?.name || !(await hasVectors(database, spaceOf(fact.name)));
    if (wanted !== null && isFree) {
      const wantedFact = factOf(wanted, this.#settings.embedder);
      await beginWith(database, wantedFact, fact?.name === wanted.name);
      await this.#serve(wantedFact, wanted);
      return;
    }
    if (fact !== null && this.#made.name !== spaceOf(fact.name)) {
      await this.#serve(fact, await this.#opening.reopen(fact, this.#settings.embedder));
    }
    if (wanted !== null) this.#switch = new EmbedderSwitch(database, wanted, spaceOf(wanted.name));
  }

  async #serve(fact: ServingFact, embedder: Embedder | null): Promise<void> {
    await this.#made.space?.save();
    const space = await VectorSpace.open(
      this.#spaceOptions(spaceOf(fact.name), fact.dimensions, this.#options.folder),
      this.#settings.vectors,
    );
    await this.#takesOver(new Serving(space.name, embedder, space));
  }

  async #takesOver(serving: Serving): Promise<void> {
    const statistics = serving.embedder?.statistics;
    const learned =
      statistics && (await LearnedStatistics.open(this.#options.database, serving.name, statistics));
    const before = this.#made;
    this.#made = serving;
    this.#learned = learned ?? null;
    this.#useQueue();
    this.#retiring.add(before, () => this.#dropOld());
  }

  /** An embedder that answers at once does so in `follow`. */
  #useQueue(): void {
    const { embedder } = this.#made;
    const isForQueue = embedder?.isImmediate !== true && this.#settings.isGivenVectors !== true;
    this.#queue.use(isForQueue ? embedder : null);
  }

  #spaceOptions(name: string, dimensions: number, folder: string | null): SpaceOptions {
    const { database, engines } = this.#options;
    return { database, engines, name, dimensions, folder };
  }

  /** The embedder that was not open in time may be open now. */
  async #adoptLate(): Promise<void> {
    try {
      await this.#oneAtATime.run("follow", async () => this.#work.isStopped || this.#adopt());
      if (!this.#work.isStopped) await this.follow();
    } catch (error) {
      if (!this.#work.isStopped) this.#notices.log("error", error);
    }
  }

  #evict(nowMs: number): Promise<void> {
    const spaces = [this.#made.name, this.#given.name];
    return evictColdest(this.#options.database, spaces, this.#settings.maxVectors, nowMs);
  }

  /** Removes the vectors of embedders that neither serve nor are about to. */
  async #dropOld(): Promise<void> {
    await this.#options.database.transaction(async (sql) => {
      await dropOthers(sql, [this.#made.name, this.#switch?.space ?? ""]);
    });
  }

  async #followGiven(): Promise<void> {
    const { database, engines, folder } = this.#options;
    const parts = { database, engines };
    const before = this.#given;
    this.#given = await givenServing(before, parts, folder, this.#settings.vectors);
    if (this.#given !== before) this.#retiring.add(before);
    await this.#given.space?.follow();
  }

  async #workSlice(): Promise<SliceEnd> {
    const nowMs = this.#options.clock.now();
    if (this.#accesses.isFull) await this.#accesses.write();
    let dueMs = Infinity;
    const made = this.#made;
    const next = this.#switch;
    if (next !== null) {
      if (next.dueMs <= nowMs) {
        await this.#switchSlice(next, nowMs);
        return "more";
      }
      dueMs = Math.min(dueMs, next.dueMs);
    }
    if ((await this.#learned?.slice()) === true) return "more";
    const { vectors, maxVectors } = this.#settings;
    const count = (made.space?.index.size ?? 0) + (this.#given.space?.index.size ?? 0);
    if (count > maxVectors + Math.max(toleratedExcess.vectors, maxVectors * toleratedExcess.part)) {
      await this.#evict(nowMs);
      await this.follow();
    }
    for (const space of [made.space, this.#given.space]) {
      if ((await space?.grow()) === true) return "more";
      const fraction = (await space?.changeEngine(vectors)) ?? null;
      if (fraction === null) continue;
      this.#notices.progress("index", Math.round(fraction * 100), 100);
      return "more";
    }
    return dueMs === Infinity ? null : { dueMs };
  }

  async #switchSlice(next: EmbedderSwitch, nowMs: number): Promise<void> {
    const isWhole = await next.slice(nowMs);
    const { done, total } = await next.progress();
    if (!isWhole) {
      this.#notices.progress("embeddings", done, total);
      return;
    }
    const { dimensions } = next.embedder;
    // The new index is complete before the old one is dropped; changes meanwhile are applied to both.
    const space = await VectorSpace.open(
      this.#spaceOptions(next.space, dimensions, null),
      this.#settings.vectors,
    );
    await space.follow();
    await this.#oneAtATime.run("follow", async () => {
      if (this.#switch !== next || this.#work.isStopped) {
        space[Symbol.dispose]();
        return;
      }
      await next.takeOver(factOf(next.embedder, this.#settings.embedder));
      await space.follow();
      this.#switch = null;
      await this.#takesOver(new Serving(space.name, next.embedder, space));
      await space.saveIn(this.#options.folder);
    });
    this.#notices.progress("embeddings", total, total);
  }
}
