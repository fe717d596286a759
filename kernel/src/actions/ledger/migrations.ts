import type { Migration } from "../../platform/database/database.ts";

export const actionsMigrations: readonly Migration[] = [
  {
    name: "actions-1",
    sql: `
      CREATE TABLE actions (
        id TEXT PRIMARY KEY,
        agent TEXT NOT NULL,
        state TEXT NOT NULL,
        created INTEGER NOT NULL,
        decided INTEGER,
        decided_by TEXT,
        counted_impact REAL NOT NULL DEFAULT 0,
        error TEXT,
        receipt TEXT,
        body TEXT NOT NULL,
        diffs TEXT NOT NULL,
        inverse TEXT
      ) STRICT;
      CREATE INDEX actions_by_state ON actions (state, id);
      CREATE INDEX actions_by_agent ON actions (agent, id);
      CREATE INDEX actions_by_decision ON actions (decided) WHERE counted_impact > 0;
      CREATE TABLE action_journal (
        action TEXT PRIMARY KEY REFERENCES actions (id),
        direction TEXT NOT NULL,
        phase TEXT NOT NULL,
        plan TEXT NOT NULL,
        identities TEXT NOT NULL
      ) STRICT;
    `,
  },
  {
    name: "actions-2-retention",
    sql: `
      ALTER TABLE actions ADD COLUMN ended INTEGER;
      -- 0: what an undo needs was dropped, and the action is kept as a record.
      ALTER TABLE actions ADD COLUMN contents_kept INTEGER NOT NULL DEFAULT 1;
      UPDATE actions SET ended = coalesce(decided, created)
        WHERE state IN ('Committed', 'Rejected', 'Failed', 'Stale', 'Expired', 'Undone');
      CREATE INDEX actions_by_end ON actions (agent, ended) WHERE ended IS NOT NULL;
      CREATE TABLE action_objects (
        action TEXT NOT NULL, hash TEXT NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (action, hash)
      ) STRICT, WITHOUT ROWID;
      INSERT OR IGNORE INTO action_objects
        SELECT actions.id, operation.value ->> 'after', 0
        FROM actions, json_each(actions.body, '$.operations') AS operation
        WHERE operation.value ->> 'do' = 'put' AND state IN ('PendingApproval', 'Approved', 'Committing', 'Committed');
      INSERT OR IGNORE INTO action_objects
        SELECT actions.id, operation.value ->> 'after', 0
        FROM actions, json_each(actions.inverse) AS operation
        WHERE operation.value ->> 'do' = 'put' AND state = 'Committed' AND inverse IS NOT NULL;
    `,
  },
  {
    name: "actions-3-superseding",
    sql: `
      ALTER TABLE actions ADD COLUMN proposal_key TEXT;
      -- What it would change, by which a newer proposal of the same agent finds it.
      ALTER TABLE actions ADD COLUMN targets TEXT;
      ALTER TABLE actions ADD COLUMN superseded_by TEXT;
      ALTER TABLE actions ADD COLUMN rejected_reason TEXT;
      CREATE UNIQUE INDEX actions_by_key ON actions (agent, proposal_key) WHERE proposal_key IS NOT NULL;
      CREATE INDEX actions_by_targets ON actions (agent, targets)
        WHERE targets IS NOT NULL AND superseded_by IS NULL;
      -- Ends that the agents were not told yet.
      CREATE TABLE action_ends (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, action TEXT NOT NULL, state TEXT NOT NULL
      ) STRICT;
    `,
  },
  {
    name: "actions-4-persons",
    sql: `
      ALTER TABLE actions ADD COLUMN undone_by TEXT;
      ALTER TABLE actions ADD COLUMN rebased_by TEXT;
    `,
  },
];
