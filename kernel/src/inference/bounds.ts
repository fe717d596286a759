/** The limits of the kernel and its inference host, and how long they wait. */
export const inferenceBounds = {
  /** Calls at the host at once; one more is refused. */
  maxOpenCalls: 64,
  /** Texts and characters of one call; a single text may be longer. */
  maxTexts: 64,
  maxCharacters: 1024 * 1024,
  /** A longer frame ends the host: a call with one text of the longest kind. */
  maxFrameBytes: 64 * 1024 * 1024,
  /** Models that the host keeps loaded; the one that was not used for longest is released. */
  maxLoadedModels: 4,
  /** Language models that the host keeps loaded, and that may answer at once. */
  maxLanguageModels: 2,
  /** Questions that wait for a language model; one more is refused. */
  maxWaitingRuns: 32,
  /** Events of an answer that are on their way to the kernel and not yet taken. */
  windowEvents: 64,
  /** A run that computed nothing for this long, or takes this long in all, is given up. */
  runIdleMs: 5 * 60_000,
  runTimeoutMs: 30 * 60_000,
  /** A host that has not ended a cancelled run after this long is killed. */
  cancelGraceMs: 30_000,
  /** A model whose loading ended the host is not loaded again before. */
  loadAgainAfterMs: 60_000,
  /** Runs of extensions' models that wait, of all agents and of one; one more is refused. */
  maxWaitingTensorRuns: 32,
  maxTensorRunsPerAgent: 4,
  /** Bytes of the model files that the host of extensions' models keeps loaded; those that were not used for longest go. */
  maxLoadedTensorBytes: 1024 * 1024 * 1024,
  /** A host whose memory is larger than this during a run is ended; looked at this often. */
  maxTensorHostBytes: 4 * 1024 * 1024 * 1024,
  memoryCheckMs: 50,
  /** A model that is not loaded, or whose run is not done, after this long ends the host. */
  tensorLoadTimeoutMs: 120_000,
  tensorRunTimeoutMs: 60_000,
  /** The host's JavaScript heap; models are outside it. */
  maxHeapMb: 512,
  /** Files that the host may read at once besides the kernel's code. */
  maxReadableFiles: 256,
  /** Files of one model. */
  maxModelFiles: 64,
  /** A host without a call for this long is ended, which frees what its models took. */
  idleMs: 5 * 60_000,
  /** The delay before a host that died is restarted; it doubles from the first value to the last. */
  firstRestartDelayMs: 50,
  maxRestartDelayMs: 1000,
  stableAfterMs: 10_000,
} as const;
