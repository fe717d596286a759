/** The part of WebAssembly's JavaScript interface that is used here. TypeScript declares it only with the DOM. */
declare namespace WebAssembly {
  type ExternKind = "function" | "table" | "memory" | "global" | "tag";
  class CompileError extends Error {}
  class Module {
    constructor(bytes: Uint8Array);
    static imports(module: Module): { module: string; name: string; kind: ExternKind }[];
    static exports(module: Module): { name: string; kind: ExternKind }[];
    static customSections(module: Module, name: string): ArrayBuffer[];
  }
  class Memory {
    constructor(descriptor: { initial: number });
    readonly buffer: ArrayBufferLike;
  }
  class Instance {
    constructor(module: Module, imports?: Record<string, Record<string, unknown>>);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  function validate(bytes: Uint8Array): boolean;
  function compile(bytes: Uint8Array): Promise<Module>;
}
