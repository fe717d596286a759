import { isLaresError, notFound } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import { hasEnded, type Action, type ActionState } from "../../base/vocabulary/action.ts";
import type { ActionQuery } from "../../base/vocabulary/action-requests.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import { type Actor, checkPerson, type Principal } from "../../base/vocabulary/principal.ts";
import type { Database, Statement, SqlValue } from "../../platform/database/database.ts";
import type { ActionRecord, EffectRecord, StoredAction } from "../action-record.ts";
import { effectOf, listedColumns, recordOf, type EffectRow, type Row } from "./action-rows.ts";
import { forgetStatements, waitingBytesSql } from "./forget-old.ts";
import { actionLimits } from "../limits.ts";
import type { Operation } from "../operations.ts";
import type { StepPlan } from "../steps.ts";
import { supersededMessage } from "../unseen.ts";
import { workOf } from "./targets.ts";
import type { KeptObject } from "../values.ts";

export interface JournalEntry {
  readonly action: string;
  readonly direction: "commit" | "undo";
  /**
   * staging: temporary files may exist, nothing else was touched · applying: steps may have been taken · done: the
   * ledger has the action as committed, backups may still exist
   */
  readonly phase: "staging" | "applying" | "done";
  readonly plan: StepPlan;
  /** The identities of the staged files, from "applying" on. */
  readonly identities: readonly string[];
}

/** How `decided_by` and `undone_by` name whoever decided after the proposal. */
const deciders = { person: "user", kernel: "policy" } as const satisfies Partial<
  Record<Actor["kind"], Action["decided_by"]>
>;

export type Decider = keyof typeof deciders;

/** Returns the decider that the ledger names. Throws PermissionDenied for anybody but a person. */
export function decider(by: Principal): Decider {
  checkPerson(by, "decide on an action, undo it or rebase it");
  return "person";
}

export interface StateChange {
  readonly to: ActionState;
  readonly from: ActionState;
  readonly decided?: number;
  /** A person, or the kernel for want of one; null: nobody any more. */
  readonly decidedBy?: Decider | null;
  readonly error?: string;
  /** The person's reason for rejecting the action. */
  readonly rejectedReason?: string;
  readonly undoneBy?: Decider;
  /** The action that supersedes this one. */
  readonly supersededBy?: string;
  /** The action as edited by a person. Replaces everything but the state. */
  readonly replacedBy?: StoredAction;
  readonly receipt?: NonNullable<Action["receipt"]>;
  readonly inverse?: readonly Operation[];
  /** Contents that the inverse needs. */
  readonly keeps?: readonly KeptObject[];
}

/** The end of an action of which the agent was not notified yet. */
export interface UndeliveredEnd {
  readonly seq: number;
  readonly action: string;
  readonly state: ActionState;
}

/**
 * Stores the actions and the journal of their commits in SQLite. Each state change names the state that it expects.
 */
export class Ledger {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * Stores an action; resolves once it is on disk. The same transaction supersedes the older actions and runs the
   * statements `along`. Rejects with Conflict, and stores nothing, if one of the older actions is no longer in the
   * expected state, or if the key is taken.
   */
  async insert(
    { action, body, diffs, objects, targets }: StoredAction,
    countedImpact: number,
    superseded: readonly SupersededAction[] = [],
    along: readonly Statement[] = [],
  ): Promise<void> {
    await this.#database.batch(
      [
        ...superseded.flatMap(({ id, state }) => this.#supersedeStatements(id, state, action.id)),
        {
          sql: `INSERT INTO actions (id, agent, state, created, decided, decided_by, counted_impact, error, body, diffs, ended, proposal_key, targets, rebased_by)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
            action.key ?? null,
            targets,
            action.rebased_by ?? null,
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

  /** Returns the action, or rejects with NotFound. */
  async existing(id: string): Promise<ActionRecord> {
    const record = await this.get(id);
    if (record === null) throw notFound("action", id);
    return record;
  }

  /**
   * Returns one effect without the rest of its action, because a client that compares a thousand effects asks for each
   * of them. `index` counts from 0. Rejects with NotFound if there is no such action.
   */
  async effect(id: string, index: number): Promise<EffectRecord> {
    const [row] = await this.#database.query<EffectRow>(
      `SELECT contents_kept, json_array_length(body, '$.operations') AS count,
         body -> ('$.effects[' || ?1 || ']') AS effect, body -> ('$.operations[' || ?1 || ']') AS operation,
         diffs ->> ('$[' || ?1 || ']') AS diff
       FROM actions WHERE id = ?2`,
      [String(index), id],
    );
    if (row === undefined) throw notFound("action", id);
    return effectOf(id, index, row);
  }

  /** Returns the agent's action that was proposed with this key. */
  async withKey(agent: string, key: string): Promise<ActionRecord | null> {
    const [row] = await this.#database.query<Row>(
      `SELECT ${listedColumns}, diffs, inverse FROM actions WHERE agent = ? AND proposal_key = ?`,
      [agent, key],
    );
    return row === undefined ? null : recordOf(row);
  }

  /**
   * Returns the agent's actions that change exactly these targets for the same work (`workOf`), are waiting or stale, and
   * have not been superseded.
   */
  async replaceable(agent: string, targets: string, work: string): Promise<SupersededAction[]> {
    const rows = await this.#database.query<SupersededAction & { readonly causes: string | null }>(
      `SELECT id, state, body -> '$.onBehalfOf' AS causes FROM actions
       WHERE agent = ? AND targets = ? AND superseded_by IS NULL AND state IN ('PendingApproval', 'Stale')`,
      [agent, targets],
    );
    return rows.flatMap(({ id, state, causes }) =>
      workOf(causes === null ? [] : (JSON.parse(causes) as Actor[])) === work ? [{ id, state }] : [],
    );
  }

  /** Returns undelivered ends, oldest first. */
  async undeliveredEnds(limit: number): Promise<UndeliveredEnd[]> {
    const rows = await this.#database.query<UndeliveredEnd>(
      "SELECT seq, action, state FROM action_ends ORDER BY seq LIMIT ?",
      [limit],
    );
    return [...rows];
  }

  /** Removes the end in the same transaction as the statements that deliver it, so that it is delivered once. */
  async removeEnd({ seq }: UndeliveredEnd, along: readonly Statement[]): Promise<void> {
    await this.#database.batch([
      { sql: "DELETE FROM action_ends WHERE seq = ?", params: [seq], expectChanges: 1 },
      ...along,
    ]);
  }

  /**
   * Returns actions, newest first, without diffs; with `before`, those created before that action. At most
   * `listedBytes` in total, but at least one.
   */
  async list(query: ActionQuery): Promise<ActionRecord[]> {
    const conditions: string[] = [];
    const params: SqlValue[] = [];
    for (const column of ["state", "agent"] as const) {
      const value = query[column];
      if (value === undefined) continue;
      conditions.push(`${column} = ?`);
      params.push(value);
    }
    if (query.before !== undefined) {
      conditions.push("id < ?");
      params.push(query.before);
    }
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    const limit = Math.min(query.limit ?? 100, actionLimits.listed);
    const rows = await this.#database.query<Row>(
      `SELECT ${listedColumns} FROM (
         SELECT ${listedColumns}, sum(octet_length(body)) OVER newest AS bytes, row_number() OVER newest AS number
         FROM actions ${where} WINDOW newest AS (ORDER BY id DESC) ORDER BY id DESC LIMIT ?
       ) WHERE bytes <= ? OR number = 1 ORDER BY id DESC`,
      [...params, limit, actionLimits.listedBytes],
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

  /** Returns the impact that policy allowed since then, per decision. */
  async countedSince(since: number): Promise<{ agent: string; decided: number; impact: number }[]> {
    const rows = await this.#database.query<{ agent: string; decided: number; impact: number }>(
      "SELECT agent, decided, counted_impact AS impact FROM actions WHERE counted_impact > 0 AND decided > ?",
      [since],
    );
    return [...rows];
  }

  /**
   * Changes the state. Returns false if the action is not in the state that the change expects: somebody else was
   * first.
   */
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

  /** Returns the contents that a pending or committed action still needs. */
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
    const statements = [stateStatement(id, change, ended)];
    const dropped = { sql: "DELETE FROM action_objects WHERE action = ?", params: [id] };
    if (change.replacedBy !== undefined) {
      const { body, diffs, objects } = change.replacedBy;
      statements.push(
        { sql: "UPDATE actions SET body = ?, diffs = ? WHERE id = ?", params: [body, diffs, id] },
        dropped,
        keepStatement(id, objects),
      );
    }
    statements.push(keepStatement(id, change.keeps ?? []));
    // Only a committed action can be undone, and only a stale one can be rebased.
    const isDone = change.to !== "Committed" && (change.to !== "Stale" || change.supersededBy !== undefined);
    if (ended !== null && isDone) statements.push(dropped);
    if (ended !== null)
      statements.push({
        sql: "INSERT INTO action_ends (action, state) VALUES (?, ?)",
        params: [id, change.to],
      });
    return statements;
  }

  #supersedeStatements(id: string, state: SupersededAction["state"], by: string): Statement[] {
    if (state === "PendingApproval") {
      return this.#stateStatements(id, {
        from: state,
        to: "Stale",
        error: supersededMessage,
        supersededBy: by,
      });
    }
    return [
      {
        sql: "UPDATE actions SET superseded_by = ? WHERE id = ? AND state = 'Stale' AND superseded_by IS NULL",
        params: [by, id],
        expectChanges: 1,
      },
      { sql: "DELETE FROM action_objects WHERE action = ?", params: [id] },
    ];
  }
}

/** An action that another one supersedes. */
export interface SupersededAction {
  readonly id: string;
  readonly state: "PendingApproval" | "Stale";
}

function keepStatement(id: string, objects: readonly KeptObject[]): Statement {
  return {
    sql: `INSERT OR IGNORE INTO action_objects SELECT ?, value ->> 'hash', value ->> 'bytes' FROM json_each(?)`,
    params: [id, JSON.stringify(objects)],
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
  if (change.decidedBy !== undefined)
    set("decided_by", change.decidedBy === null ? null : deciders[change.decidedBy]);
  set("undone_by", change.undoneBy && deciders[change.undoneBy]);
  set("error", change.error);
  set("rejected_reason", change.rejectedReason);
  set("superseded_by", change.supersededBy);
  set("receipt", change.receipt === undefined ? undefined : JSON.stringify(change.receipt));
  set("inverse", change.inverse === undefined ? undefined : JSON.stringify(change.inverse));
  return {
    sql: `UPDATE actions SET ${sets.join(", ")} WHERE id = ? AND state = ?`,
    params: [...params, id, change.from],
    expectChanges: 1,
  };
}
