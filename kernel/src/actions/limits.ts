const MiB = 1048576;

/** What bounds actions; each is refused with LimitExceeded, naming the bound. */
export const actionLimits = {
  /** Content that a preview holds in memory: what is written, edited or overwritten. Bytes. */
  previewFileBytes: 64 * MiB,
  /** New contents of all effects of one action together. Bytes. */
  previewTotalBytes: 256 * MiB,
  /** Content that is kept for an undo. A larger file can be moved, not deleted. Bytes. */
  preimageBytes: 1024 * MiB,
  /** Text whose difference is shown, each side. Bytes. */
  diffTextBytes: 256 * 1024,
  /** Lines that may differ before a diff shows all of both sides instead of searching on. */
  diffEdits: 1000,
  /** Files and folders within a folder that is moved. */
  folderMembers: 10_000,
  /** Actions of one agent that wait for approval. */
  pendingPerAgent: 1000,
  /** Actions that a list returns at most. */
  listed: 1000,
  /** What `content` returns at once. Bytes. */
  contentRangeBytes: MiB,
} as const;
