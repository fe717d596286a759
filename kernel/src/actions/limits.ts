const MiB = 1048576;

/** What bounds actions; each is refused with LimitExceeded, naming the bound. */
export const actionLimits = {
  /** Content that a preview holds in memory: what is written, edited or overwritten. Bytes. */
  previewFileBytes: 64 * MiB,
  /** New contents of all effects of one action together. Bytes. */
  previewTotalBytes: 256 * MiB,
  /** Content that is compared, and kept for an undo. A larger file is told by inode, size and time: it can be moved, not deleted. Bytes. */
  preimageBytes: 1024 * MiB,
  /** Text whose difference is shown, each side. Bytes. */
  diffTextBytes: 256 * 1024,
  /** Text that the edits of one effect search, all of them together. Bytes. */
  editedBytes: 1024 * MiB,
  /** CPU time of one piece of planning: a content that is changed, a folder that is listed. Milliseconds. */
  workCpuMs: 5000,
  /** How long the file system may take for one. Milliseconds. */
  workWallMs: 60_000,
  /** JavaScript heap of the thread that does it; contents lie outside of it. Megabytes. */
  workHeapMb: 512,
  /** What is hashed of a large file before others have their turn. Bytes. */
  hashedPerRequestBytes: 64 * MiB,
  /** Proposals and previews of one agent that are planned or wait for it. */
  plansPerAgent: 64,
  /** How long planning holds the kernel's loop before everything else has a turn. Milliseconds. */
  planSliceMs: 5,
  /** Changed paths that are remembered while one proposal is planned; beyond, all that it begins from is looked at. */
  heardWhilePlanned: 1000,
  /** Characters of JSON in the paths that the end of an action tells its agent; further paths are left out. */
  endedPathsCharacters: 64 * 1024,
  /** Bytes of JSON in what an agent is answered about one action: diffs that are too much are left out. */
  toldBytes: 768 * 1024,
  /** Ends that are told to agents at a time. */
  endsAtOnce: 100,
  /** Lines that may differ before a diff is no longer searched for the smallest. */
  diffEdits: 1000,
  /** Files and folders within a folder that is moved. */
  folderMembers: 10_000,
  /** Diffs of all effects of one action together; effects beyond have none. Bytes. */
  diffTotalBytes: 4 * MiB,
  /**
   * The same for effects whose target the agent cannot see, and what such an action counts as among those that wait:
   * their real sizes would tell of the target. Bytes.
   */
  unseenDiffBytes: 256 * 1024,
  unseenActionBytes: MiB,
  /**
   * CPU time of planning what the agent cannot see: what it pays for each such effect, whatever there is to do, and
   * what may be used for those of one plan together. Milliseconds.
   */
  unseenEffectCpuMs: 20,
  unseenPlanCpuMs: 5000,
  /** JSON of a field or sidecar that is kept in the ledger itself; a longer one is an object. Bytes. */
  metadataInlineBytes: 4096,
  /** Actions of one agent that wait for approval, and what is kept for them. */
  pendingPerAgent: 1000,
  pendingBytesPerAgent: 64 * MiB,
  /** An ended action can be undone and its contents be read for so long. Milliseconds. */
  contentsKeptMs: 30 * 86_400_000,
  /**
   * What is kept for the ended actions of one agent, those that policy decided and those that a person did:
   * beyond, the oldest lose their contents and can no longer be undone. The newest keeps them in any case.
   */
  keptBytesPerAgent: 256 * MiB,
  keptApprovedBytesPerAgent: 4096 * MiB,
  /** Ended actions of one agent that are kept as a record, without contents: how many, and bytes. */
  recordsPerAgent: 10_000,
  recordBytesPerAgent: 64 * MiB,
  /** The bounds on what is kept are looked at again after so much more. */
  sweepAfterBytes: 16 * MiB,
  sweepAfterActions: 1000,
  /** Actions that a list returns at most, and what they take together: a client's list never holds the loop up. Bytes. */
  listed: 1000,
  listedBytes: 2 * MiB,
  /** What `content` returns at once. Bytes. */
  contentRangeBytes: MiB,
} as const;
