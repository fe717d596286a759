import { isoTime } from "../base/clock.ts";
import type { Proposal } from "../base/vocabulary/action.ts";
import type {
  AgentNotification,
  NotificationState,
  NotifiedSchedule,
} from "../base/vocabulary/notification.ts";
import { type Lineage, ownAccord, readLineage } from "../base/vocabulary/principal.ts";
import type { Database, SqlValue, Statement } from "../platform/database/database.ts";
import { notificationBounds } from "./bounds.ts";

/** The action of a notification, and what it takes to propose it again. */
export interface NotificationAction {
  readonly agent: string;
  readonly state: NotificationState;
  /** Null if the notification proposes nothing. */
  readonly action: string | null;
  /** The schedule that it resumes; null if it is not about one. */
  readonly schedule: NotifiedSchedule | null;
  /** Null if it was too large to keep. */
  readonly proposal: Proposal | null;
  /** On whose behalf the agent proposed it. */
  readonly lineage: Lineage;
}

interface Row {
  readonly seq: number;
  readonly id: string;
  readonly agent: string;
  readonly title: string;
  readonly message: string;
  readonly severity: AgentNotification["severity"];
  readonly state: NotificationState;
  readonly count: number;
  readonly held: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly action: string | null;
  readonly schedule: string | null;
}

const columns =
  "seq, id, agent, title, message, severity, state, count, held, created_at, updated_at, action, schedule";

/** A notification to store. The texts are bounded. */
interface NewRow extends Pick<AgentNotification, "agent" | "title" | "message" | "severity"> {
  readonly action: { readonly id: string; readonly proposal: string | null; readonly lineage: string } | null;
  /** Set for the kernel's own about a suspended schedule. */
  readonly schedule: NotifiedSchedule | null;
}

/** The rows of all notifications. The database has `notificationMigrations` applied. Writes come one after the other. */
export class NotificationRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Stores one in place of an earlier one that is the same to a person and still new. Resolves after the commit. */
  async add(id: string, row: NewRow, nowMs: number): Promise<AgentNotification> {
    const { agent, title, message, severity, action } = row;
    const schedule = textOf(row.schedule);
    // A notification of the kernel is never merged with one of an agent.
    const same = "agent = ? AND title = ? AND severity = ? AND schedule IS ? AND held = 0 AND state = 'New'";
    const [earlier] = await this.#select(`WHERE ${same}`, [agent, title, severity, schedule]);
    const parts = [action?.id ?? null, action?.proposal ?? null, action?.lineage ?? null];
    return await this.#put(
      earlier === undefined
        ? this.#insert({ id, ...row, held: 0, nowMs }, [...parts, schedule])
        : {
            sql: `UPDATE notifications SET ${next}, message = ?, count = count + 1, updated_at = ?
                    ${action === null ? "" : ", action = ?, proposal = ?, lineage = ?"} WHERE id = ?`,
            params: [message, nowMs, ...(action === null ? [] : parts), earlier.id],
          },
      earlier?.id ?? id,
      agent,
      nowMs,
    );
  }

  /** Counts one that was held back. Resolves after the commit. */
  async hold(id: string, agent: string, nowMs: number): Promise<AgentNotification> {
    const [earlier] = await this.#select("WHERE agent = ? AND held > 0 AND state = 'New'", [agent]);
    const row = { id, agent, title: "", message: "", severity: "warning", held: 1, nowMs } as const;
    return await this.#put(
      earlier === undefined
        ? this.#insert(row, [null, null, null, null])
        : {
            sql: `UPDATE notifications SET ${next}, held = held + 1, updated_at = ? WHERE id = ?`,
            params: [nowMs, earlier.id],
          },
      earlier?.id ?? id,
      agent,
      nowMs,
    );
  }

  /** Returns null if there is none. */
  async get(id: string): Promise<AgentNotification | null> {
    const [row] = await this.#select("WHERE id = ?", [id]);
    return row === undefined ? null : described(row);
  }

  /** Lists those after `sinceMs`, the latest first; with `before`, those that changed before that place. */
  async list(query: {
    readonly state?: NotificationState;
    readonly limit: number;
    readonly before?: number;
    readonly sinceMs: number;
  }): Promise<{ readonly items: AgentNotification[]; readonly total: number; readonly last: number | null }> {
    const { state = null, limit, before = null, sinceMs } = query;
    const matching = "WHERE (?1 IS NULL OR state = ?1) AND updated_at > ?2";
    // Both at once, or one that comes in between is counted but not listed.
    const [rows, [all]] = await Promise.all([
      this.#select(
        `${matching} AND (?3 IS NULL OR seq < ?3) ORDER BY seq DESC LIMIT ${Math.max(0, Math.trunc(limit))}`,
        [state, sinceMs, before],
      ),
      this.#database.query<{ total: number }>(`SELECT count(*) AS total FROM notifications ${matching}`, [
        state,
        sinceMs,
      ]),
    ]);
    return { items: rows.map(described), total: all?.total ?? 0, last: rows.at(-1)?.seq ?? null };
  }

  /** Marks those that are new as seen and returns their number. Resolves after the commit. */
  async dismiss(ids: readonly string[]): Promise<number> {
    const [result] = await this.#database.batch([
      {
        sql: `UPDATE notifications SET state = 'Dismissed'
              WHERE state = 'New' AND id IN (SELECT value FROM json_each(?))`,
        params: [JSON.stringify(ids)],
      },
    ]);
    return result?.changes ?? 0;
  }

  /** A schedule runs again: its notification counts as seen. Resolves after the commit. */
  async resumed(agent: string, schedule: NotifiedSchedule): Promise<void> {
    await this.#database.batch([
      {
        sql: "UPDATE notifications SET state = 'Dismissed' WHERE agent = ? AND schedule = ?",
        params: [agent, textOf(schedule)],
      },
    ]);
  }

  /** Returns null if there is no such notification. */
  async actionOf(id: string): Promise<NotificationAction | null> {
    const [row] = await this.#database.query<{
      agent: string;
      state: NotificationState;
      action: string | null;
      proposal: string | null;
      lineage: string | null;
      schedule: string | null;
    }>("SELECT agent, state, action, proposal, lineage, schedule FROM notifications WHERE id = ?", [id]);
    if (row === undefined) return null;
    return {
      ...row,
      proposal: row.proposal === null ? null : (JSON.parse(row.proposal) as Proposal),
      lineage: row.lineage === null ? ownAccord : readLineage(JSON.parse(row.lineage)),
      schedule: scheduleOf(row),
    };
  }

  /** A person used the button: it is seen, and names the action that was proposed. Resolves after the commit. */
  async acted(id: string, action: string): Promise<void> {
    await this.#database.batch([
      {
        sql: "UPDATE notifications SET state = 'Dismissed', action = ? WHERE id = ?",
        params: [action, id],
      },
    ]);
  }

  #insert(
    row: Omit<NewRow, "action" | "schedule"> & {
      readonly id: string;
      readonly held: number;
      readonly nowMs: number;
    },
    parts: readonly SqlValue[],
  ): Statement {
    const { id, agent, title, message, severity, held, nowMs } = row;
    return {
      sql: `INSERT INTO notifications (id, agent, title, message, severity, state, count, held, created_at, updated_at,
              action, proposal, lineage, schedule)
            VALUES (?, ?, ?, ?, ?, 'New', 1, ?, ?, ?, ?, ?, ?, ?)`,
      params: [id, agent, title, message, severity, held, nowMs, nowMs, ...parts],
    };
  }

  async #put(statement: Statement, id: string, agent: string, nowMs: number): Promise<AgentNotification> {
    const { perAgent, together, keptMs } = notificationBounds;
    // Seen ones go first. The newest, which was just written, always stays.
    const beyond = (of: string, most: number) =>
      `DELETE FROM notifications WHERE seq IN (
         SELECT seq FROM notifications ${of} ORDER BY state = 'New' DESC, seq DESC LIMIT -1 OFFSET ${most})`;
    await this.#database.batch([
      statement,
      { sql: "DELETE FROM notifications WHERE updated_at <= ?", params: [nowMs - keptMs] },
      { sql: beyond("WHERE agent = ?", perAgent), params: [agent] },
      { sql: beyond("", together) },
    ]);
    const [row] = await this.#select("WHERE id = ?", [id]);
    if (row === undefined) throw new Error(`The notification ${id} was not stored.`);
    return described(row);
  }

  #select(where: string, params: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#database.query<Row>(`SELECT ${columns} FROM notifications ${where}`, params);
  }
}

/** The latest change comes first in lists. */
const next = "seq = (SELECT max(seq) FROM notifications) + 1";

function described(row: Row): AgentNotification {
  const { id, agent, severity, state, count, held, action } = row;
  const schedule = scheduleOf(row);
  return {
    id,
    agent,
    ...(held > 0 ? heldWords(agent, held) : { title: row.title, message: row.message }),
    severity,
    state,
    count,
    created: isoTime(row.created_at),
    updated: isoTime(row.updated_at),
    ...(held > 0 ? { held_back: held } : {}),
    ...(schedule === null ? {} : { schedule }),
    ...(action === null ? {} : { action }),
  };
}

/** Returns the same text for the same schedule. */
function textOf(schedule: NotifiedSchedule | null): string | null {
  return schedule === null
    ? null
    : JSON.stringify({ handler: schedule.handler, schedule: schedule.schedule });
}

function scheduleOf({ schedule }: Pick<Row, "schedule">): NotifiedSchedule | null {
  return schedule === null ? null : (JSON.parse(schedule) as NotifiedSchedule);
}

function heldWords(agent: string, held: number): Pick<AgentNotification, "title" | "message"> {
  const what = held === 1 ? "1 more notification" : `${held} more notifications`;
  return {
    title: `${what} of ${agent} ${held === 1 ? "was" : "were"} held back`,
    message: "It sends more of them than a person can read. Its traces may say why.",
  };
}

/** Returns what deletes an agent's notifications, seen ones included. */
export function forgetNotifications(agent: string): Statement[] {
  return [{ sql: "DELETE FROM notifications WHERE agent = ?", params: [agent] }];
}
