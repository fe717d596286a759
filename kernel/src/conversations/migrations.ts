import type { Migration } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";

export const conversationMigrations: readonly Migration[] = [
  {
    // `record` is the state after the last entry; `is_busy`: a process is at work. The head is stored apart from the log.
    name: "conversations-1",
    sql: `CREATE TABLE conversations (
            id TEXT PRIMARY KEY,
            agent TEXT NOT NULL,
            state TEXT NOT NULL,
            updated TEXT NOT NULL,
            is_busy INTEGER NOT NULL,
            record TEXT NOT NULL,
            forked_from TEXT
          ) STRICT, WITHOUT ROWID;
          CREATE INDEX conversations_by_time ON conversations (updated DESC, id DESC);
          CREATE INDEX conversations_by_origin ON conversations (forked_from) WHERE forked_from IS NOT NULL;
          CREATE TABLE conversation_heads (
            conversation TEXT PRIMARY KEY,
            seq INTEGER NOT NULL,
            hash TEXT NOT NULL,
            size INTEGER NOT NULL,
            carried_out INTEGER NOT NULL,
            checkpoint TEXT
          ) STRICT, WITHOUT ROWID;
          CREATE TABLE conversation_entries (
            rowid INTEGER PRIMARY KEY,
            conversation TEXT NOT NULL,
            seq INTEGER NOT NULL,
            id TEXT NOT NULL,
            kind TEXT NOT NULL,
            process TEXT NOT NULL,
            audience TEXT NOT NULL,
            data TEXT NOT NULL
          ) STRICT;
          CREATE UNIQUE INDEX conversation_entries_by_seq ON conversation_entries (conversation, seq);
          CREATE INDEX conversation_entries_by_audience ON conversation_entries (conversation, audience, seq);
          CREATE INDEX conversation_entries_by_id ON conversation_entries (conversation, id);
          CREATE TABLE conversation_taints (
            path TEXT NOT NULL,
            hash TEXT NOT NULL,
            sources TEXT NOT NULL,
            added INTEGER PRIMARY KEY,
            UNIQUE (path, hash)
          ) STRICT;
          CREATE INDEX conversation_taints_by_hash ON conversation_taints (hash);
          CREATE VIRTUAL TABLE conversation_texts USING fts5 (text, content = '', contentless_delete = 1)`,
  },
  {
    // Which conversation a file shows. `record` is a ChatBinding.
    name: "conversations-2-files",
    sql: `CREATE TABLE conversation_files (
            path TEXT PRIMARY KEY,
            updated TEXT NOT NULL,
            record TEXT NOT NULL
          ) STRICT, WITHOUT ROWID;
          CREATE INDEX conversation_files_by_time ON conversation_files (updated DESC, path)`,
  },
  {
    // Words are found in their other forms too. The texts are those of `searchedText`.
    name: "conversations-3-stems",
    sql: `DROP TABLE conversation_texts;
          CREATE VIRTUAL TABLE conversation_texts USING
            fts5 (text, content = '', contentless_delete = 1, tokenize = 'porter unicode61');
          INSERT INTO conversation_texts (rowid, text)
            SELECT rowid, substr(text, 1, 262144) FROM (
              SELECT rowid, CASE kind
                WHEN 'message' THEN (
                  SELECT group_concat(ifnull(p.value ->> 'text', p.value ->> 'path'), char(10))
                    FROM json_each(data, '$.parts') p WHERE p.value ->> 'type' IN ('text', 'file'))
                WHEN 'tool_result' THEN (
                  SELECT group_concat(v.atom, char(10)) FROM json_tree(data, '$.result.value') v WHERE v.type = 'text')
                ELSE data ->> 'text' END AS text
                FROM conversation_entries
                WHERE kind IN ('message', 'conclusion', 'summary', 'tool_result') AND data ->> 'partial' IS NULL
                  AND (kind <> 'tool_result' OR data ->> '$.result.status' = 'success'))
            WHERE text <> ''`,
  },
  {
    // `action`: the action of a mark that goes if the action is not made; of a place, "" once it is. `path` of a place is
    // folded, and `origin` is "" where the place counts whatever was moved there.
    name: "conversations-4-places",
    sql: `CREATE TABLE conversation_proposed_taints (
            action TEXT NOT NULL,
            path TEXT NOT NULL,
            hash TEXT NOT NULL,
            sources TEXT NOT NULL,
            PRIMARY KEY (action, path, hash)
          ) STRICT, WITHOUT ROWID;
          CREATE INDEX conversation_proposed_taints_by_hash ON conversation_proposed_taints (hash);
          CREATE INDEX conversation_proposed_taints_by_path ON conversation_proposed_taints (path);
          CREATE TABLE conversation_places (
            path TEXT NOT NULL,
            origin TEXT NOT NULL,
            action TEXT NOT NULL,
            sources TEXT NOT NULL,
            added INTEGER PRIMARY KEY,
            UNIQUE (path, origin, action)
          ) STRICT;
          CREATE INDEX conversation_places_by_action ON conversation_places (action)`,
  },
];

/** `Redactions` removes texts from all of them, together with the logs that they are made of. */
export const conversationTexts: readonly TextColumns[] = [
  {
    table: "conversations",
    key: ["id"],
    columns: {
      id: "none",
      agent: "none",
      state: "none",
      updated: "none",
      record: "own",
      forked_from: "none",
    },
  },
  {
    table: "conversation_heads",
    key: ["conversation"],
    columns: { conversation: "none", hash: "none", checkpoint: "own" },
  },
  {
    table: "conversation_entries",
    key: ["rowid"],
    columns: {
      conversation: "none",
      id: "none",
      kind: "none",
      process: "none",
      audience: "none",
      data: "own",
    },
  },
  {
    table: "conversation_taints",
    key: ["path", "hash"],
    columns: { path: "none", hash: "none", sources: "none" },
  },
  {
    table: "conversation_proposed_taints",
    key: ["action", "path", "hash"],
    columns: { action: "none", path: "none", hash: "none", sources: "none" },
  },
  {
    table: "conversation_places",
    key: ["added"],
    columns: { path: "none", origin: "none", action: "none", sources: "none" },
  },
  { table: "conversation_texts", key: ["rowid"], columns: { text: "own" } },
  { table: "conversation_files", key: ["path"], columns: { path: "none", updated: "none", record: "own" } },
];
