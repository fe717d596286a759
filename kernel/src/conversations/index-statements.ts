import { waitsForFollowUp } from "../base/vocabulary/conversation.ts";
import type { Statement } from "../platform/database/database.ts";
import { type ConversationRow, type EntryQuery, type IndexedRecord, isBusy } from "./indexed.ts";

/** Removes the texts of records from the search. */
export function textRemoval(where: string, ...params: readonly (string | number)[]): Statement {
  return {
    sql: `DELETE FROM conversation_texts WHERE rowid IN (SELECT rowid FROM conversation_entries WHERE ${where})`,
    params: [...params],
  };
}

/** Stores the state that follows from a conversation's entries. */
export function rowStatement(row: ConversationRow): Statement {
  const { id, agent, forkedFrom, state } = row;
  return {
    sql: `INSERT INTO conversations (id, agent, state, updated, is_busy, record, forked_from) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET state = iif(state = 'deleted', state, excluded.state), updated = excluded.updated,
              is_busy = excluded.is_busy, record = excluded.record`,
    params: [
      id,
      agent,
      state.state,
      state.updated,
      // An action that waits for the person may have been decided before the next kernel starts, and a worker's time may be over.
      isBusy(row) || state.references.length > 0 || state.processes.some(waitsForFollowUp) ? 1 : 0,
      JSON.stringify(state),
      forkedFrom === null ? null : JSON.stringify(forkedFrom),
    ],
  };
}

/** Stores a record for pages and searches. */
export function insertions(
  conversation: string,
  { seq, id, kind, process, audience, data, text, isReplacing }: IndexedRecord,
): Statement[] {
  const statements: Statement[] = [
    ...(isReplacing === true ? [textRemoval("conversation = ? AND seq = ?", conversation, seq)] : []),
    {
      sql: `INSERT INTO conversation_entries (conversation, seq, id, kind, process, audience, data) VALUES (?, ?, ?, ?, ?, ?, ?)
              ${isReplacing === true ? "ON CONFLICT (conversation, seq) DO UPDATE SET data = excluded.data" : ""}`,
      params: [conversation, seq, id, kind, process, audience, data],
    },
  ];
  if (text !== "")
    statements.push({
      sql: `INSERT INTO conversation_texts (rowid, text)
              SELECT rowid, ? FROM conversation_entries WHERE conversation = ? AND seq = ?`,
      params: [text, conversation, seq],
    });
  return statements;
}

/** Returns the condition of a query, and its parameters. */
export function conditions(
  conversation: string,
  { after, through, process, audience, kinds }: Omit<EntryQuery, "limit">,
): { readonly where: string; readonly params: (string | number)[] } {
  const params: (string | number)[] = [conversation];
  const parts = ["conversation = ?", "kind <> 'prefix'"];
  const add = (sql: string, value: string | number | undefined): void => {
    if (value === undefined) return;
    parts.push(sql);
    params.push(value);
  };
  add("seq > ?", after);
  add("seq <= ?", through);
  add("process = ?", process);
  add("audience = ?", audience);
  add("kind IN (SELECT value FROM json_each(?))", kinds === undefined ? undefined : JSON.stringify(kinds));
  return { where: parts.join(" AND "), params };
}
