import { isLaresError } from "../base/errors.ts";
import { isoTime, type Clock } from "../base/clock.ts";
import { hasEnded, type Action, type ActionState, type Effect } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Actor } from "../base/vocabulary/principal.ts";
import type { Database, Statement, SqlValue } from "../platform/database/database.ts";
import type { ApprovalSubject } from "../policy/approval.ts";
import type { KeptBasis } from "./basis.ts";
import { forgetStatements, waitingBytesSql } from "./forget-old.ts";
import { actionLimits } from "./limits.ts";
import type { Operation } from "./operations.ts";
import type { StepPlan } from "./steps.ts";
import { targetsOf } from "./targets.ts";
import { tookItsPlace, type Told } from "./unseen.ts";
import type { KeptObject } from "./values.ts";

/** An action with everything about it that clients are not shown. */
export interface ActionRecord {
  readonly action: Action;
  readonly program: Hash;
  readonly operations: readonly Operation[];
  readonly dependsOn: readonly (readonly number[])[];
  /** Without the members of folders, which are listed again when needed. */
  readonly subjects: readonly ApprovalSubject[];
  /** What differs in what the agent is told; null if nothing does. */
  readonly told: Told | null;
  /** The reason for the decision of policy; null if a person decides. */
  readonly basis: KeptBasis | null;
  /** Null until the action is committed. */
  readonly inverse: readonly Operation[] | null;
  /** False if the action ended long ago and the contents that it replaced and wrote were dropped. */
  readonly contentsKept: boolean;
}

/** An action as written to the database. */
export interface StoredAction {
  readonly action: Action;
  readonly body: string;
  readonly diffs: string;
  readonly objects: readonly KeptObject[];
  /** See `targetsOf`. */
  readonly targets: string;
  /** The size of everything that is kept for it. */
  readonly bytes: number;
  /**
   * What the action counts as while it waits for approval, in bytes. Does not depend on anything that its agent cannot
   * see.
   */
  readonly counted: number;
}

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

export interface ActionQuery {
  readonly state?: ActionState;
  readonly agent?: string;
  /** The id of an action. */
  readonly before?: string;
  readonly limit?: number;
}

/** How `decided_by` names whoever decided after the proposal. */
const deciders = { person: "user", kernel: "policy" } as const satisfies Partial<
  Record<Actor["kind"], Action["decided_by"]>
>;

export interface StateChange {
  readonly to: ActionState;
  readonly from: ActionState;
  readonly decided?: number;
  /** A person, or the kernel for want of one; null: nobody any more. */
  readonly decidedBy?: keyof typeof deciders | null;
  readonly error?: string;
  /** The person's reason for rejecting the action. */
  readonly rejectedReason?: string;
  /** The action that supersedes this one. */
  readonly supersededBy?: string;
  /** The action as edited by a person. Replaces everything but the state. */
  readonly replacedBy?: StoredAction;
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
  readonly ended: number | null;
  readonly error: string | null;
  readonly receipt: string | null;
  readonly body: string;
  readonly diffs?: string;
  readonly inverse?: string | null;
  readonly contents_kept: number;
  readonly proposal_key: string | null;
  readonly superseded_by: string | null;
  readonly rejected_reason: string | null;
}

/** One effect of an action, as stored. */
export interface EffectRecord {
  /** The id of the action. */
  readonly id: string;
  readonly contentsKept: boolean;
  /** The index of the effect, counted from 0. */
  readonly index: number;
  /** The number of effects whose operations are stored. */
  readonly count: number;
  /** Null if the action has no such effect. */
  readonly effect: Effect | null;
  /** Null if it was dropped with the contents. */
  readonly operation: Operation | null;
}

interface EffectRow {
  readonly contents_kept: number;
  readonly count: number | null;
  readonly effect: string | null;
  readonly operation: string | null;
  readonly diff: string | null;
}

/** The end of an action of which the agent was not notified yet. */
export interface UntoldEnd {
  readonly seq: number;
  readonly action: string;
  readonly state: ActionState;
}

interface Body {
  readonly title: string;
  readonly reason: string;
  readonly impact_score: number;
  readonly digest: Hash;
  readonly program: Hash;
  readonly effects: readonly Effect[];
  readonly told?: Told;
  readonly supersedes?: string;
  readonly editedBy?: "user";
  readonly onBehalfOf?: Actor[];
  /** True if every changed text has a diff, which a merge needs. */
  readonly isMergeable?: boolean;
  readonly basis?: KeptBasis;
  /** These three are dropped with the contents. */
  readonly operations?: readonly Operation[];
  readonly dependsOn?: readonly (readonly number[])[];
  readonly subjects?: readonly ApprovalSubject[];
}

const listedColumns =
  "id, agent, state, created, decided, decided_by, ended, error, receipt, body, contents_kept, proposal_key, superseded_by, rejected_reason";

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
          sql: `INSERT INTO actions (id, agent, state, created, decided, decided_by, counted_impact, error, body, diffs, ended, proposal_key, targets)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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

  /**
   * Returns one effect without the rest of its action, because a client that compares a thousand effects asks for each
   * of them. `index` counts from 0.
   */
  async effect(id: string, index: number): Promise<EffectRecord | null> {
    const [row] = await this.#database.query<EffectRow>(
      `SELECT contents_kept, json_array_length(body, '$.operations') AS count,
         body -> ('$.effects[' || ?1 || ']') AS effect, body -> ('$.operations[' || ?1 || ']') AS operation,
         diffs ->> ('$[' || ?1 || ']') AS diff
       FROM actions WHERE id = ?2`,
      [String(index), id],
    );
    if (row === undefined) return null;
    const effect = row.effect === null ? null : (JSON.parse(row.effect) as Effect);
    return {
      id,
      index,
      contentsKept: row.contents_kept === 1,
      count: row.count ?? 0,
      effect: effect === null || row.diff === null ? effect : { ...effect, diff: row.diff },
      operation: row.operation === null ? null : (JSON.parse(row.operation) as Operation),
    };
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
   * Returns the agent's actions that change exactly these targets, are waiting or stale, and have not been superseded.
   */
  async replaceable(agent: string, targets: string): Promise<SupersededAction[]> {
    const rows = await this.#database.query<SupersededAction>(
      `SELECT id, state FROM actions
       WHERE agent = ? AND targets = ? AND superseded_by IS NULL AND state IN ('PendingApproval', 'Stale')`,
      [agent, targets],
    );
    return [...rows];
  }

  /** Returns undelivered ends, oldest first. */
  async untoldEnds(limit: number): Promise<UntoldEnd[]> {
    const rows = await this.#database.query<UntoldEnd>(
      "SELECT seq, action, state FROM action_ends ORDER BY seq LIMIT ?",
      [limit],
    );
    return [...rows];
  }

  /** Removes the end in the same transaction as the statements that deliver it, so that it is delivered once. */
  async told({ seq }: UntoldEnd, along: readonly Statement[]): Promise<void> {
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
        error: tookItsPlace,
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

/** Returns the record as written to the database, with the contents that it needs. */
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
    ...(action.supersedes === undefined ? {} : { supersedes: action.supersedes }),
    ...(action.edited_by === undefined ? {} : { editedBy: action.edited_by }),
    ...(action.on_behalf_of === undefined ? {} : { onBehalfOf: action.on_behalf_of }),
    isMergeable: isMergeable(record),
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
    targets: targetsOf(record),
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
  if (change.decidedBy !== undefined)
    set("decided_by", change.decidedBy === null ? null : deciders[change.decidedBy]);
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
      ...(body.onBehalfOf === undefined ? {} : { on_behalf_of: body.onBehalfOf }),
      state: row.state as ActionState,
      impact_score: body.impact_score,
      digest: body.digest,
      effects,
      created: isoTime(row.created),
      ...(row.decided === null ? {} : { decided: isoTime(row.decided) }),
      ...(row.decided_by === null ? {} : { decided_by: row.decided_by as "user" | "policy" }),
      ...(row.ended === null ? {} : { ended: isoTime(row.ended) }),
      ...(row.error === null ? {} : { error: row.error }),
      ...(row.rejected_reason === null ? {} : { rejected_reason: row.rejected_reason }),
      ...(body.editedBy === undefined ? {} : { edited_by: body.editedBy }),
      ...(body.supersedes === undefined ? {} : { supersedes: body.supersedes }),
      ...(row.superseded_by === null ? {} : { superseded_by: row.superseded_by }),
      ...(isRebasable(row, body) ? { rebasable: true } : {}),
      ...(row.proposal_key === null ? {} : { key: row.proposal_key }),
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

function isMergeable({ action, operations }: ActionRecord): boolean {
  return operations.every(
    (operation, index) =>
      operation.do !== "put" || operation.before === null || action.effects[index]?.diff !== undefined,
  );
}

function isRebasable(row: Row, body: Body): boolean {
  return (
    row.state === "Stale" &&
    row.superseded_by === null &&
    // The agent would learn how the merge ended, and thereby that there was something to merge with.
    (body.told === undefined || body.told.sawAll === true) &&
    row.contents_kept === 1 &&
    body.operations !== undefined &&
    body.isMergeable === true
  );
}

export function withoutDiff(effect: Effect): Effect {
  const { diff: _diff, ...rest } = effect;
  return rest;
}
