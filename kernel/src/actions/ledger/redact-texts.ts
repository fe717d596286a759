import { isoTime } from "../../base/clock.ts";
import { isLaresError } from "../../base/errors.ts";
import type { Cleaned, RemainingText } from "../../base/vocabulary/forgetting.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import { type TextRemover, textRemover } from "../../base/without-texts.ts";
import type { Database, Statement } from "../../platform/database/database.ts";
import type { TextColumns } from "../../platform/database/text-columns.ts";
import type { ObjectStore } from "../../platform/files/object-store.ts";
import { actionLimits } from "../limits.ts";
import type { Operation } from "../operations.ts";

/** The columns that a redaction cleans; see `redactActions`. A plan holds only paths and hashes. */
export const actionTexts: readonly TextColumns[] = [
  {
    table: "actions",
    key: ["id"],
    columns: {
      id: "none",
      agent: "none",
      state: "none",
      decided_by: "none",
      error: "own",
      receipt: "own",
      body: "own",
      diffs: "own",
      inverse: "own",
      proposal_key: "none",
      targets: "none",
      superseded_by: "none",
      rejected_reason: "own",
      undone_by: "none",
      rebased_by: "none",
    },
  },
  {
    table: "action_journal",
    key: ["action"],
    columns: { action: "none", direction: "none", phase: "none", plan: "none", identities: "none" },
  },
  { table: "action_objects", key: ["action", "hash"], columns: { action: "none", hash: "none" } },
  { table: "action_ends", key: ["seq"], columns: { action: "none", state: "none" } },
];

interface RedactionPorts {
  readonly database: Database;
  readonly objects: Pick<ObjectStore, "sizes" | "readRange">;
  /** Ends actions that wait for a person. */
  readonly actions: { withdraw(id: string, reason: string): Promise<unknown> };
  /** Runs a task while no action is being committed or undone. */
  readonly commits: { enqueue<Result>(run: () => Promise<Result>): Promise<Result> };
  /** Removes the contents that no action needs. */
  readonly retention: { sweep(): Promise<void> };
}

interface Row {
  readonly id: string;
  readonly state: string;
  readonly ended: number | null;
  readonly error: string | null;
  readonly receipt: string | null;
  readonly rejected_reason: string | null;
  readonly body: string;
  readonly diffs: string;
  readonly inverse: string | null;
}

/** Bytes of a content that are searched at once. */
const pieceBytes = 512 * 1024;
/** The parts of `body` that only serve a commit. */
const planned = ["operations", "dependsOn", "subjects"] as const;

/**
 * Removes texts from the actions: an action that waits and has one is withdrawn, and what an ended action keeps of it is
 * dropped. A committed action keeps what its undo needs, which is named in the answer.
 */
export async function redactActions(ports: RedactionPorts, texts: readonly string[]): Promise<Cleaned> {
  const remover = textRemover(texts);
  if (remover.forms.length === 0) return { removed: 0, remains: [] };
  const contents = await contentsWith(ports.objects, remover);
  for (const { id, state } of await findRows(ports.database, remover, contents))
    if (state === "PendingApproval") await withdraw(ports, id);
  const cleaned = await ports.commits.enqueue(async () => {
    let removed = 0;
    const remains: RemainingText[] = [];
    for (const { id } of await findRows(ports.database, remover, contents)) {
      const found = await readRow(ports.database, id);
      if (found === null) continue;
      const { row, objects } = found;
      const held = objects.filter((hash) => contents.has(hash));
      const { statements, kept } =
        row.state === "Committed" ? ofCommitted(row, held, remover) : ofEnded(row, held, remover);
      await ports.database.batch(statements);
      if (statements.length > 0) removed++;
      if (kept !== null) remains.push(kept);
    }
    return { removed, remains };
  });
  // One may lie there that no action needs any more.
  if (contents.size > 0) await ports.retention.sweep();
  return cleaned;
}

async function withdraw({ actions }: RedactionPorts, id: string): Promise<void> {
  try {
    await actions.withdraw(id, "The person had a text in it removed.");
  } catch (error) {
    // It has ended meanwhile.
    if (!isLaresError(error, "IllegalTransition")) throw error;
  }
}

async function findRows(
  database: Database,
  { forms }: TextRemover,
  contents: ReadonlySet<Hash>,
): Promise<readonly Pick<Row, "id" | "state">[]> {
  const holds = ["error", "receipt", "rejected_reason", "body", "diffs", "inverse"].map(
    (column) => `instr(coalesce(${column}, ''), form.value) > 0`,
  );
  return await database.query(
    `SELECT id, state FROM actions WHERE EXISTS (SELECT 1 FROM json_each(?1) form WHERE ${holds.join(" OR ")})
       OR id IN (SELECT action FROM action_objects WHERE hash IN (SELECT value FROM json_each(?2))) ORDER BY id`,
    [JSON.stringify(forms), JSON.stringify([...contents])],
  );
}

async function readRow(
  database: Database,
  id: string,
): Promise<{ readonly row: Row; readonly objects: readonly Hash[] } | null> {
  const [row] = await database.query<Row>(
    `SELECT id, state, ended, error, receipt, rejected_reason, body, diffs, inverse FROM actions WHERE id = ?`,
    [id],
  );
  if (row === undefined) return null;
  const objects = await database.query<{ hash: Hash }>("SELECT hash FROM action_objects WHERE action = ?", [
    id,
  ]);
  return { row, objects: objects.map(({ hash }) => hash) };
}

/** What an undo needs stays: the contents and values that the action replaced, and the paths. */
function ofCommitted(
  row: Row,
  held: readonly Hash[],
  remover: TextRemover,
): { readonly statements: Statement[]; readonly kept: RemainingText | null } {
  const restored = new Set(restoredBy(row.inverse));
  const needed = new Set(held.filter((hash) => restored.has(hash)));
  const statements = [
    ...textStatements(row, JSON.parse(row.body), JSON.parse(row.diffs), remover),
    ...held
      .filter((hash) => !needed.has(hash))
      .map((hash) => ({
        sql: "DELETE FROM action_objects WHERE action = ? AND hash = ?",
        params: [row.id, hash],
      })),
  ];
  if (needed.size === 0 && !remover.holds(row.inverse ?? "")) return { statements, kept: null };
  const until = isoTime((row.ended ?? 0) + actionLimits.contentsKeptMs).slice(0, 10);
  return {
    statements,
    kept: {
      place: "an action",
      name: row.id,
      why: `What it replaced has the text, and is kept until ${until} so that it can be undone. Undo it and redact again, or wait.`,
    },
  };
}

/** Returns the contents that an undo writes. It only compares the others, which the action wrote, by their hashes. */
function restoredBy(inverse: string | null): Hash[] {
  return (inverse === null ? [] : (JSON.parse(inverse) as Operation[])).flatMap((operation) =>
    (operation.do === "put" || operation.do === "metadata") && operation.after !== null
      ? [operation.after]
      : [],
  );
}

function ofEnded(
  row: Row,
  held: readonly Hash[],
  remover: TextRemover,
): { readonly statements: Statement[]; readonly kept: RemainingText | null } {
  if (row.ended === null)
    return {
      statements: [],
      kept: {
        place: "an action",
        name: row.id,
        why: "It is being carried out. Redact again when it has ended.",
      },
    };
  const body = JSON.parse(row.body) as Record<string, unknown>;
  const isInPlan =
    held.length > 0 ||
    remover.holds(row.diffs) ||
    remover.holds(row.inverse ?? "") ||
    planned.some((name) => remover.holds(JSON.stringify(body[name] ?? null)));
  if (!isInPlan) return { statements: textStatements(row, body, JSON.parse(row.diffs), remover), kept: null };
  for (const name of planned) Reflect.deleteProperty(body, name);
  return {
    statements: [
      ...textStatements(row, body, [], remover),
      { sql: "UPDATE actions SET contents_kept = 0, inverse = NULL WHERE id = ?", params: [row.id] },
      { sql: "DELETE FROM action_objects WHERE action = ?", params: [row.id] },
    ],
    kept: null,
  };
}

/** The digest stays that of what the person was shown. */
function textStatements(row: Row, body: unknown, diffs: unknown, remover: TextRemover): Statement[] {
  const now = {
    error: remover.from(row.error),
    receipt: row.receipt === null ? null : JSON.stringify(remover.from(JSON.parse(row.receipt))),
    rejected_reason: remover.from(row.rejected_reason),
    body: JSON.stringify(remover.from(body)),
    diffs: JSON.stringify(remover.from(diffs)),
  };
  const names = (Object.keys(now) as (keyof typeof now)[]).filter((name) => now[name] !== row[name]);
  if (names.length === 0) return [];
  return [
    {
      sql: `UPDATE actions SET ${names.map((name) => `${name} = ?`).join(", ")} WHERE id = ?`,
      params: [...names.map((name) => now[name]), row.id],
    },
  ];
}

async function contentsWith(
  objects: RedactionPorts["objects"],
  { forms }: TextRemover,
): Promise<ReadonlySet<Hash>> {
  const wanted = forms.map((form) => Buffer.from(form));
  const overlap = Math.max(...wanted.map(({ length }) => length)) - 1;
  const found = new Set<Hash>();
  for (const [hash, size] of await objects.sizes())
    for (let offset = 0; offset < size; offset += pieceBytes) {
      const { bytes } = await objects.readRange(hash, offset, Math.min(pieceBytes + overlap, size - offset));
      const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (!wanted.some((each) => piece.includes(each))) continue;
      found.add(hash);
      break;
    }
  return found;
}
