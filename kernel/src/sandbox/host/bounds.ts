/** The limits of the sandbox host and its guests. */
export const hostBounds = {
  /** Bytes of one line of a guest's stdout; a longer line terminates the guest. */
  maxLineBytes: 1024 * 1024,
  /** Bytes of stdout in flight from a guest to the kernel; the guest's write blocks until there is room. */
  stdoutWindowBytes: 1024 * 1024,
  /** Bytes of shared memory for each of a guest's two pipes within the host; a power of two. */
  pipeBytes: 128 * 1024,
  /** Bytes of unread input; more terminate the guest. A guest can have requested at most 64 answers of 1 MiB. */
  maxUnreadBytes: 80 * 1024 * 1024,
  /** Bytes of input that a guest must have read before the host reports it again. */
  takenStepBytes: 64 * 1024,
  /** Bytes of stderr per second that reach the trace; the rest is only counted. */
  maxStderrBytesPerSecond: 64 * 1024,
  /** Bytes of stderr per second that are read; a guest that prints more blocks. */
  maxStderrReadBytesPerSecond: 4 * 1024 * 1024,
  /** Bytes of one line of stderr; longer lines are cut. */
  maxStderrLineBytes: 8 * 1024,
  /** How often the usage of an active guest is sampled. */
  usageIntervalMs: 25,
  /** CPU time of one turn, after which the priority of the guest's thread is lowered for the rest of its life. */
  longTurnMs: 100,
  /**
   * The niceness of such a thread. With 5, it gets a third of the CPU beside a normal thread. A higher value would
   * also delay its termination on a busy machine, because a thread must run to be terminated.
   */
  longTurnNiceness: 5,
  /** Time from the request to start a guest to the guest's first instruction. */
  startTimeoutMs: 20_000,
  /** Time without a start and without a computing guest, after which the next spare worker is started. */
  spareDelayMs: 100,
  /** Time after the last start at which the spare worker is started in any case. */
  maxSpareDelayMs: 1000,
  /** The number of spare workers where there are as many processors; each takes some 10 MB. */
  maxSpares: 4,
  /** How long a spare worker has to be of no use before one fewer is kept. */
  spareReviewMs: 60_000,
  /** Bytes of one frame between kernel and host; it must hold a module and a control message. */
  maxFrameBytes: 48 * 1024 * 1024,
  /** The number of compiled programs that the host keeps. */
  maxPrograms: 16,
  /** The delay before a host that died is restarted; it doubles from the first value to the last. */
  firstRestartDelayMs: 50,
  maxRestartDelayMs: 10_000,
  /** A host that lived this long resets the restart delay. */
  stableAfterMs: 60_000,
} as const;
