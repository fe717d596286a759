import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { invalidParams } from "../../../base/errors.ts";
import type { EngineName } from "../../../memory-contract/store-settings.ts";
import type { IndexShape, IndexWatermark, Neighbour, VectorIndex } from "../../vectors/port.ts";
import type { VectorEngines } from "../embedding/vector-space.ts";

/**
 * Indexes that compare with every vector. They accept any engine's name, so that a change of engine is
 * visible.
 */
class PlainIndex implements VectorIndex {
  readonly shape: IndexShape;
  readonly vectors = new Map<number, Float32Array>();
  isDisposed = false;

  constructor(shape: IndexShape) {
    this.shape = shape;
  }
  get size(): number {
    return this.vectors.size;
  }
  put(label: number, vector: Float32Array): void {
    if (vector.length !== this.shape.dimensions) throw invalidParams("wrong dimensions");
    this.vectors.set(label, vector);
  }
  remove(label: number): void {
    this.vectors.delete(label);
  }
  search(query: Float32Array, count: number, accepts: (label: number) => boolean = () => true): Neighbour[] {
    if (this.isDisposed) throw new Error("searched after it was disposed");
    return [...this.vectors]
      .filter(([label]) => accepts(label))
      .map(([label, vector]) => ({
        label,
        similarity: vector.reduce((sum, x, i) => sum + x * (query[i] ?? 0), 0),
      }))
      .toSorted((a, b) => b.similarity - a.similarity || b.label - a.label)
      .slice(0, count);
  }
  vectorOf(label: number): Float32Array | null {
    return this.vectors.get(label) ?? null;
  }
  purge(): void {
    // Checks that removed vectors are in no file.
  }
  grow(): boolean {
    return false;
  }
  async save(folder: string, watermark: IndexWatermark): Promise<void> {
    const vectors = [...this.vectors].map(([label, vector]) => [label, [...vector]]);
    await writeFile(join(folder, `knowledge.${this.shape.engine}`), JSON.stringify({ watermark, vectors }));
  }
  [Symbol.dispose](): void {
    this.isDisposed = true;
  }
}

export const plainEngines: VectorEngines = {
  async discard(folder) {
    for (const engine of ["exact", "usearch", "faiss"])
      await rm(join(folder, `knowledge.${engine}`), { force: true });
  },
  choose: async (choice, count, serving): Promise<EngineName> =>
    choice === "auto" ? (count < 100 ? "exact" : (serving ?? "exact")) : choice,
  createIndex: async (shape) => new PlainIndex(shape),
  async loadIndex(folder, shape) {
    try {
      const { watermark, vectors } = JSON.parse(
        await readFile(join(folder, `knowledge.${shape.engine}`), "utf8"),
      ) as {
        watermark: IndexWatermark;
        vectors: [number, number[]][];
      };
      const index = new PlainIndex(shape);
      for (const [label, vector] of vectors) index.put(label, new Float32Array(vector));
      return { index, watermark };
    } catch {
      return { index: null };
    }
  },
};
