import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Operation, VectorEngine } from "../vectors/engine.ts";

interface Block {
  readonly at: number;
  readonly bytes: number;
}

type Exports = Readonly<Record<string, (...numbers: number[]) => number>> & {
  readonly memory: WebAssembly.Memory;
};

let compiled: WebAssembly.Module | undefined;

/** The same index as in a guest, as a separate module. Its memory only grows and is garbage collected with the set. */
export function makeVectorModule(): VectorEngine<Block> {
  const file = createRequire(import.meta.url).resolve("@lares/sdk/hnsw.wasm");
  compiled ??= new WebAssembly.Module(new Uint8Array(readFileSync(file)));
  const exports = new WebAssembly.Instance(compiled).exports as unknown as Exports;
  const run = (name: string, ...numbers: number[]): number => exports[`hnsw_${name}`]?.(...numbers) ?? -1;
  return {
    allocate: (bytes) => {
      const at = run("reserve", bytes);
      if (at === 0) throw new RangeError(`The module's memory cannot grow by ${bytes} bytes.`);
      return { at, bytes };
    },
    view: ({ at }) => ({ buffer: exports.memory.buffer, byteOffset: at }),
    call: (operation, block, other, a = 0, b = 0, c = 0, d = 0) => {
      const set = block ?? { at: 0, bytes: 0 };
      const second = other ?? { at: 0, bytes: 0 };
      const calls: Record<Operation, () => number> = {
        bytes: () => run("bytes", a, b, c),
        create: () => run("create", set.at, set.bytes, a, b, c, d),
        add: () => run("add", set.at, a, run("input", set.at)),
        remove: () => run("remove", set.at, a),
        has: () => run("has", set.at, a),
        search: () => run("search", set.at, run("input", set.at), a, b),
        size: () => run("size", set.at),
        capacity: () => run("capacity", set.at),
        dimensions: () => run("dimensions", set.at),
        inputAt: () => run("input", set.at) - set.at,
        resultsAt: () => run("results", set.at) - set.at,
        savedBytes: () => run("saved_bytes", set.at),
        loadBytes: () => run("load_bytes", second.at, second.bytes, a),
        resize: () => run("resize", set.at, second.at, second.bytes, a),
        save: () => run("save", set.at, second.at, second.bytes),
        load: () => run("load", set.at, set.bytes, second.at, second.bytes, a),
      };
      return calls[operation]();
    },
  };
}
