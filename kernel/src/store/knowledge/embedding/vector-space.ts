import { nextTurn } from "../../../base/next-turn.ts";
import { OneAtATime } from "../../../base/one-at-a-time.ts";
import { failpoint } from "../../../platform/failpoint.ts";
import type { EngineChoice, EngineName } from "../../../memory-contract/store-settings.ts";
import type { IndexShape, LoadedIndex, VectorIndex } from "../../vectors/port.ts";
import { type AtRest, decodeVector } from "../../vectors/quantize.ts";
import { type Database, readChanges } from "../rows/schema.ts";

/** What makes indexes, and what believes those on the disk (`vectors/engines.ts`). */
export interface VectorEngines {
  /** What is to serve so many vectors. `serving` is kept where the number alone does not speak against it. */
  choose(choice: EngineChoice, count: number, serving: EngineName | null): Promise<EngineName>;
  createIndex(shape: IndexShape): Promise<VectorIndex>;
  /** Loads the index that was saved in a folder; `index` is null if there is no valid one. */
  loadIndex(folder: string, shape: IndexShape): Promise<LoadedIndex | { readonly index: null }>;
  /** Removes what was saved in a folder. */
  discard(folder: string): Promise<void>;
}

export interface SpaceOptions {
  readonly database: Database;
  readonly engines: VectorEngines;
  /** As knowledge_vectors says it. */
  readonly name: string;
  readonly dimensions: number;
  /** Absolute, and there. Null: not on the disk. */
  folder: string | null;
}

/** Vectors read from the table at once. */
const vectorsPerSlice = 1_000;
/** Vectors put into an index before others have a turn: a graph takes up to a millisecond for each. */
const vectorsPerTurn = 32;
/** Changes after which an index is written to the disk, so that the next start has little to catch up with. */
const changesPerSave = 20_000;

/**
 * The vectors that can be compared with each other, and the index over them. The table is the truth; the index follows
 * it by the places in its order of changes (`knowledge_facts` "position"), in memory as on the disk. Where a saved
 * index says `seq`, that is such a place, and `hash` the lineage of the tables: embeddings do not come in the journal's
 * order.
 */
export class VectorSpace implements Disposable {
  readonly options: SpaceOptions;
  readonly #oneAtATime = new OneAtATime();
  #index: VectorIndex;
  #seen: number;
  #saved: number;
  /** The lineage of the tables from which the index was built; it contains nothing that they have forgotten. */
  #lineage: string;
  #next: { index: VectorIndex; seen: number } | null = null;

  private constructor(options: SpaceOptions, index: VectorIndex, seen: number, lineage: string) {
    this.options = options;
    this.#index = index;
    this.#seen = seen;
    this.#saved = seen;
    this.#lineage = lineage;
  }

  static async open(options: SpaceOptions, choice: EngineChoice): Promise<VectorSpace> {
    const { database, engines, name, dimensions } = options;
    const [counted] = await database.all<{ count: number }>(
      "SELECT count(*) AS count FROM knowledge_vectors WHERE space = ?",
      [name],
    );
    const engine = await engines.choose(choice, counted?.count ?? 0, null);
    const shape: IndexShape = { engine, dimensions };
    const loaded = options.folder === null ? null : await engines.loadIndex(options.folder, shape);
    const { position, lineage } = await readChanges(database);
    const isOurs =
      loaded !== null &&
      loaded.index !== null &&
      loaded.watermark.hash === lineage &&
      loaded.watermark.embedder === name &&
      loaded.watermark.seq <= position;
    if (isOurs) return new VectorSpace(options, loaded.index, loaded.watermark.seq, lineage);
    loaded?.index?.[Symbol.dispose]();
    // It may have what was forgotten.
    if (options.folder !== null) await engines.discard(options.folder);
    return new VectorSpace(options, await engines.createIndex(shape), 0, lineage);
  }

  get name(): string {
    return this.options.name;
  }
  get index(): VectorIndex {
    return this.#index;
  }
  /** Up to this place in the order of changes, what is on the disk has seen all. */
  get savedPosition(): number {
    return this.options.folder === null ? 0 : Math.min(this.#saved, this.#next?.seen ?? Infinity);
  }

  /** Brings the index up to the table. */
  follow(): Promise<void> {
    return this.#oneAtATime.run("", () => this.#follow());
  }

  async #follow(): Promise<void> {
    const { position, lineage } = await readChanges(this.options.database);
    if (position > this.#seen) {
      await this.#bring(this.#index, this.#seen, position);
      this.#seen = position;
    }
    if (lineage !== this.#lineage) await this.#forget(lineage);
    if (this.#seen - this.#saved >= changesPerSave) await this.#save();
  }

  /** What was removed from the tables for good is to be in no file, whether there is room for the next one or not. */
  async #forget(lineage: string): Promise<void> {
    const { engines, folder } = this.options;
    this.#giveUpNext();
    this.#index.purge();
    this.#lineage = lineage;
    this.#saved = -1;
    if (folder !== null) await engines.discard(folder);
    failpoint("store.vectors.forgotten");
  }

  /** A little of what makes searches quick again; false where nothing is left of it. */
  grow(): Promise<boolean> {
    return this.#oneAtATime.run("", async () => this.#index.grow());
  }

  /**
   * One slice of what another engine needs to take over; the one that serves serves on. Answers how far it is, 0 to 1,
   * null where the right one serves already.
   */
  changeEngine(choice: EngineChoice): Promise<number | null> {
    return this.#oneAtATime.run("", () => this.#changeEngine(choice));
  }

  async #changeEngine(choice: EngineChoice): Promise<number | null> {
    const { engines, database, dimensions } = this.options;
    const serving = this.#index.shape.engine;
    const engine = await engines.choose(choice, this.#index.size, serving);
    if (this.#next !== null && this.#next.index.shape.engine !== engine) this.#giveUpNext();
    if (engine === serving) return null;
    this.#next ??= { index: await engines.createIndex({ engine, dimensions }), seen: 0 };
    const next = this.#next;
    const { position } = await readChanges(database);
    next.seen = await this.#bring(next.index, next.seen, position, vectorsPerSlice);
    if (next.seen < position) return Math.min(0.99, next.index.size / Math.max(1, this.#index.size));
    const old = this.#index;
    this.#index = next.index;
    this.#seen = next.seen;
    this.#next = null;
    old[Symbol.dispose]();
    this.#saved = -1;
    await this.#save();
    return 1;
  }

  /** Where it belongs from now on; what lies there is replaced. */
  async saveIn(folder: string): Promise<void> {
    this.options.folder = folder;
    this.#saved = -1;
    await this.save();
  }

  save(): Promise<void> {
    return this.#oneAtATime.run("", () => this.#save());
  }

  async #save(): Promise<void> {
    const { folder, name } = this.options;
    if (folder === null || this.#saved === this.#seen) return;
    const seq = this.#seen;
    await this.#index.save(folder, { seq, hash: this.#lineage, embedder: name });
    this.#saved = seq;
  }

  [Symbol.dispose](): void {
    this.#giveUpNext();
    this.#index[Symbol.dispose]();
  }

  #giveUpNext(): void {
    this.#next?.index[Symbol.dispose]();
    this.#next = null;
  }

  /** Puts in what came after `seen` and takes out what went, up to `position`; answers how far it came. */
  async #bring(index: VectorIndex, seen: number, position: number, limit = Infinity): Promise<number> {
    const { database, name } = this.options;
    let at = seen;
    let taken = 0;
    while (at < position && taken < limit) {
      const vectors = await database.all<AtRest & { label: number }>(
        `SELECT label, tier, bytes FROM knowledge_vectors
         WHERE label > ? AND label <= ? AND space = ? ORDER BY label LIMIT ${vectorsPerSlice}`,
        [at, position, name],
      );
      for (const [turn, { label, ...atRest }] of vectors.entries()) {
        if (turn % vectorsPerTurn === vectorsPerTurn - 1) await nextTurn();
        index.put(label, decodeVector(atRest));
      }
      taken += vectors.length;
      at = vectors.length < vectorsPerSlice ? position : (vectors.at(-1)?.label ?? position);
    }
    const gone = await database.all<{ label: number }>(
      "SELECT label FROM knowledge_vectors_gone WHERE position > ? AND position <= ?",
      [seen, position],
    );
    for (const { label } of gone) index.remove(label);
    return at;
  }
}
