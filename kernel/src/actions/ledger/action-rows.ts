import { isoTime } from "../../base/clock.ts";
import type { Action, ActionState, Effect } from "../../base/vocabulary/action.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import type { Actor } from "../../base/vocabulary/principal.ts";
import type { ApprovalSubject } from "../../policy/approval.ts";
import { withoutDiff, type ActionRecord, type EffectRecord, type StoredAction } from "../action-record.ts";
import type { KeptBasis } from "../basis.ts";
import type { Operation } from "../operations.ts";
import { targetsOf } from "./targets.ts";
import type { AgentView } from "../unseen.ts";
import type { KeptObject } from "../values.ts";

/** A row of the table `actions`. `diffs` and `inverse` are read for a single action only. */
export interface Row {
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
  readonly undone_by: string | null;
  readonly rebased_by: string | null;
}

export interface EffectRow {
  readonly contents_kept: number;
  readonly count: number | null;
  readonly effect: string | null;
  readonly operation: string | null;
  readonly diff: string | null;
}

/** The column `body`, as JSON. */
interface Body {
  readonly title: string;
  readonly reason: string;
  readonly impact_score: number;
  readonly digest: Hash;
  readonly program: Hash;
  readonly effects: readonly Effect[];
  /** `ActionRecord.agentView` */
  readonly told?: AgentView;
  readonly supersedes?: string;
  readonly editedBy?: "user";
  readonly onBehalfOf?: Actor[];
  readonly sources?: string[];
  /** True if every changed text has a diff, which a merge needs. */
  readonly isMergeable?: boolean;
  readonly basis?: KeptBasis;
  /** These three are dropped with the contents. */
  readonly operations?: readonly Operation[];
  readonly dependsOn?: readonly (readonly number[])[];
  readonly subjects?: readonly ApprovalSubject[];
}

export const listedColumns =
  "id, agent, state, created, decided, decided_by, ended, error, receipt, body, contents_kept, proposal_key, superseded_by, rejected_reason, undone_by, rebased_by";

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
    ...(record.agentView === null ? {} : { told: record.agentView }),
    ...(action.supersedes === undefined ? {} : { supersedes: action.supersedes }),
    ...(action.edited_by === undefined ? {} : { editedBy: action.edited_by }),
    ...(action.on_behalf_of === undefined ? {} : { onBehalfOf: action.on_behalf_of }),
    ...(action.sources === undefined ? {} : { sources: action.sources }),
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
    counted: record.agentView === null ? bytes : record.agentView.bytes + kept,
  };
}

export function recordOf(row: Row): ActionRecord {
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
      ...(body.sources === undefined ? {} : { sources: body.sources }),
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
      ...(row.undone_by === null ? {} : { undone_by: row.undone_by as "user" }),
      ...(row.rebased_by === null ? {} : { rebased_by: row.rebased_by as "user" }),
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
    agentView: body.told ?? null,
    basis: body.basis ?? null,
    contentsKept: row.contents_kept === 1,
    inverse:
      row.inverse === null || row.inverse === undefined ? null : (JSON.parse(row.inverse) as Operation[]),
  };
}

export function effectOf(id: string, index: number, row: EffectRow): EffectRecord {
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
