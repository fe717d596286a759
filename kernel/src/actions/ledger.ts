import { isLaresError } from "../base/errors.ts";
import { isoTime, type Clock } from "../base/clock.ts";
import { hasEnded, type Action, type ActionState, type Effect } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Database, Migration, Statement, SqlValue } from "../platform/database.ts";
import type { ApprovalSubject } from "../policy/approval.ts";
import { forgetStatements, waitingBytesSql } from "./forget-old.ts";
import { actionLimits } from "./limits.ts";
import type { Operation } from "./operations.ts";
import type { KeptBasis } from "./person.ts";
import type { StepPlan } from "./steps.ts";
import type { Told } from "./unseen.ts";
import type { KeptObject } from "./values.ts";

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
];

/** What is known of an action beyond what a client is shown. */
export interface ActionRecord {
  readonly action: Action;
  readonly program: Hash;
  readonly operations: readonly Operation[];
  readonly dependsOn: readonly (readonly number[])[];
  /** Without the members of folders, which are listed anew where they are needed. */
  readonly subjects: readonly ApprovalSubject[];
  /** What the agent is told otherwise; null: nothing. */
  readonly told: Told | null;
  /** What policy decided it by; null where a person decides. */
  readonly basis: KeptBasis | null;
  /** Null until it is committed. */
  readonly inverse: readonly Operation[] | null;
  /** False: it ended long ago, and what it replaced and what it wrote was dropped. */
  readonly contentsKept: boolean;
}

/** An action as it is written down. */
export interface StoredAction {
  readonly action: Action;
  readonly body: string;
  readonly diffs: string;
  readonly objects: readonly KeptObject[];
  /** All that is kept for it. */
  readonly bytes: number;
  /** What it counts as while it waits for approval: nothing in it depends on what its agent cannot see. Bytes. */
  readonly counted: number;
}

export interface JournalEntry {
  readonly action: string;
  readonly direction: "commit" | "undo";
  /**
   * staging: temporary files may be there, nothing else was touched · applying: steps may have been taken ·
   * done: the ledger says that it happened, backups may still be there
   */
  readonly phase: "staging" | "applying" | "done";
  readonly plan: StepPlan;
  /** Of the staged files, from "applying" on. */
  readonly identities: readonly string[];
}

export interface StateChange {
  readonly to: ActionState;
  readonly from: ActionState;
  readonly decided?: number;
  readonly decidedBy?: "user" | "policy" | null;
  readonly error?: string;
  readonly receipt?: NonNullable<Action["receipt"]>;
  readonly inverse?: readonly Operation[];
  /** Contents that the inverse needs. */
  readonly keeps?: readonly KeptObject[];
}

interface Row {
  readonly id: string;
  readonly agent: string;
  readonly state: string;
  readonly created: number;
  readonly decided: number | null;
  readonly decided_by: string | null;
  readonly error: string | null;
  readonly receipt: string | null;
  readonly body: string;
  readonly diffs?: string;
  readonly inverse?: string | null;
  readonly contents_kept: number;
}

interface Body {
  readonly title: string;
  readonly reason: string;
  readonly impact_score: number;
  readonly digest: Hash;
  readonly program: Hash;
  readonly effects: readonly Effect[];
  readonly told?: Told;
  readonly basis?: KeptBasis;
  /** These three are dropped with the contents. */
  readonly operations?: readonly Operation[];
  readonly dependsOn?: readonly (readonly number[])[];
  readonly subjects?: readonly ApprovalSubject[];
}

const listedColumns = "id, agent, state, created, decided, decided_by, error, receipt, body, contents_kept";

/** The actions and the journal of their commits, in SQLite. Each change of state names the state it leaves. */
export class Ledger {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Resolves once it is on the disk, together with what `along` changes. */
  async insert(
    { action, body, diffs, objects }: StoredAction,
    countedImpact: number,
    along: readonly Statement[] = [],
  ): Promise<void> {
    await this.#database.batch(
      [
        {
          sql: `INSERT INTO actions (id, agent, state, created, decided, decided_by, counted_impact, error, body, diffs, ended)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          params: [
            action.id,
            action.agent,
            action.state,
            Date.parse(action.created),
            action.decided === undefined ? null : Date.parse(action.decided),
            action.decided_by ?? null,
            countedImpact,
            action.error ?? null,
            body,
            diffs,
            hasEnded(action.state) ? this.#clock.now() : null,
          ],
        },
        keepStatement(action.id, objects),
        ...along,
      ],
      { durability: "power" },
    );
  }

  async get(id: string): Promise<ActionRecord | null> {
    const [row] = await this.#database.query<Row>(
      `SELECT ${listedColumns}, diffs, inverse FROM actions WHERE id = ?`,
      [id],
    );
    return row === undefined ? null : recordOf(row);
  }

  /** Newest first, without diffs. */
  async list(query: { state?: ActionState; agent?: string; limit?: number }): Promise<ActionRecord[]> {
    const conditions: string[] = [];
    const params: SqlValue[] = [];
    for (const column of ["state", "agent"] as const) {
      const value = query[column];
      if (value === undefined) continue;
      conditions.push(`${column} = ?`);
      params.push(value);
    }
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    const limit = Math.min(query.limit ?? 100, actionLimits.listed);
    const rows = await this.#database.query<Row>(
      `SELECT ${listedColumns} FROM actions ${where} ORDER BY id DESC LIMIT ?`,
      [...params, limit],
    );
    return rows.map(recordOf);
  }

  async pending(): Promise<{ id: string; agent: string; created: number; bytes: number }[]> {
    const rows = await this.#database.query<{ id: string; agent: string; created: number; bytes: number }>(
      `SELECT id, agent, created, ${waitingBytesSql} AS bytes FROM actions WHERE state = 'PendingApproval' ORDER BY id`,
    );
    return [...rows];
  }

  async withState(state: ActionState): Promise<string[]> {
    const rows = await this.#database.query<{ id: string }>("SELECT id FROM actions WHERE state = ?", [
      state,
    ]);
    return rows.map(({ id }) => id);
  }

  /** What was allowed for its impact alone since then. */
  async countedSince(since: number): Promise<{ agent: string; decided: number; impact: number }[]> {
    const rows = await this.#database.query<{ agent: string; decided: number; impact: number }>(
      "SELECT agent, decided, counted_impact AS impact FROM actions WHERE counted_impact > 0 AND decided > ?",
      [since],
    );
    return [...rows];
  }

  /** False if the action was not in the state that the change leaves: somebody else was first. */
  async move(id: string, change: StateChange, along: readonly Statement[] = []): Promise<boolean> {
    try {
      await this.#database.batch([...this.#stateStatements(id, change), ...along], { durability: "power" });
      return true;
    } catch (error) {
      if (!isLaresError(error, "Conflict")) throw error;
      return false;
    }
  }

  journalStatement(entry: JournalEntry): Statement {
    return {
      sql: `INSERT OR REPLACE INTO action_journal (action, direction, phase, plan, identities) VALUES (?, ?, ?, ?, ?)`,
      params: [
        entry.action,
        entry.direction,
        entry.phase,
        JSON.stringify(entry.plan),
        JSON.stringify(entry.identities),
      ],
    };
  }

  async journal(entry: JournalEntry): Promise<void> {
    await this.#database.batch([this.journalStatement(entry)], { durability: "power" });
  }

  forgetStatement(id: string): Statement {
    return { sql: "DELETE FROM action_journal WHERE action = ?", params: [id] };
  }

  async forget(id: string): Promise<void> {
    await this.#database.batch([this.forgetStatement(id)]);
  }

  async journaled(): Promise<JournalEntry[]> {
    const rows = await this.#database.query<Record<keyof JournalEntry, string>>(
      "SELECT * FROM action_journal",
    );
    return rows.map((row) => ({
      action: row.action,
      direction: row.direction as JournalEntry["direction"],
      phase: row.phase as JournalEntry["phase"],
      plan: JSON.parse(row.plan) as StepPlan,
      identities: JSON.parse(row.identities) as string[],
    }));
  }

  /** Contents that a pending or committed action still needs. */
  async neededObjects(): Promise<Set<Hash>> {
    const rows = await this.#database.query<{ hash: Hash }>("SELECT DISTINCT hash FROM action_objects");
    return new Set(rows.map(({ hash }) => hash));
  }

  /** Drops what ended actions keep beyond the bounds. */
  async forgetOld(): Promise<void> {
    await this.#database.batch(forgetStatements(this.#clock.now()));
  }

  #stateStatements(id: string, change: StateChange): Statement[] {
    const ended = hasEnded(change.to) ? this.#clock.now() : null;
    const statements = [stateStatement(id, change, ended), keepStatement(id, change.keeps ?? [])];
    // Only what is committed can be undone.
    if (ended !== null && change.to !== "Committed")
      statements.push({ sql: "DELETE FROM action_objects WHERE action = ?", params: [id] });
    return statements;
  }
}

function keepStatement(id: string, objects: readonly KeptObject[]): Statement {
  return {
    sql: `INSERT OR IGNORE INTO action_objects SELECT ?, value ->> 'hash', value ->> 'bytes' FROM json_each(?)`,
    params: [id, JSON.stringify(objects)],
  };
}

/** The record as it is written down, with the contents that it needs. */
export function storedAction(record: ActionRecord, objects: readonly KeptObject[]): StoredAction {
  const { action } = record;
  const content: Body = {
    title: action.title,
    reason: action.reason,
    impact_score: action.impact_score,
    digest: action.digest,
    program: record.program,
    effects: action.effects.map(withoutDiff),
    operations: record.operations,
    dependsOn: record.dependsOn,
    subjects: record.subjects.map(({ members: _members, ...subject }) => subject),
    ...(record.told === null ? {} : { told: record.told }),
    ...(record.basis === null ? {} : { basis: record.basis }),
  };
  const body = JSON.stringify(content);
  const diffs = JSON.stringify(action.effects.map(({ diff }) => diff ?? null));
  const sizes = [Buffer.byteLength(body), Buffer.byteLength(diffs), ...objects.map(({ bytes }) => bytes)];
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const kept = objects.reduce((sum, object) => sum + object.bytes, 0);
  return {
    action,
    body,
    diffs,
    objects,
    bytes,
    counted: record.told === null ? bytes : record.told.bytes + kept,
  };
}

function stateStatement(id: string, change: StateChange, ended: number | null): Statement {
  const sets = ["state = ?", "ended = ?"];
  const params: SqlValue[] = [change.to, ended];
  const set = (column: string, value: SqlValue | undefined): void => {
    if (value === undefined) return;
    sets.push(`${column} = ?`);
    params.push(value);
  };
  set("decided", change.decidedBy === null ? null : change.decided);
  set("decided_by", change.decidedBy);
  set("error", change.error);
  set("receipt", change.receipt === undefined ? undefined : JSON.stringify(change.receipt));
  set("inverse", change.inverse === undefined ? undefined : JSON.stringify(change.inverse));
  return {
    sql: `UPDATE actions SET ${sets.join(", ")} WHERE id = ? AND state = ?`,
    params: [...params, id, change.from],
    expectChanges: 1,
  };
}

function recordOf(row: Row): ActionRecord {
  const body = JSON.parse(row.body) as Body;
  const diffs = row.diffs === undefined ? [] : (JSON.parse(row.diffs) as (string | null)[]);
  const effects = body.effects.map((effect, index) => {
    const diff = diffs[index] ?? null;
    return diff === null ? effect : { ...effect, diff };
  });
  return {
    action: {
      id: row.id,
      agent: row.agent,
      title: body.title,
      reason: body.reason,
      state: row.state as ActionState,
      impact_score: body.impact_score,
      digest: body.digest,
      effects,
      created: isoTime(row.created),
      ...(row.decided === null ? {} : { decided: isoTime(row.decided) }),
      ...(row.decided_by === null ? {} : { decided_by: row.decided_by as "user" | "policy" }),
      ...(row.error === null ? {} : { error: row.error }),
      ...(row.receipt === null ? {} : { receipt: JSON.parse(row.receipt) as NonNullable<Action["receipt"]> }),
    },
    program: body.program,
    operations: body.operations ?? [],
    dependsOn: body.dependsOn ?? [],
    subjects: body.subjects ?? [],
    told: body.told ?? null,
    basis: body.basis ?? null,
    contentsKept: row.contents_kept === 1,
    inverse:
      row.inverse === null || row.inverse === undefined ? null : (JSON.parse(row.inverse) as Operation[]),
  };
}

export function withoutDiff(effect: Effect): Effect {
  const { diff: _diff, ...rest } = effect;
  return rest;
}
