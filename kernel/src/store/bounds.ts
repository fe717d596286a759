/** What the kernel and its store host may take at most, and how long they wait. */
export const storeBounds = {
  /** Requests at the host at once; the others wait in the kernel. */
  maxOpenRequests: 256,
  /** Requests of one memory that wait in the kernel; one more is refused (Busy). */
  maxWaitingPerMemory: 256,
  /** A request during which the host ended so often is not tried again. */
  maxDeathsPerRequest: 2,
  /** Such a request is asked again alone; when it has not killed the host in this time, new ones go beside it. */
  aloneMs: 500,
  /** Waiting before a host that died is started again: doubled from the first to the last. */
  firstRestartDelayMs: 50,
  maxRestartDelayMs: 1000,
  /** A host that lived this long resets the doubling. */
  stableAfterMs: 10_000,
  /** Hosts in a row that could not be started, before what waits is refused. */
  maxFailedStarts: 3,
  /** A host that is told to end closes its files in this time, or is killed. */
  endTimeoutMs: 20_000,
  /** A new host waits so long for the one before it, whose kernel may just have died. */
  lockTimeoutMs: 10_000,
  lockIntervalMs: 25,
  /** That journals have grown is told at most so often. */
  grownIntervalMs: 50,
  /** What a vector library may keep of the host's memory for nothing, before another host takes over. */
  maxLeakedBytes: 256 * 1024 * 1024,
  /** Requests at such a host have so long to be answered; then the next one is asked. */
  leavingTimeoutMs: 2000,
  /** Paths outside the state folder that the host may read at once: journals of others. */
  maxForeignPaths: 256,
  /** Memories the host keeps open at once: DuckDB attaches no more. */
  maxOpenMemories: 32,
  /** An answer as JSON; a larger one is refused (LimitExceeded). */
  maxAnswerCharacters: 64 * 1024 * 1024,
  /** One frame between kernel and host: an answer of that many characters, in UTF-8, and some words. */
  maxFrameBytes: 4 * 64 * 1024 * 1024,
} as const;

/** How projections follow a journal. */
export const projectionBounds = {
  /** Records and bytes of journal in one transaction. While it is put in, all other memories wait. */
  maxBatchRecords: 5000,
  maxBatchBytes: 8 * 1024 * 1024,
  /** What takes longer than this is told, again and again. */
  progressAfterMs: 1000,
  progressIntervalMs: 500,
  /** How much of a journal is read at once. */
  pieceBytes: 1024 * 1024,
} as const;
