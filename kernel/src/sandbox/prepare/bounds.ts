/** What a module may be at most; a module over one of these is refused with the bound's name in the sentence. */
export const prepareBounds = {
  /** Bytes of the module as it is on disk. */
  maxModuleBytes: 32 * 1024 * 1024,
  maxTypes: 10_000,
  maxImports: 128,
  maxFunctions: 100_000,
  maxGlobals: 100_000,
  maxTables: 4,
  /** Elements of one table, at the start and grown: tables live outside linear memory, so `max_memory_mb` does not bound them. */
  maxTableElements: 200_000,
  maxSegments: 100_000,
  /** 4 GiB is all that 32-bit addresses reach. */
  maxMemoryMb: 4096,
} as const;

/** Linear memory is counted in pages of 64 KiB. */
export const pagesPerMegabyte = 16;

/** What preparing one module may take. */
export const prepareLimits = { timeoutMs: 15_000, heapMb: 512 } as const;
