import { messageOf, storageError } from "../../base/errors.ts";
import { ExactIndex, exactVersion } from "./exact.ts";
import type { GraphEngine } from "./graph.ts";
import { GraphIndex } from "./graph-index.ts";
import { loadIndex, type NotLoaded } from "./load-index.ts";
import type { EngineChoice, EngineName } from "../../memory-contract/store-settings.ts";
import type { IndexShape, LoadedIndex, VectorIndex } from "./port.ts";
import { discardIndex } from "./save-index.ts";
import { checkDimensions } from "./unit.ts";

/** From this number of vectors on, `auto` chooses an approximate engine. */
const exactBelow = 10_000;
/**
 * Below this number, `auto` returns to the exact one. The gap prevents rebuilds when the number hovers around the
 * limit.
 */
const exactAgainBelow = 7_500;

type NativeName = GraphEngine["name"];
export type EngineLoaders = Readonly<Record<NativeName, () => Promise<GraphEngine>>>;

const loaders: EngineLoaders = {
  usearch: async () => (await import("./usearch.ts")).loadUsearch(),
  faiss: async () => (await import("./faiss.ts")).loadFaiss(),
};

/** The vector engines of this machine, and indexes of them. Libraries are loaded when they are first needed. */
export class Engines {
  readonly #loaders: EngineLoaders;
  readonly #loading = new Map<NativeName, Promise<GraphEngine | string>>();
  readonly #reasons = new Map<NativeName, string>();

  constructor(own: EngineLoaders = loaders) {
    this.#loaders = own;
  }

  async isAvailable(name: EngineName): Promise<boolean> {
    return name === "exact" || typeof (await this.#engine(name)) !== "string";
  }

  /** Returns why the engine is not available; null if it is, or if it was not needed yet. */
  whyUnavailable(name: EngineName): string | null {
    return name === "exact" ? null : (this.#reasons.get(name) ?? null);
  }

  /**
   * Returns the engine for a memory with this number of vectors. `current`: the one that serves now. A named engine
   * that is not available is replaced as by `auto`; then `whyUnavailable` gives the reason.
   */
  async choose(choice: EngineChoice, size: number, current: EngineName | null): Promise<EngineName> {
    if (choice !== "auto" && (await this.isAvailable(choice))) return choice;
    const border = current === null || current === "exact" ? exactBelow : exactAgainBelow;
    if (size < border) return "exact";
    for (const name of ["faiss", "usearch"] as const) if (await this.isAvailable(name)) return name;
    return "exact";
  }

  /** Creates an empty index. Throws StorageError if its library cannot be loaded; `choose` checks this. */
  async createIndex({ engine: name, dimensions }: IndexShape): Promise<VectorIndex> {
    checkDimensions(dimensions);
    if (name === "exact") return new ExactIndex(dimensions);
    const engine = await this.#engine(name);
    if (typeof engine === "string") throw storageError(`The vector engine ${name} is not there: ${engine}`);
    return new GraphIndex(engine, dimensions);
  }

  /**
   * Loads the index that was saved in the folder, or returns why it is not used. Never throws because of the files'
   * content.
   */
  async loadIndex(folder: string, shape: IndexShape): Promise<LoadedIndex | NotLoaded> {
    checkDimensions(shape.dimensions);
    if (shape.engine === "exact") return loadIndex(folder, shape, exactVersion, ExactIndex.from);
    const engine = await this.#engine(shape.engine);
    if (typeof engine === "string") return { index: null, reason: `${shape.engine} is not there: ${engine}` };
    return loadIndex(folder, shape, engine.version, (parts) => GraphIndex.from(engine, parts));
  }

  /** Removes what was saved in the folder. Throws StorageError if the disk refuses. */
  discard(folder: string): Promise<void> {
    return discardIndex(folder);
  }

  #engine(name: NativeName): Promise<GraphEngine | string> {
    const known = this.#loading.get(name);
    if (known !== undefined) return known;
    const loading = this.#loaders[name]().catch((error: unknown) => {
      // Any error while a native library is loaded means that it is not available; the message is kept as the reason.
      const [reason] = messageOf(error).split("\n");
      this.#reasons.set(name, reason!);
      return reason!;
    });
    this.#loading.set(name, loading);
    return loading;
  }
}
