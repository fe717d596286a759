import { stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, storageError } from "../../base/errors.ts";
import { ExactIndex, exactVersion } from "./exact.ts";
import type { GraphEngine } from "./graph.ts";
import { GraphIndex } from "./graph-index.ts";
import { loadIndex, type NotLoaded } from "./load-index.ts";
import { type IndexDescription, indexFileName } from "./manifest.ts";
import type { EngineChoice, EngineName } from "../../memory-contract/store-settings.ts";
import type { IndexShape, LoadedIndex, VectorIndex } from "./port.ts";
import { discardIndex, readManifest } from "./save-index.ts";
import { checkDimensions } from "./unit.ts";

/** From here on `auto` takes an approximate engine. */
const exactBelow = 10_000;
/** And only below here an exact one again: a store that hovers around the border is not rebuilt for ever. */
const exactAgainBelow = 7_500;

type NativeName = GraphEngine["name"];
export type EngineLoaders = Readonly<Record<NativeName, () => Promise<GraphEngine>>>;

const loaders: EngineLoaders = {
  usearch: async () => (await import("./usearch.ts")).loadUsearch(),
  faiss: async () => (await import("./faiss.ts")).loadFaiss(),
};

/** Which engines there are on this machine, and indexes of them. Libraries are loaded when they are first needed. */
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

  /** Why it is not; null while it is, or nobody has asked yet. */
  whyUnavailable(name: EngineName): string | null {
    return name === "exact" ? null : (this.#reasons.get(name) ?? null);
  }

  /**
   * The engine for a memory of so many vectors. `current`: what serves now. One that is asked for by name and cannot
   * be had is replaced as by `auto`; `whyUnavailable` then says what to tell.
   */
  async choose(choice: EngineChoice, size: number, current: EngineName | null): Promise<EngineName> {
    if (choice !== "auto" && (await this.isAvailable(choice))) return choice;
    const border = current === null || current === "exact" ? exactBelow : exactAgainBelow;
    if (size < border) return "exact";
    for (const name of ["faiss", "usearch"] as const) if (await this.isAvailable(name)) return name;
    return "exact";
  }

  /** An empty one. StorageError where its library cannot be loaded: ask `choose` first. */
  async createIndex({ engine: name, dimensions }: IndexShape): Promise<VectorIndex> {
    checkDimensions(dimensions);
    if (name === "exact") return new ExactIndex(dimensions);
    const engine = await this.#engine(name);
    if (typeof engine === "string") throw storageError(`The vector engine ${name} is not there: ${engine}`);
    return new GraphIndex(engine, dimensions);
  }

  /** What was saved in the folder, or why it is not used. Never throws for what is in the files. */
  async loadIndex(folder: string, shape: IndexShape): Promise<LoadedIndex | NotLoaded> {
    checkDimensions(shape.dimensions);
    if (shape.engine === "exact") return loadIndex(folder, shape, exactVersion, ExactIndex.from);
    const engine = await this.#engine(shape.engine);
    if (typeof engine === "string") return { index: null, reason: `${shape.engine} is not there: ${engine}` };
    return loadIndex(folder, shape, engine.version, (parts) => GraphIndex.from(engine, parts));
  }

  /** Removes what was saved in the folder; StorageError where the disk refuses. */
  discard(folder: string): Promise<void> {
    return discardIndex(folder);
  }

  #engine(name: NativeName): Promise<GraphEngine | string> {
    const known = this.#loading.get(name);
    if (known !== undefined) return known;
    const loading = this.#loaders[name]().catch((error: unknown) => {
      // Whatever goes wrong in loading a native library means the same: it is not there, and it says why.
      const [reason] = messageOf(error).split("\n");
      this.#reasons.set(name, reason!);
      return reason!;
    });
    this.#loading.set(name, loading);
    return loading;
  }
}

/** What the files in a folder say they are, before anything is proven: for choosing what to load. Null for nothing. */
export async function savedIndex(folder: string): Promise<IndexDescription | null> {
  for (const described of (await readManifest(folder)) ?? []) {
    const path = join(folder, indexFileName(described.engine));
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    });
    if (found?.size === described.bytes) return described;
  }
  return null;
}
