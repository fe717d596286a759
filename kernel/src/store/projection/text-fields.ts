import { randomHex } from "../../platform/random.ts";
import type { DatabaseSync } from "node:sqlite";
import { sha256Hex } from "../../platform/files/hash.ts";
import { fieldsAround } from "./data-texts.ts";

/** Columns of a full-text table. The first fields that occur get one each, the last column takes all others. */
export const textColumns = 16;
const rest = textColumns - 1;
/** Maximum levels of fields that are marked on the words in the last column: "a", "a.b", … */
const maxMarkedDepth = 16;
/** Maximum fields whose column is cached. */
const maxKnownFields = 10_000;
/** A private character, which occurs in no word. */
const mark = "\ue000";

interface FieldPlace {
  readonly column: number;
  /**
   * A prefix with which each word is indexed a second time, so that it is found by field; empty if the field has a
   * column of its own.
   */
  readonly marks: readonly string[];
}

/** Maps fields to columns. A field is stored as a salted digest, because its name may have to be forgotten. */
export class TextFields {
  readonly #database: DatabaseSync;
  readonly #salt: string;
  readonly #known = new Map<string, FieldPlace>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.exec(`
      CREATE TABLE IF NOT EXISTS fields (field TEXT NOT NULL, column INTEGER NOT NULL, PRIMARY KEY (field, column)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS field_salt (salt TEXT NOT NULL);
    `);
    const known = database.prepare("SELECT salt FROM field_salt").get();
    this.#salt = known === undefined ? randomHex(16) : String(known["salt"]);
    if (known === undefined) database.prepare("INSERT INTO field_salt VALUES (?)").run(this.#salt);
  }

  /** Returns the column for a field; gives it one of its own while any is free. */
  place(field: string | null): FieldPlace {
    if (field === null) return { column: rest, marks: [] };
    const known = this.#known.get(field);
    if (known !== undefined) return known;
    const place = this.#columnOf(field) ??
      this.#newColumn(field) ?? { column: rest, marks: this.#marksOf(field) };
    if (this.#known.size >= maxKnownFields) this.#known.clear();
    this.#known.set(field, place);
    return place;
  }

  /** Returns a full-text expression for a word in a field or beneath it. */
  expression(field: string, word: string): string {
    const columns = this.#database
      .prepare("SELECT column FROM fields WHERE field = ?")
      .all(this.#digest(field));
    const marked = `{c${rest}} : "${this.#markOf(field)}${word}"`;
    if (columns.length === 0) return `(${marked})`;
    return `({${columns.map(({ column }) => `c${Number(column)}`).join(" ")}} : "${word}" OR ${marked})`;
  }

  /** Discards what it cached during a transaction that was rolled back. */
  forget(): void {
    this.#known.clear();
  }

  #columnOf(field: string): FieldPlace | null {
    const row = this.#database
      .prepare("SELECT column FROM fields WHERE field = ?")
      .get(this.#digest(`=${field}`));
    return row === undefined ? null : { column: Number(row["column"]), marks: [] };
  }

  #newColumn(field: string): FieldPlace | null {
    const { next } = this.#database
      .prepare("SELECT ifnull(max(column) + 1, 0) AS next FROM fields")
      .get() as {
      next: number;
    };
    if (next >= rest) return null;
    const insert = this.#database.prepare("INSERT OR IGNORE INTO fields VALUES (?, ?)");
    insert.run(this.#digest(`=${field}`), next);
    for (const around of fieldsAround(field)) insert.run(this.#digest(around), next);
    return { column: next, marks: [] };
  }

  #marksOf(field: string): string[] {
    return [...fieldsAround(field)].slice(0, maxMarkedDepth).map((around) => this.#markOf(around));
  }

  #markOf(field: string): string {
    return `${mark}${this.#digest(field).slice(0, 16)}${mark}`;
  }

  #digest(field: string): string {
    return sha256Hex(`${this.#salt}${field}`).slice(0, 32);
  }
}
