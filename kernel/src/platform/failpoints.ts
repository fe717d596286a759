/**
 * Every place where a test may let the process die. Named `room.operation.moment`; add yours here, so that
 * a test can visit each.
 */
export const failpointNames = [
  // A group of batches on its way into SQLite.
  "database.group.begun",
  "database.group.executed",
  "database.group.committed",
  "database.group.answered",
  // Bringing a database up to date.
  "database.migration.executed",
  "database.migration.committed",
  // A file that is replaced as a whole.
  "atomic-file.created",
  "atomic-file.written",
  "atomic-file.synced",
  "atomic-file.renamed",
  "atomic-file.folder-synced",
  // A file that a person named, and a folder that is replaced as a whole.
  "chosen-file.created",
  "chosen-file.synced",
  "chosen-file.named",
  "folder.place.cleared",
  "folder.place.renamed",
  // A memory that comes from a file.
  "import.extracted",
  "import.proven",
  "import.placed",
  "import.anchored",
  // A memory's journal.
  "journal.segment.created",
  "journal.write.begun",
  "journal.write.done",
  "journal.synced",
  "journal.anchored",
  // Taking records' data away: named in the journal, then written anew without it.
  "journal.redaction.begun",
  "journal.redaction.appended",
  "journal.redaction.synced",
  "journal.redaction.copied",
  "journal.redaction.copy-synced",
  "journal.redaction.renamed",
  "journal.redaction.folder-synced",
  "journal.redaction.anchored",
  // Working memory, on the way to the guest's answer, and its checkpoint.
  "working.swap.appended",
  "working.checkpoint.begun",
  "working.checkpoint.done",
  "memory.sync.done",
  // The store host: opening and removing what was projected, projecting, closing.
  "store.discard.begun",
  "store.discard.done",
  "store.open.marked",
  "store.open.done",
  "store.tables.begun",
  "store.tables.applied",
  "store.tables.committed",
  "store.tables.closed",
  "store.text.begun",
  "store.text.committed",
  "store.text.closed",
  // Taking what was forgotten out of its files.
  "store.vectors.forgotten",
  "store.purge.begun",
  "store.purge.written",
  "store.purge.renamed",
  // What the index found, with what delivers it.
  "index.store.begun",
  "index.store.committed",
  "index.store.announced",
  // Deliveries: stored, about to go to the guest, answered by it, done with.
  "inbox.enqueue.begun",
  "inbox.enqueue.committed",
  "inbox.next.found",
  "inbox.acknowledge.called",
  "inbox.acknowledge.noted",
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
  "objects.sweep.found",
  "objects.sweep.removed",
  // A decision about an action, stored and not yet answered.
  "approvals.proposal-stored",
  "approvals.approved",
  "approvals.committed",
  "approvals.rejected",
  "approvals.undone",
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
  // A new content beside its target.
  "staging.file.created",
  "staging.file.written",
  "staging.file.synced",
  // What a person decided about documents and rules.
  "decisions.write.begun",
  "decisions.write.done",
  "decisions.set-aside.begun",
  "decisions.set-aside.renamed",
  // The log of traces.
  "traces.append.begun",
  "traces.append.done",
  "traces.rotate.closed",
  "traces.rotate.renamed",
  "traces.rotate.opened",
  "traces.expire.removed",
  // Prepared modules.
  "cache.write.begun",
  "cache.write.written",
  "cache.write.renamed",
  "cache.drop.removed",
  // One kernel, and how its clients find it.
  "lock.taken",
  "lock.noted",
  "lock.note-removed",
  "lock.released",
  "socket.token-written",
  "socket.cleared",
  "socket.listening",
  "socket.ready",
] as const;

export type FailpointName = (typeof failpointNames)[number];
