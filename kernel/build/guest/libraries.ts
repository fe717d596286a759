import { readSections, sharedLibraryData, sharedLibraryNeeds } from "./binary.ts";

/** A published native library of QuickJS. */
export interface Library {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The place of a library in the linked module, where its exports are named `<name>:<export>`. */
export interface PlacedLibrary {
  readonly name: string;
  readonly memoryBase: number;
  readonly memoryBytes: number;
  /** Not in the linked module; to be written to `memoryBase`. */
  readonly data: Uint8Array;
}

/**
 * Places libraries, which are position independent, in QuickJS's memory. The addresses are what `malloc` returns
 * for the libraries' sizes, in order, right after `_initialize`; building the image repeats the calls and must get
 * the same addresses.
 */
export function placeLibraries(
  quickjs: Uint8Array,
  libraries: readonly Library[],
): (Library & PlacedLibrary)[] {
  const module = new WebAssembly.Module(new Uint8Array(quickjs));
  const imports: Record<string, Record<string, () => number>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    (imports[from] ??= {})[name] = () => 0;
  const { exports } = new WebAssembly.Instance(module, imports);
  const { _initialize, malloc } = exports as Record<string, (size?: number) => number>;
  _initialize?.();
  return libraries.map((library) => {
    const sections = readSections(library.bytes);
    const { memoryBytes } = sharedLibraryNeeds(sections);
    return {
      ...library,
      memoryBase: malloc?.(memoryBytes) ?? 0,
      memoryBytes,
      data: sharedLibraryData(sections),
    };
  });
}
