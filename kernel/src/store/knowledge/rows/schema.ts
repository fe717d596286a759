import type { Sql, SqlValue } from "../../projection/port.ts";

/** One memory's DuckDB file, for parts that also write outside projection. */
export interface Database extends Sql {
  /** Runs the work in one transaction, with the given `Sql` only. Other statements wait. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
}

/**
 * Has to be increased when the tables or the meaning of their bytes change: files of another version are
 * rebuilt.
 */
export const knowledgeTablesVersion = 2;

/**
 * Creates the tables of knowledge, with indexes for look-ups of a few rows: reading ten of 100,000 items
 * takes 2 ms with an index and 25 ms without. None is unique, because DuckDB refuses to rewrite a row of a
 * unique index in one transaction.
 */
export async function createKnowledgeTables(sql: Sql): Promise<void> {
  await sql.run(
    `CREATE TABLE knowledge_items (item_row BIGINT, id VARCHAR, variant VARCHAR, data VARCHAR, words VARCHAR,
       importance DOUBLE, created_ms BIGINT, updated_ms BIGINT)`,
  );
  /** Each relation once; its target need not exist. `seq` is that of the first record that stated it. */
  await sql.run(
    "CREATE TABLE knowledge_relations (seq BIGINT, from_id VARCHAR, to_id VARCHAR, relation VARCHAR)",
  );
  await sql.run(
    `CREATE INDEX knowledge_items_by_row ON knowledge_items (item_row);
     CREATE INDEX knowledge_items_by_id ON knowledge_items (id);
     CREATE INDEX knowledge_relations_from ON knowledge_relations (from_id);
     CREATE INDEX knowledge_relations_to ON knowledge_relations (to_id);`,
  );
  /** Every record about an id, also of removed items: forgetting has to name them all. */
  await sql.run("CREATE TABLE knowledge_records (seq BIGINT, id VARCHAR)");
  /** How often an item was found. Counted only here, so a rebuild resets it. */
  await sql.run("CREATE TABLE knowledge_accesses (item_row BIGINT, accesses BIGINT, last_ms BIGINT)");
  /**
   * Items whose text has no vector: "pending", "failed" until the next start, or "evicted" because of
   * `maxVectors`.
   */
  await sql.run(
    `CREATE TABLE knowledge_queue (item_row BIGINT, state VARCHAR, attempts BIGINT, next_ms BIGINT, said_seq BIGINT)`,
  );
  /** `label` is the vector's position in the order of changes; indexes know the vector by it. */
  await sql.run(
    "CREATE TABLE knowledge_vectors (label BIGINT, item_row BIGINT, space VARCHAR, tier VARCHAR, bytes BLOB)",
  );
  /** Labels of removed vectors that saved indexes may still contain. */
  await sql.run("CREATE TABLE knowledge_vectors_gone (position BIGINT, label BIGINT)");
  /** What an embedder has learned from the texts here, by space. */
  await sql.run("CREATE TABLE knowledge_learned (space VARCHAR, bytes BLOB)");
  await sql.run("CREATE TABLE knowledge_facts (name VARCHAR, value VARCHAR)");
  await sql.run("INSERT INTO knowledge_facts VALUES ('position', '0')");
  await beginLineage(sql);
}

/**
 * Starts a new lineage: a saved index that was made from other tables, or that contains forgotten data, must
 * not be accepted for these tables.
 */
export async function beginLineage(sql: Sql): Promise<void> {
  await sql.run("DELETE FROM knowledge_facts WHERE name = 'lineage'");
  await sql.run("INSERT INTO knowledge_facts SELECT 'lineage', CAST(gen_random_uuid() AS VARCHAR)");
}

/** Returns the number of changes of vectors, and the lineage of the indexes that are accepted. */
export async function readChanges(sql: Sql): Promise<{ position: number; lineage: string }> {
  const facts = await sql.all<{ name: string; value: string }>(
    "SELECT name, value FROM knowledge_facts WHERE name IN ('position', 'lineage')",
  );
  const values = new Map(facts.map(({ name, value }) => [name, value]));
  return { position: Number(values.get("position")), lineage: values.get("lineage") ?? "" };
}

export async function readFact(sql: Sql, name: string): Promise<string | null> {
  const [fact] = await sql.all<{ value: string }>("SELECT value FROM knowledge_facts WHERE name = ?", [name]);
  return fact?.value ?? null;
}

export async function writeFact(sql: Sql, name: string, value: string): Promise<void> {
  await sql.run("DELETE FROM knowledge_facts WHERE name = ?", [name]);
  await sql.append("knowledge_facts", [[name, value]]);
}

/**
 * Reserves `count` positions in the order of changes and returns the first. Has to run within a transaction.
 */
async function takePositions(sql: Sql, count: number): Promise<number> {
  const first = Number(await readFact(sql, "position")) + 1;
  await writeFact(sql, "position", String(first + count - 1));
  return first;
}

export interface NewVector {
  readonly itemRow: number;
  readonly space: string;
  readonly vector: Float32Array;
}

/** Adds vectors, as hot ones. Has to run within a transaction. */
export async function addVectors(sql: Sql, vectors: readonly NewVector[]): Promise<void> {
  if (vectors.length === 0) return;
  const first = await takePositions(sql, vectors.length);
  await sql.append(
    "knowledge_vectors",
    vectors.map(({ itemRow, space, vector }, index): SqlValue[] => [
      first + index,
      itemRow,
      space,
      "hot",
      bytesOf(vector),
    ]),
  );
}

/**
 * Removes the vectors that match a condition over knowledge_vectors, and records their labels for the
 * indexes.
 */
export async function removeVectors(sql: Sql, condition: string, params: readonly SqlValue[]): Promise<void> {
  const labels = await sql.all<{ label: number }>(
    `SELECT label FROM knowledge_vectors WHERE ${condition}`,
    params,
  );
  if (labels.length === 0) return;
  const first = await takePositions(sql, labels.length);
  await sql.append(
    "knowledge_vectors_gone",
    labels.map(({ label }, index) => [first + index, label]),
  );
  await sql.run(`DELETE FROM knowledge_vectors WHERE ${condition}`, params);
}

const bytesOf = (vector: Float32Array): Uint8Array =>
  new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);

/**
 * A list of texts as one parameter: `WHERE id IN ${textList}` with `JSON.stringify(…)` of well-formed
 * strings.
 */
export const textList = `(SELECT unnest(from_json(?, '["VARCHAR"]')))`;
/** The same for whole numbers. */
export const numberList = `(SELECT unnest(from_json(?, '["BIGINT"]')))`;
