const MiB = 1048576;

/** The bounds on actions. Exceeding one is refused with LimitExceeded, which names the bound. */
export const actionLimits = {
  /** Content that a preview holds in memory: written, edited or overwritten. Bytes. */
  previewFileBytes: 64 * MiB,
  /** New contents of all effects of one action in total. Bytes. */
  previewTotalBytes: 256 * MiB,
  /**
   * Content that is compared, and stored for an undo. A larger file is identified by inode, size and time; it can be
   * moved, but not deleted. Bytes.
   */
  preimageBytes: 1024 * MiB,
  /** Text whose diff is shown, each side. Bytes. */
  diffTextBytes: 256 * 1024,
  /** Text that all edits of one effect search, in total. Bytes. */
  editedBytes: 1024 * MiB,
  /** CPU time of one planning request: a content that is changed, a folder that is listed. Milliseconds. */
  workCpuMs: 5000,
  /** Wall-clock time of one such request. Milliseconds. */
  workWallMs: 60_000,
  /** JavaScript heap of the thread that runs it; contents lie outside the heap. Megabytes. */
  workHeapMb: 512,
  /** How much of a large file is hashed before other requests get a turn. Bytes. */
  hashedPerRequestBytes: 64 * MiB,
  /** Proposals and previews of one agent that are being planned or wait for it. */
  plansPerAgent: 64,
  /** How long planning holds the kernel's event loop before everything else gets a turn. Milliseconds. */
  planSliceMs: 5,
  /** Changed paths that are remembered while one proposal is planned; beyond that, all of its bases are compared. */
  changesWhilePlanned: 1000,
  /** The paths in the event for an ended action, in characters of JSON; further paths are left out. */
  endedPathsCharacters: 64 * 1024,
  /** The answer to an agent about one action, in bytes of JSON; diffs beyond it are left out. */
  toldBytes: 768 * 1024,
  /** Ends of actions that are delivered to agents at a time. */
  endsAtOnce: 100,
  /** Differing lines, beyond which the search for the smallest diff stops. */
  diffEdits: 1000,
  /** Files and folders in a folder that is moved. */
  folderMembers: 10_000,
  /** Diffs of all effects of one action in total; further effects have none. Bytes. */
  diffTotalBytes: 4 * MiB,
  /**
   * The same for effects whose target the agent cannot see, and the size at which such an action counts while it waits:
   * the real sizes would reveal something about the target. Bytes.
   */
  unseenDiffBytes: 256 * 1024,
  unseenActionBytes: MiB,
  /**
   * CPU time for planning what the agent cannot see: the fixed charge for each such effect, and the allowance for all
   * of them in one plan. Milliseconds.
   */
  unseenEffectCpuMs: 20,
  unseenPlanCpuMs: 5000,
  /**
   * CPU time for work on an agent's actions after its call was answered: how much may be owed, and how long that takes
   * to drain. Beyond it, waiting actions are compared later and new proposals are refused. Milliseconds.
   */
  laterCpuMs: 30_000,
  laterCpuWindowMs: 600_000,
  /** JSON of a field or sidecar that is stored in the ledger itself; a longer one becomes an object. Bytes. */
  metadataInlineBytes: 4096,
  /** Actions of one agent that wait for approval, and their total size. */
  pendingPerAgent: 1000,
  pendingBytesPerAgent: 64 * MiB,
  /** How long an ended action can be undone and its contents be read. Milliseconds. */
  contentsKeptMs: 30 * 86_400_000,
  /**
   * What is kept for the ended actions of one agent: those that policy decided, and those that a person approved.
   * Beyond it, the oldest lose their contents and can no longer be undone; the newest always keeps them.
   */
  keptBytesPerAgent: 256 * MiB,
  keptApprovedBytesPerAgent: 4096 * MiB,
  /** Ended actions of one agent that are kept without contents: number and bytes. */
  recordsPerAgent: 10_000,
  recordBytesPerAgent: 64 * MiB,
  /** The growth after which the bounds on stored actions are enforced again. */
  sweepAfterBytes: 16 * MiB,
  sweepAfterActions: 1000,
  /**
   * The number of actions that a list returns, and their total size, so that a list never blocks the event loop. Bytes.
   */
  listed: 1000,
  listedBytes: 2 * MiB,
  /** What `content` returns at once. Bytes. */
  contentRangeBytes: MiB,
} as const;
