/** The limits of a module. The error message for a module that exceeds one names the limit. */
export const prepareBounds = {
  /** Bytes of the module on disk. */
  maxModuleBytes: 32 * 1024 * 1024,
  maxTypes: 10_000,
  maxImports: 128,
  maxFunctions: 100_000,
  maxGlobals: 100_000,
  maxTables: 4,
  /**
   * Elements of one table, at the start and after growing. Tables live outside linear memory, so `max_memory_mb`
   * does not bound them.
   */
  maxTableElements: 200_000,
  maxSegments: 100_000,
  /** 32-bit addresses reach 4 GiB. */
  maxMemoryMb: 4096,
} as const;

/** Linear memory is measured in pages of 64 KiB. */
export const pagesPerMegabyte = 16;

/** The limits of preparing one module. */
export const prepareLimits = { timeoutMs: 15_000, heapMb: 512 } as const;
