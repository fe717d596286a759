/**
 * Every place where a test may let the process die. Named `room.operation.moment`; add yours here, so that
 * a test can visit each.
 */
export const failpointNames = [
  // A group of batches on its way into SQLite.
  "database.group.begun",
  "database.group.executed",
  "database.group.committed",
  // A file that is replaced as a whole.
  "atomic-file.created",
  "atomic-file.written",
  "atomic-file.synced",
  "atomic-file.renamed",
  "atomic-file.folder-synced",
  // A memory's journal.
  "journal.segment.created",
  "journal.write.begun",
  "journal.write.done",
  "journal.synced",
  "journal.anchored",
  // An inbox's own writes.
  "inbox.enqueue.begun",
  "inbox.enqueue.committed",
  "inbox.acknowledge.begun",
  "inbox.acknowledge.committed",
  "inbox.retry.begun",
  "inbox.retry.committed",
  "inbox.bury.begun",
  "inbox.bury.committed",
  // A content on its way into the object store.
  "objects.put.created",
  "objects.put.written",
  "objects.put.synced",
  "objects.put.renamed",
  "objects.put.folder-synced",
  // An action on its way into the workspace, or out of it again; each step is passed before and after.
  "actions.before-journal",
  "actions.after-journal",
  "actions.before-stage",
  "actions.after-stage",
  "actions.before-step",
  "actions.within-step",
  "actions.after-step",
  "actions.before-sync",
  "actions.after-sync",
  "actions.before-record",
  "actions.after-record",
  "actions.before-discard",
  "actions.after-discard",
  "actions.before-forget",
  "actions.after-forget",
  // Bringing the workspace back after any of these.
  "actions.before-revert",
  "actions.after-revert",
] as const;

export type FailpointName = (typeof failpointNames)[number];
