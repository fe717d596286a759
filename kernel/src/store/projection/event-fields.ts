import { randomHex } from "../../platform/random.ts";
import { isJsonObject, type JsonValue } from "../../base/json.ts";
import { sha256Hex } from "../../platform/files/hash.ts";
import type { Where } from "../../memory-contract/queries.ts";
import type { Sql, SqlValue } from "./port.ts";
import { checkedConditions, type Condition } from "../../memory-contract/conditions.ts";
import { conditionSql, type SqlCondition } from "./where.ts";

/*
 * DuckDB reads a typed column of a million events in a few milliseconds, and parses a million JSON texts in a quarter
 * of a second. So the first fields that occur with a plain value get columns of their own beside `data`: `text_<n>` for
 * texts, booleans and null, `number_<n>` for numbers, each created when it is first needed. A condition on such a field
 * reads `data` only in rows in which the column is marked as incomplete.
 */

/** Maximum fields with columns of their own. */
const maxColumnFields = 32;
/** Maximum keys in the paths of such fields. */
const maxDepth = 4;
/** Maximum bytes of a text in a column. */
const maxTextBytes = 256;
/**
 * Maximum fields that first occurred with an array, an object or a long text. They are remembered, so that they never
 * get a column.
 */
const maxOtherFields = 256;

/** The content of `text_<n>`: a text behind a quotation mark, which sorts before all others; or one of these. */
const literals = { true: "t", false: "f", null: "n" } as const;
const textMark = '"';
const afterTexts = "#";
const elsewhere = "~";

/** How a field is stored. Its name is a salted digest, because a name may have to be forgotten. */
interface ColumnField {
  readonly name: string;
  /** Null for a field without columns. */
  readonly number: number | null;
  hasText: boolean;
  hasNumber: boolean;
  /** True if no value of the field is only in `data`. */
  isWhole: boolean;
}

export async function createEventFields(sql: Sql): Promise<void> {
  await sql.run(`
    CREATE TABLE event_fields (
      name VARCHAR NOT NULL, number INTEGER, has_text BOOLEAN NOT NULL, has_number BOOLEAN NOT NULL, is_whole BOOLEAN NOT NULL
    );
    CREATE TABLE event_field_salt (salt VARCHAR NOT NULL);
  `);
  await sql.run("INSERT INTO event_field_salt VALUES (?)", [randomHex(16)]);
}

/** The fields of one file. */
export class EventFields {
  readonly #salt: string;
  readonly #fields: Map<string, ColumnField>;
  readonly #byPath = new Map<string, ColumnField | null>();
  readonly #changed = new Set<ColumnField>();
  /** The columns after the fixed ones, in the table's order. */
  readonly #columns: string[];

  private constructor(salt: string, fields: readonly ColumnField[], columns: string[]) {
    this.#salt = salt;
    this.#fields = new Map(fields.map((field) => [field.name, field]));
    this.#columns = columns;
  }

  static async load(sql: Sql): Promise<EventFields> {
    const [row] = await sql.all<{ salt: string }>("SELECT salt FROM event_field_salt");
    const fields = await sql.all<ColumnField>(
      `SELECT name, number, has_text AS "hasText", has_number AS "hasNumber", is_whole AS "isWhole" FROM event_fields`,
    );
    const columns = await sql.all<{ name: string }>(
      `SELECT column_name AS name FROM duckdb_columns() WHERE database_name = current_database()
       AND table_name = 'events' AND column_index > 5 ORDER BY column_index`,
    );
    return new EventFields(
      row?.salt ?? "",
      fields,
      columns.map(({ name }) => name),
    );
  }

  /** Registers the fields of an event; `prepare` then creates columns for them. */
  meet(data: JsonValue): void {
    eachField(data, (path, value) => {
      let field = this.#of(path);
      const place = placeOf(value);
      if (field === null) {
        field = this.#begin(path, place);
        if (field === null) return;
      }
      if (field.number === null) return;
      if (place === "number" ? !field.hasNumber : !field.hasText) {
        if (place === "number") field.hasNumber = true;
        else field.hasText = true;
        this.#changed.add(field);
      }
      if (place === "elsewhere" && field.isWhole) {
        field.isWhole = false;
        this.#changed.add(field);
      }
    });
  }

  /** Creates missing columns and stores new fields. */
  async prepare(sql: Sql): Promise<void> {
    for (const { name, number, hasText, hasNumber, isWhole } of this.#changed) {
      await sql.run("DELETE FROM event_fields WHERE name = ?", [name]);
      await sql.run("INSERT INTO event_fields VALUES (?, ?, ?, ?, ?)", [
        name,
        number,
        hasText,
        hasNumber,
        isWhole,
      ]);
      if (number === null) continue;
      if (hasText) await this.#addColumn(sql, `text_${number}`, "VARCHAR");
      if (hasNumber) await this.#addColumn(sql, `number_${number}`, "DOUBLE");
    }
    this.#changed.clear();
  }

  /** Returns an event's values for these columns, after `meet` and `prepare`. */
  values(data: JsonValue): SqlValue[] {
    const values = new Map<string, SqlValue>();
    eachField(data, (path, value) => {
      const field = this.#of(path);
      if (field === null || field.number === null) return;
      if (typeof value === "number") values.set(`number_${field.number}`, value);
      else values.set(`text_${field.number}`, held(value) ?? elsewhere);
    });
    return this.#columns.map((column) => values.get(column) ?? null);
  }

  /** Returns the conditions as SQL over the table `events`. Throws InvalidParams that names what would be valid. */
  where(where: readonly Where[]): SqlCondition[] {
    return checkedConditions(where).map((condition) => {
      const path = condition.path.join(".");
      const field = this.#fields.get(this.#nameOf(path));
      return field === undefined || field.number === null
        ? conditionSql(condition, "data")
        : columnSql(condition, field);
    });
  }

  #of(path: string): ColumnField | null {
    let field = this.#byPath.get(path);
    if (field === undefined) {
      field = this.#fields.get(this.#nameOf(path)) ?? null;
      this.#byPath.set(path, field);
    }
    return field;
  }

  /** Registers a field that occurs for the first time. */
  #begin(path: string, place: "text" | "number" | "elsewhere"): ColumnField | null {
    const withColumns = [...this.#fields.values()].filter(({ number }) => number !== null).length;
    const isPlain = place !== "elsewhere";
    // When a field can no longer be remembered, no field gets a column any more: it might occur in earlier events
    // outside its column.
    if (this.#fields.size - withColumns >= maxOtherFields || (isPlain && withColumns >= maxColumnFields))
      return null;
    const field: ColumnField = {
      name: this.#nameOf(path),
      number: isPlain ? withColumns : null,
      hasText: false,
      hasNumber: false,
      isWhole: true,
    };
    this.#fields.set(field.name, field);
    this.#byPath.set(path, field);
    this.#changed.add(field);
    return field;
  }

  async #addColumn(sql: Sql, column: string, type: string): Promise<void> {
    if (this.#columns.includes(column)) return;
    await sql.run(`ALTER TABLE events ADD COLUMN ${column} ${type}`);
    this.#columns.push(column);
  }

  #nameOf(path: string): string {
    return sha256Hex(`${this.#salt}${path}`).slice(0, 32);
  }
}

/**
 * Calls `visit` for values, to a depth, beneath keys that a path can contain and that cannot be an array index. An
 * object is visited before its members.
 */
function eachField(
  data: JsonValue,
  visit: (path: string, value: JsonValue) => void,
  around = "",
  depth = 1,
): void {
  if (!isJsonObject(data)) return;
  for (const [key, value] of Object.entries(data) as [string, JsonValue][]) {
    if (key === "" || key.includes(".") || /^\d/.test(key)) continue;
    const path = around === "" ? key : `${around}.${key}`;
    visit(path, value);
    if (depth < maxDepth) eachField(value, visit, path, depth + 1);
  }
}

function placeOf(value: JsonValue): "text" | "number" | "elsewhere" {
  if (typeof value === "number") return "number";
  return held(value) === null ? "elsewhere" : "text";
}

/** Returns the content of the text column for a value that fits into it. */
function held(value: JsonValue): string | null {
  if (value === null) return literals.null;
  if (typeof value === "boolean") return value ? literals.true : literals.false;
  if (typeof value !== "string") return null;
  return value.length * 3 <= maxTextBytes || Buffer.byteLength(value) <= maxTextBytes
    ? `${textMark}${value}`
    : null;
}

function columnSql(condition: Condition, field: ColumnField): SqlCondition {
  switch (condition.op) {
    case "eq":
      return anyOf(field, [condition.value], condition);
    case "ne": {
      const { sql, params } = anyOf(field, [condition.value], { ...condition, op: "eq" });
      return { sql: `NOT (${sql})`, params };
    }
    case "in":
      return anyOf(field, condition.values, condition);
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      const sign = { gt: ">", gte: ">=", lt: "<", lte: "<=" }[condition.op];
      if (typeof condition.value === "number") {
        return {
          sql: field.hasNumber
            ? `coalesce(number_${field.number} ${sign} CAST(? AS DOUBLE), false)`
            : "false",
          params: field.hasNumber ? [condition.value] : [],
        };
      }
      if (!field.hasText) return { sql: "false", params: [] };
      const column = `text_${field.number}`;
      const inColumn = {
        sql: `coalesce(${column} ${sign} ? AND ${column} < '${afterTexts}', false)`,
        params: [`${textMark}${condition.value}`],
      };
      return alsoElsewhere(inColumn, condition, field);
    }
    case "contains":
    case "near":
      // Arrays, objects and long texts are in `data` only.
      return conditionSql(condition, "data");
  }
}

/** A condition that the field equals one of the values. */
function anyOf(field: ColumnField, values: readonly JsonValue[], condition: Condition): SqlCondition {
  const numbers = field.hasNumber ? values.filter((value) => typeof value === "number") : [];
  const texts = field.hasText ? values.map(held).filter((text) => text !== null) : [];
  const parts: SqlCondition[] = [];
  if (numbers.length > 0) {
    parts.push({
      sql: `coalesce(number_${field.number} IN (${numbers.map(() => "CAST(? AS DOUBLE)").join(", ")}), false)`,
      params: numbers,
    });
  }
  if (texts.length > 0) {
    parts.push({
      sql: `coalesce(text_${field.number} IN (${texts.map(() => "?").join(", ")}), false)`,
      params: texts,
    });
  }
  const inColumns = {
    sql: parts.length === 0 ? "false" : parts.map(({ sql }) => sql).join(" OR "),
    params: parts.flatMap(({ params }) => params),
  };
  const isAllHeld = values.every((value) => placeOf(value) !== "elsewhere");
  return isAllHeld ? inColumns : alsoElsewhere(inColumns, condition, field);
}

function alsoElsewhere(inColumn: SqlCondition, condition: Condition, field: ColumnField): SqlCondition {
  if (field.isWhole) return inColumn;
  const inData = conditionSql(condition, "data");
  return {
    sql: `${inColumn.sql} OR (coalesce(text_${field.number} = '${elsewhere}', false) AND ${inData.sql})`,
    params: [...inColumn.params, ...inData.params],
  };
}
