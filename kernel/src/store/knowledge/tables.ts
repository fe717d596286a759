import { isJsonObject, type JsonValue } from "../../base/json.ts";
import type { JournalRecord, Sql, TableGroup } from "../projection/port.ts";
import type { Redacted } from "../../memory-contract/records.ts";
import { storedJson } from "../projection/where.ts";
import { decodeGiven, givenSpace } from "./embedding/given.ts";
import { defaultImportance } from "./search/importance.ts";
import {
  addVectors,
  beginLineage,
  createKnowledgeTables,
  knowledgeTablesVersion,
  type NewVector,
  numberList,
  removeVectors,
  textList,
} from "./rows/schema.ts";

/**
 * The tables of knowledge. They contain what the journal says and nothing that an embedder made; texts to
 * embed are put into the queue. A batch can be applied twice with the same result.
 */
export const knowledgeTables: TableGroup = {
  version: knowledgeTablesVersion,
  create: createKnowledgeTables,
  async apply(sql, records) {
    let changes: JournalRecord[] = [];
    for (const record of records) {
      if (record.operation === "redact") {
        await applyChanges(sql, changes);
        changes = [];
        await applyRedaction(sql, record);
      } else if (record.kind === "knowledge") {
        changes.push(record);
      }
    }
    await applyChanges(sql, changes);
  },
};

/** Thrown by `apply` if the projections have to be rebuilt from the journal. */
export class RebuildNeeded extends Error {
  override readonly name = "RebuildNeeded";
}

interface Item {
  readonly row: number;
  readonly id: string;
  variant: string;
  data: string;
  words: string | null;
  importance: number;
  readonly createdMs: number;
  updatedMs: number;
}

/** The changes of a batch, computed before anything is written. */
interface Outcome {
  /** The items' states after the batch; null for a removed one. */
  readonly items: Map<string, Item | null>;
  /** Existing rows that were rewritten or removed. */
  readonly replaced: Set<number>;
  /** Rows whose text is to be embedded, with the seq of the record that set it. */
  readonly pending: Map<number, number>;
  readonly given: Map<number, Float32Array>;
  relations: { from: string; to: string; relation: string; seq: number }[];
  /** Ids whose relations from before this batch are void. */
  readonly unrelated: Set<string>;
}

async function applyChanges(sql: Sql, records: readonly JournalRecord[]): Promise<void> {
  const [first] = records;
  const last = records.at(-1);
  if (first === undefined || last === undefined) return;
  // Removes what an earlier attempt at this batch may have left.
  for (const table of ["knowledge_records", "knowledge_relations"]) {
    await sql.run(`DELETE FROM ${table} WHERE seq BETWEEN ? AND ?`, [first.seq, last.seq]);
  }
  const outcome: Outcome = {
    items: await itemsBefore(sql, records),
    replaced: new Set(),
    pending: new Map(),
    given: new Map(),
    relations: [],
    unrelated: new Set(),
  };
  const said = records.filter((record) => record.data !== null && record.operation !== "delete");
  for (const record of records) applyRecord(outcome, record);
  await sql.append(
    "knowledge_records",
    said.map((record) => [record.seq, record.id.toWellFormed()]),
  );
  await write(sql, outcome);
}

async function itemsBefore(sql: Sql, records: readonly JournalRecord[]): Promise<Map<string, Item | null>> {
  const ids = [...new Set(records.map((record) => record.id.toWellFormed()))];
  const rows = await sql.all<{
    item_row: number;
    id: string;
    variant: string;
    data: string;
    words: string | null;
    importance: number;
    created_ms: number;
    updated_ms: number;
  }>(`SELECT * FROM knowledge_items WHERE id IN ${textList}`, [JSON.stringify(ids)]);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        row: row.item_row,
        id: row.id,
        variant: row.variant,
        data: row.data,
        words: row.words,
        importance: row.importance,
        createdMs: row.created_ms,
        updatedMs: row.updated_ms,
      },
    ]),
  );
}

function applyRecord(outcome: Outcome, record: JournalRecord): void {
  const id = record.id.toWellFormed();
  const before = outcome.items.get(id) ?? null;
  if (record.operation === "delete") {
    if (before !== null) remove(outcome, before);
    return;
  }
  // The record was redacted since, or has a form that was never written. Either way it is ignored.
  if (!isJsonObject(record.data)) return;
  const said = record.data as Readonly<Record<string, JsonValue | undefined>>;
  if (!canBeStored(said["data"])) return;
  if (record.operation === "store") {
    if (typeof said["variant"] !== "string" || said["data"] === undefined) return;
    if (before !== null) remove(outcome, before);
    const item: Item = {
      row: record.seq,
      id,
      variant: "",
      data: "null",
      words: null,
      importance: defaultImportance,
      createdMs: record.writtenMs,
      updatedMs: record.writtenMs,
    };
    outcome.items.set(id, item);
    outcome.pending.set(item.row, record.seq);
    change(outcome, item, said, record);
    const relations = said["relations"];
    for (const relation of Array.isArray(relations) ? (relations as readonly JsonValue[]) : []) {
      relate(outcome, id, relation, record.seq);
    }
  } else if (record.operation === "update" && before !== null) {
    if (said["relate"] === undefined) change(outcome, before, said, record);
    else relate(outcome, id, said["relate"], record.seq);
  }
}

/** A journal from elsewhere may contain values that have no canonical form. */
function canBeStored(data: JsonValue | undefined): boolean {
  try {
    if (data !== undefined) storedJson(data);
    return true;
  } catch {
    return false;
  }
}

function change(
  outcome: Outcome,
  item: Item,
  said: Readonly<Record<string, JsonValue | undefined>>,
  record: JournalRecord,
): void {
  const { variant, data, text, importance } = said;
  const spokenBefore = item.words ?? item.data;
  if (typeof variant === "string") item.variant = variant.toWellFormed();
  if (data !== undefined) item.data = storedJson(data);
  if (typeof text === "string") item.words = text.toWellFormed();
  if (typeof importance === "number") item.importance = Math.min(1, Math.max(0, importance));
  item.updatedMs = record.writtenMs;
  outcome.replaced.add(item.row);
  if ((item.words ?? item.data) !== spokenBefore) outcome.pending.set(item.row, record.seq);
  const given = decodeGiven(said["embedding_f32"]);
  if (given !== null) outcome.given.set(item.row, given);
}

function relate(outcome: Outcome, from: string, relation: JsonValue | undefined, seq: number): void {
  if (!isJsonObject(relation)) return;
  const { to, relation: name } = relation;
  if (typeof to !== "string" || typeof name !== "string") return;
  outcome.relations.push({ from, to: to.toWellFormed(), relation: name.toWellFormed(), seq });
}

function remove(outcome: Outcome, item: Item): void {
  outcome.items.set(item.id, null);
  outcome.replaced.add(item.row);
  outcome.pending.delete(item.row);
  outcome.given.delete(item.row);
  outcome.unrelated.add(item.id);
  outcome.relations = outcome.relations.filter(({ from }) => from !== item.id);
}

async function write(sql: Sql, outcome: Outcome): Promise<void> {
  const { items, replaced, pending, given, relations, unrelated } = outcome;
  const living = new Map([...items.values()].flatMap((item) => (item === null ? [] : [[item.row, item]])));
  const gone = [...replaced].filter((row) => !living.has(row));
  if (replaced.size > 0) {
    await sql.run(`DELETE FROM knowledge_items WHERE item_row IN ${numberList}`, [
      JSON.stringify([...replaced]),
    ]);
  }
  await dropRows(sql, gone);
  if (pending.size > 0) {
    const rows = JSON.stringify([...pending.keys()]);
    await removeVectors(sql, `item_row IN ${numberList} AND NOT starts_with(space, 'given:')`, [rows]);
    await sql.run(`DELETE FROM knowledge_queue WHERE item_row IN ${numberList}`, [rows]);
  }
  if (given.size > 0) {
    const rows = JSON.stringify([...given.keys()]);
    await removeVectors(sql, `item_row IN ${numberList} AND starts_with(space, 'given:')`, [rows]);
  }
  if (unrelated.size > 0) {
    await sql.run(`DELETE FROM knowledge_relations WHERE from_id IN ${textList}`, [
      JSON.stringify([...unrelated]),
    ]);
  }
  await sql.append(
    "knowledge_items",
    [...living.values()]
      .filter((item) => replaced.has(item.row))
      .map((item) => [
        item.row,
        item.id,
        item.variant,
        item.data,
        item.words,
        item.importance,
        item.createdMs,
        item.updatedMs,
      ]),
  );
  await sql.append(
    "knowledge_queue",
    [...pending].map(([row, seq]) => [row, "pending", 0, 0, seq]),
  );
  await addVectors(
    sql,
    [...given].map(([itemRow, vector]): NewVector => ({ itemRow, space: givenSpace(vector.length), vector })),
  );
  await addRelations(sql, relations);
}

/** A relation that is stated twice is stored once. */
async function addRelations(sql: Sql, relations: Outcome["relations"]): Promise<void> {
  if (relations.length === 0) return;
  const unlike = new Map(
    relations.toReversed().map((each) => [JSON.stringify([each.from, each.to, each.relation]), each]),
  );
  await sql.run(
    `INSERT INTO knowledge_relations
     SELECT r.seq, r.from_id, r.to_id, r.relation
     FROM (SELECT unnest(from_json(?, '[{"seq":"BIGINT","from_id":"VARCHAR","to_id":"VARCHAR","relation":"VARCHAR"}]'), recursive := true)) r
     ANTI JOIN knowledge_relations k
       ON r.from_id = k.from_id AND r.to_id = k.to_id AND r.relation = k.relation
     ORDER BY r.seq`,
    [
      JSON.stringify(
        [...unlike.values()].map(({ seq, from, to, relation }) => ({
          seq,
          from_id: from,
          to_id: to,
          relation,
        })),
      ),
    ],
  );
}

async function dropRows(sql: Sql, rows: readonly number[]): Promise<void> {
  if (rows.length === 0) return;
  const list = JSON.stringify(rows);
  await removeVectors(sql, `item_row IN ${numberList}`, [list]);
  await sql.run(`DELETE FROM knowledge_queue WHERE item_row IN ${numberList}`, [list]);
  await sql.run(`DELETE FROM knowledge_accesses WHERE item_row IN ${numberList}`, [list]);
}

async function applyRedaction(sql: Sql, record: JournalRecord): Promise<void> {
  const ranges = (record.data as Redacted | null)?.seqs ?? [];
  if (ranges.length === 0) return;
  const list = [JSON.stringify(ranges.map(([first, last]) => ({ first, last })))];
  const within = (column: string): string =>
    `EXISTS (SELECT 1 FROM (SELECT unnest(from_json(?, '[{"first":"BIGINT","last":"BIGINT"}]'), recursive := true)) g
      WHERE ${column} BETWEEN g.first AND g.last)`;
  const items = await sql.all<{ item_row: number; id: string }>(
    `SELECT item_row, id FROM knowledge_items WHERE ${within("item_row")}`,
    list,
  );
  const rows = JSON.stringify(items.map(({ item_row }) => item_row));
  const ids = JSON.stringify(items.map(({ id }) => id));
  await sql.run(`DELETE FROM knowledge_items WHERE item_row IN ${numberList}`, [rows]);
  await sql.run(`DELETE FROM knowledge_relations WHERE from_id IN ${textList}`, [ids]);
  await dropRows(
    sql,
    items.map(({ item_row }) => item_row),
  );
  // A change of an existing item is forgotten. Only the journal knows the item's state before that change.
  const [half] = await sql.all(
    `SELECT 1 AS found FROM knowledge_records r WHERE ${within("r.seq")}
     AND r.id IN (SELECT id FROM knowledge_items) LIMIT 1`,
    list,
  );
  if (half !== undefined) throw new RebuildNeeded("a change of an item was redacted, and the item was not");
  await sql.run(`DELETE FROM knowledge_records WHERE ${within("seq")}`, list);
  // If an item was removed before it was forgotten, only the record shows that it was knowledge.
  if (record.kind === "knowledge" || items.length > 0) await beginLineage(sql);
}
