const MiB = 1024 * 1024;

/** The limits of making thumbnails. */
export const thumbnailBounds = {
  /** The file, bytes. */
  maxFileBytes: 64 * MiB,
  /** The picture, pixels. */
  maxPixels: 100_000_000,
  /** CPU time of the process for one picture, milliseconds: a photo takes 50, a PNG of the largest kind a few seconds. */
  maxCpuMs: 15_000,
  /** Elapsed time for one picture, milliseconds: the process may wait for a processor. */
  maxWallMs: 120_000,
  /** Thumbnails that an agent waits for, with the one that is being made; one more is refused. */
  maxOpenPerAgent: 64,
  /** Agents whose thumbnail is being made or is next; one more is refused. */
  maxOpen: 64,
  /** The process's JavaScript heap; pictures are outside it, in at most 2 GiB of WebAssembly's memory. */
  maxHeapMb: 128,
  /** A longer message ends the process, or the kernel's side of it. */
  maxFrameBytes: 64 * MiB + 64 * 1024,
  /** A process without a picture for this long is ended. */
  idleMs: 60_000,
} as const;
