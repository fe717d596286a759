import type { Statement } from "../../platform/database/database.ts";
import { actionLimits } from "../limits.ts";

const hourMs = 3_600_000;

/** The size of a row of `actions`, in bytes. */
const keptBytesSql = `octet_length(body) + octet_length(diffs) + coalesce(octet_length(inverse), 0)
  + coalesce((SELECT sum(bytes) FROM action_objects WHERE action = actions.id), 0)`;

/** What a row of a waiting action counts as, in bytes; see `StoredAction.counted`. */
export const waitingBytesSql = `CASE WHEN body ->> '$.told.bytes' IS NULL THEN ${keptBytesSql}
  ELSE (body ->> '$.told.bytes') + coalesce((SELECT sum(bytes) FROM action_objects WHERE action = actions.id), 0) END`;

/**
 * Returns the statements that enforce the bounds on ended actions: drops contents over the limit; if still over,
 * deletes the action. An action that counts towards its agent's impact of the last hour is kept, and so is one whose
 * files are not cleaned up yet.
 */
export function forgetStatements(now: number): Statement[] {
  return [
    {
      sql: `UPDATE actions SET contents_kept = 0, diffs = '[]', inverse = NULL,
                body = json_remove(body, '$.operations', '$.dependsOn', '$.subjects')
              WHERE id IN (
                SELECT id FROM (
                  SELECT id, ended, approved, sum(bytes) OVER newest AS through, row_number() OVER newest AS place
                  FROM (SELECT id, agent, ended, decided_by IS 'user' AS approved, ${keptBytesSql} AS bytes
                        FROM actions WHERE ended IS NOT NULL AND contents_kept = 1)
                  WINDOW newest AS (PARTITION BY agent, approved ORDER BY ended DESC, id DESC))
                WHERE ended < ? OR (place > 1 AND through > CASE WHEN approved THEN ? ELSE ? END))
              AND id NOT IN (SELECT action FROM action_journal)`,
      params: [
        now - actionLimits.contentsKeptMs,
        actionLimits.keptApprovedBytesPerAgent,
        actionLimits.keptBytesPerAgent,
      ],
    },
    {
      sql: `DELETE FROM actions WHERE id IN (
                SELECT id FROM (
                  SELECT id, sum(octet_length(body)) OVER newest AS through, row_number() OVER newest AS place
                  FROM actions WHERE contents_kept = 0
                  WINDOW newest AS (PARTITION BY agent ORDER BY ended DESC, id DESC))
                WHERE place > ? OR through > ?)
              AND NOT (counted_impact > 0 AND decided > ?)`,
      params: [actionLimits.recordsPerAgent, actionLimits.recordBytesPerAgent, now - hourMs],
    },
    {
      sql: `DELETE FROM action_objects
              WHERE action NOT IN (SELECT id FROM actions WHERE contents_kept = 1)`,
    },
  ];
}
