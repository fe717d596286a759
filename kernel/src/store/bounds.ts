/** Limits of the kernel's store client and of the store host: sizes, counts and delays. */
export const storeBounds = {
  /** Maximum requests in flight at the host; further ones wait in the kernel. */
  maxOpenRequests: 256,
  /** Maximum requests that wait for one memory in the kernel; the next one is refused (Busy). */
  maxWaitingPerMemory: 256,
  /** After this many hosts have died during a request, it is not retried. */
  maxDeathsPerRequest: 2,
  /**
   * A request during which a host died is retried alone. After this time, new requests are sent beside it.
   */
  aloneMs: 500,
  /**
   * Delay before a host that died is started again; doubled with each death, from the first value to the
   * last.
   */
  firstRestartDelayMs: 50,
  maxRestartDelayMs: 1000,
  /** A host that ran this long resets the delay. */
  stableAfterMs: 10_000,
  /** After this many failed starts in a row, waiting requests are rejected. */
  maxFailedStarts: 3,
  /** Time for a host to close its files before it is killed. */
  endTimeoutMs: 20_000,
  /** How long a new host waits for the previous one to release the lock; its kernel may just have died. */
  lockTimeoutMs: 10_000,
  lockIntervalMs: 25,
  /** Minimum interval between two hints that journals have grown. */
  grownIntervalMs: 50,
  /** Memory that a vector library may leak in the host before another host takes over. */
  maxLeakedBytes: 256 * 1024 * 1024,
  /** Time in which such a host may answer its open requests; after it, they are sent to the next host. */
  leavingTimeoutMs: 2000,
  /** Maximum paths outside the state folder (other workspaces' journals) that the host may read at once. */
  maxForeignPaths: 256,
  /** Maximum memories that the host keeps open at once: DuckDB attaches no more. */
  maxOpenMemories: 32,
  /** Maximum characters of an answer as JSON; a larger one is refused (LimitExceeded). */
  maxAnswerCharacters: 64 * 1024 * 1024,
  /**
   * Maximum size of one frame between kernel and host: an answer of maximum length in UTF-8, and its
   * envelope.
   */
  maxFrameBytes: 4 * 64 * 1024 * 1024,
} as const;

/** Limits for projections that follow a journal. */
export const projectionBounds = {
  /** Maximum records and journal bytes in one transaction. During a transaction, all other memories wait. */
  maxBatchRecords: 5000,
  maxBatchBytes: 8 * 1024 * 1024,
  /** Progress is logged for work that takes longer than this, repeatedly. */
  progressAfterMs: 1000,
  progressIntervalMs: 500,
  /** Bytes of a journal that are read at once. */
  pieceBytes: 1024 * 1024,
} as const;
