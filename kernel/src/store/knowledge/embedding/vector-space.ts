import { nextTurn } from "../../../base/next-turn.ts";
import { OneAtATime } from "../../../base/one-at-a-time.ts";
import { failpoint } from "../../../platform/failpoint.ts";
import type { EngineChoice, EngineName } from "../../../memory-contract/store-settings.ts";
import type { IndexShape, LoadedIndex, VectorIndex } from "../../vectors/port.ts";
import { type AtRest, decodeVector } from "../../vectors/quantize.ts";
import { type Database, readChanges } from "../rows/schema.ts";

/** Creates indexes and loads saved ones (`vectors/engines.ts`). */
export interface VectorEngines {
  /**
   * Returns the engine to use for this number of vectors. Keeps `serving` unless the number is clearly
   * outside its range.
   */
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
  /** The name of the space in `knowledge_vectors`. */
  readonly name: string;
  readonly dimensions: number;
  /** Absolute path of an existing folder. Null: the index is not saved. */
  folder: string | null;
}

/** Vectors that are read from the table at once. */
const vectorsPerSlice = 1_000;
/** Vectors that are put into an index before other work runs: a graph takes up to a millisecond for each. */
const vectorsPerTurn = 32;
/** Number of changes after which the index is saved, so that the next start has little to catch up with. */
const changesPerSave = 20_000;

/**
 * Vectors that can be compared with each other, and the index over them. The table is the source of truth. The index
 * follows it by positions in the table's order of changes (`knowledge_facts` "position"), because embeddings do not
 * arrive in the journal's order. In a saved index, `seq` is such a position and `hash` the lineage of the tables.
 */
export class VectorSpace implements Disposable {
  readonly options: SpaceOptions;
  /** The projector and one background worker use it, each for one task at a time. */
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
    // A stale index may contain data that has been forgotten.
    if (options.folder !== null) await engines.discard(options.folder);
    return new VectorSpace(options, await engines.createIndex(shape), 0, lineage);
  }

  get name(): string {
    return this.options.name;
  }
  get index(): VectorIndex {
    return this.#index;
  }
  /** The position up to which the saved index has all changes. */
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

  /**
   * Deletes the saved index, so that vectors that were removed for good are in no file even if a new index
   * cannot be saved.
   */
  async #forget(lineage: string): Promise<void> {
    const { engines, folder } = this.options;
    this.#giveUpNext();
    this.#index.purge();
    this.#lineage = lineage;
    this.#saved = -1;
    if (folder !== null) await engines.discard(folder);
    failpoint("store.vectors.forgotten");
  }

  /** Does some of the work that makes searches fast again. Returns false when nothing is left to do. */
  grow(): Promise<boolean> {
    return this.#oneAtATime.run("", async () => this.#index.grow());
  }

  /**
   * Does one slice of the change to another engine, while the current one serves. Returns the progress, 0 to
   * 1; null if the right engine serves already.
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

  /** Saves the index in this folder, now and from now on; replaces what the folder contains. */
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

  /** Applies changes after `seen`, up to `position`, to the index. Returns the position that was reached. */
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
