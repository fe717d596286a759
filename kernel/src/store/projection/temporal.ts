import { isJsonObject, type JsonValue } from "../../base/json.ts";
import { createEventFields, EventFields } from "./event-fields.ts";
import type { JournalRecord, Sql, SqlValue, TableGroup } from "./port.ts";
import type { Redacted } from "../../memory-contract/records.ts";
import { askForPurge, createPurge } from "./purge.ts";
import { storedJson } from "./where.ts";

/** Maximum ranges or ids in one statement. */
const maxInStatement = 200;

/** The events: one row each, in order of appending, with `data` as `storedJson` and columns for some of its fields. */
export const temporalTables: TableGroup = {
  version: 1,

  async create(sql) {
    await sql.run(`
      CREATE TABLE events (
        row BIGINT NOT NULL, id VARCHAR NOT NULL, variant VARCHAR NOT NULL, timestamp_ms BIGINT NOT NULL, data VARCHAR NOT NULL
      );
    `);
    await createEventFields(sql);
    await createPurge(sql);
  },

  async apply(sql, records) {
    // Most batches of a memory that only has knowledge contain nothing for these tables.
    if (!records.some(({ kind, operation }) => kind === "temporal" || operation === "redact")) return;
    const events = new Map<number, StoredEvent>();
    const fields = await EventFields.load(sql);
    for (const record of records) {
      const event = storedEvent(record);
      if (event === null) continue;
      events.set(record.seq, event);
      fields.meet(event.data);
    }
    // Columns are added before rows, because a table that was appended to cannot be altered in the same transaction.
    await fields.prepare(sql);

    let rows: SqlValue[][] = [];
    let deleted: string[] = [];
    const append = async (): Promise<void> => {
      await sql.append("events", rows);
      rows = [];
    };
    const remove = async (): Promise<void> => {
      await append();
      await deleteIds(sql, deleted);
      deleted = [];
    };
    for (const record of records) {
      const event = events.get(record.seq);
      if (event !== undefined) {
        const { id, variant, timestampMs, data } = event;
        rows.push([record.seq, id, variant, timestampMs, storedJson(data), ...fields.values(data)]);
      } else if (record.operation === "delete" && record.kind === "temporal") {
        deleted.push(record.id);
      } else if (record.operation === "redact") {
        await append();
        await redact(sql, record.data);
      }
    }
    await remove();
  },
};

interface StoredEvent {
  readonly id: string;
  readonly variant: string;
  readonly timestampMs: number;
  readonly data: JsonValue;
}

function storedEvent({ kind, operation, id, data }: JournalRecord): StoredEvent | null {
  if (kind !== "temporal" || operation !== "store" || !isJsonObject(data)) return null;
  const { timestamp, variant } = data;
  if (typeof timestamp !== "string" || typeof variant !== "string") return null;
  const timestampMs = Date.parse(timestamp);
  // An event without a valid time is not stored, because no query could find it.
  return Number.isNaN(timestampMs) ? null : { id, variant, timestampMs, data: data["data"] ?? null };
}

async function deleteIds(sql: Sql, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += maxInStatement) {
    const some = ids.slice(at, at + maxInStatement);
    await sql.run(`DELETE FROM events WHERE id IN (${some.map(() => "?").join(", ")})`, some);
  }
}

async function redact(sql: Sql, data: JsonValue | null): Promise<void> {
  const { seqs } = data as unknown as Redacted;
  for (let at = 0; at < seqs.length; at += maxInStatement) {
    const some = seqs.slice(at, at + maxInStatement);
    await sql.run(
      `DELETE FROM events WHERE ${some.map(() => "row BETWEEN ? AND ?").join(" OR ")}`,
      some.flat(),
    );
  }
  await askForPurge(sql);
}
