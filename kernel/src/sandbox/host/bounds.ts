/** What the sandbox host and its guests may take at most. */
export const hostBounds = {
  /** Bytes of one line a guest writes; a longer one ends it. */
  maxLineBytes: 1024 * 1024,
  /** Bytes of stdout on their way from a guest to the kernel; a guest that is ahead of it waits in its write. */
  stdoutWindowBytes: 1024 * 1024,
  /** Shared memory of each of a guest's two pipes within the host; a power of two. */
  pipeBytes: 128 * 1024,
  /** A guest that leaves more than this unread is ended: 64 answers of 1 MiB are the most it can have asked for. */
  maxUnreadBytes: 80 * 1024 * 1024,
  /** What a guest has taken of its input is told in steps of at least this size. */
  takenStepBytes: 64 * 1024,
  /** Bytes of stderr that reach the trace in a second; the rest is counted. */
  maxStderrBytesPerSecond: 64 * 1024,
  /** Bytes of stderr that are read in a second at all; a guest that prints more waits. */
  maxStderrReadBytesPerSecond: 4 * 1024 * 1024,
  /** A line of stderr is cut here. */
  maxStderrLineBytes: 8 * 1024,
  /** How often usage is looked at while a guest does something. */
  usageIntervalMs: 25,
  /** CPU time of one turn, after which a guest's thread yields to everything else for as long as it lives. */
  longTurnMs: 100,
  /**
   * How far such a thread steps back: 5 steps of niceness leave it a third beside another. Further back it is ended
   * later too, on a machine that is busy with other things: a thread has to run to be ended.
   */
  longTurnNiceness: 5,
  /** From a start's request to the guest's first instruction. */
  startTimeoutMs: 20_000,
  /** The next spare worker is begun when no guest was started and none computed for this long. */
  spareDelayMs: 100,
  /** But at the latest so long after the last start. */
  maxSpareDelayMs: 1000,
  /** One frame between kernel and host: a module and some words. */
  maxFrameBytes: 48 * 1024 * 1024,
  /** Programs the host keeps compiled. */
  maxPrograms: 16,
  /** Waiting before a host that died is started again: doubled from the first to the last. */
  firstRestartDelayMs: 50,
  maxRestartDelayMs: 10_000,
  /** A host that lived this long starts the doubling anew. */
  stableAfterMs: 60_000,
} as const;
