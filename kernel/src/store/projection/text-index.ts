import type { DatabaseSync } from "node:sqlite";
import { invalidParams, messageOf, storageError } from "../../base/errors.ts";
import { isJsonObject, type JsonValue } from "../../base/json.ts";
import type { ChainEnd, Redacted } from "../../memory-contract/records.ts";
import { eachText } from "./data-texts.ts";
import type { JournalRecord, Neighbour, TextIndex, TextKind } from "./port.ts";
import { TextFields, textColumns } from "./text-fields.ts";
import { maxBestWords, type Scored, TextRanking } from "./text-ranking.ts";
import { closeTextFile, emptyLog, openTextFile, textKinds } from "./text-file.ts";
import { type Language, languageCodes } from "./languages.ts";
import { Places } from "./places.ts";
import { PreparedSql } from "./prepared-sql.ts";
import { indexedTerms, searchedTerms, termMark } from "./stems.ts";
import { differentWords, indexedWords, searchedWords } from "./words.ts";

/** Maximum different words of a query that all have to match. */
const maxSearchedWords = 256;
/** Maximum of a memory's languages in which a question is stemmed if its own language is not clear. */
const spokenLanguages = 2;

/** Opens `text.sqlite`; see `openTextFile`. */
export const openTextIndex = (path: string): TextIndex => new SqliteTextIndex(path, openTextFile(path));

class SqliteTextIndex implements TextIndex {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #fields: TextFields;
  readonly #sql: PreparedSql;
  readonly #places: Places;
  readonly #ranking: TextRanking;
  #watermark: ChainEnd;
  /** Number of texts of each language. It is a hint for questions, so deleted texts stay counted. */
  readonly #texts = new Map<Language, number>();
  readonly #uncounted = new Set<Language>();
  /** True if the index may still contain words of deleted rows. */
  #hasDeleted: boolean;

  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#database = database;
    this.#fields = new TextFields(database);
    this.#places = new Places(database);
    this.#sql = new PreparedSql(database);
    this.#ranking = new TextRanking(this.#sql, this.#places);
    for (const { language, texts } of this.#sql.rows("SELECT language, texts FROM languages")) {
      const known = languageCodes.find((code) => code === language);
      if (known !== undefined) this.#texts.set(known, Number(texts));
    }
    const { seq, hash, has_deleted } = this.#sql.row("SELECT seq, hash, has_deleted FROM watermark") ?? {};
    this.#watermark = { seq: Number(seq), hash: String(hash) };
    this.#hasDeleted = Number(has_deleted) === 1;
  }

  get watermark(): ChainEnd {
    return this.#watermark;
  }

  apply(records: readonly JournalRecord[], end: ChainEnd): void {
    this.#guarded(() => {
      this.#database.exec("BEGIN IMMEDIATE");
      let hasForgotten = false;
      let hasDeleted = this.#hasDeleted;
      try {
        for (const record of records) {
          if (record.operation === "redact")
            hasForgotten = this.#redact(record.data) || leavesWords(record, hasDeleted) || hasForgotten;
          else if (record.operation === "delete") hasDeleted = this.#delete(record) || hasDeleted;
          else this.#take(record);
        }
        if (hasForgotten) {
          // Deleting only marks a row; rewriting the index removes its words from the file.
          for (const kind of textKinds)
            this.#database.exec(`INSERT INTO ${kind} (${kind}) VALUES ('optimize')`);
          hasDeleted = false;
        }
        this.#writeCounts();
        this.#sql.run(
          "UPDATE watermark SET seq = ?, hash = ?, has_deleted = ?",
          end.seq,
          end.hash,
          hasDeleted ? 1 : 0,
        );
        this.#database.exec("COMMIT");
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
        this.#fields.forget();
        throw error;
      }
      this.#watermark = end;
      this.#hasDeleted = hasDeleted;
      if (hasForgotten) emptyLog(this.#database);
    });
  }

  best(kind: TextKind, words: string, options: Parameters<TextIndex["best"]>[2]): Scored[] {
    return this.#guarded(() => this.#ranking.best(kind, this.#terms(words), options));
  }

  neighbours(rows: readonly number[]): ReadonlyMap<number, readonly Neighbour[]> {
    return this.#guarded(() => this.#places.neighbours(rows));
  }

  unknownPart(kind: TextKind, words: string): number {
    return this.#guarded(() => this.#ranking.unknownPart(kind, this.#terms(words)));
  }

  matching(kind: TextKind, words: string, options: Parameters<TextIndex["matching"]>[2]): number[] {
    const { field, beforeRow = Number.MAX_SAFE_INTEGER, afterRow = 0, order = "newest", limit } = options;
    const expression = this.#expression(words, field);
    if (expression === "") return [];
    return this.#guarded(() =>
      this.#sql
        .rows(
          `SELECT rowid AS row FROM ${kind} WHERE ${kind} MATCH ? AND rowid > ? AND rowid < ? ORDER BY rowid ${
            order === "newest" ? "DESC" : "ASC"
          } LIMIT ?`,
          expression,
          afterRow,
          beforeRow,
          limit,
        )
        .map(({ row }) => Number(row)),
    );
  }

  count(kind: TextKind, words: string, options: Parameters<TextIndex["count"]>[2] = {}): number {
    const { field, atMost } = options;
    const expression = this.#expression(words, field);
    if (expression === "") return 0;
    return this.#guarded(() => {
      if (atMost !== undefined) return this.#ranking.countTo(kind, expression, atMost);
      const [word, ...others] = searchedWords(words);
      // The index knows in how many rows a word occurs, but not which of them were deleted.
      if (word !== undefined && others.length === 0 && field === undefined && !this.#hasDeleted) {
        return Number(this.#sql.row(`SELECT doc FROM temp.${kind}_words WHERE term = ?`, word)?.["doc"] ?? 0);
      }
      return Number(
        this.#sql.row(`SELECT count(*) AS n FROM ${kind} WHERE ${kind} MATCH ?`, expression)?.["n"],
      );
    });
  }

  rows(kind: TextKind, words: string, { field }: { readonly field?: string } = {}): string {
    const expression = this.#expression(words, field);
    if (expression === "") return "";
    return this.#guarded(() => {
      const found = this.#sql.row(
        `SELECT group_concat(rowid) AS rows FROM ${kind} WHERE ${kind} MATCH ?`,
        expression,
      );
      return typeof found?.["rows"] === "string" ? found["rows"] : "";
    });
  }

  close(): void {
    if (!this.#database.isOpen) return;
    this.#sql.clear();
    closeTextFile(this.#database, this.#path);
  }

  /**
   * Returns an expression that requires all words. Words contain no quotation marks. Empty if nothing is searched for.
   */
  #expression(words: string, field: string | undefined): string {
    const searched = searchedWords(words);
    if (searched.length > maxSearchedWords) {
      throw invalidParams(
        `The text to look for has ${searched.length} different words; at most ${maxSearchedWords} are allowed.`,
        { words: searched.length },
      );
    }
    return searched
      .map((word) => (field === undefined ? `"${word}"` : this.#fields.expression(field, word)))
      .join(" AND ");
  }

  /** The terms of a question, in the languages that most of the memory's texts have. */
  #terms(words: string): readonly (readonly string[])[] {
    const spoken = [...this.#texts]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, spokenLanguages)
      .map(([language]) => language);
    return searchedTerms(words, spoken).slice(0, maxBestWords);
  }

  /** Adds a stored or updated text. A redacted record has no data and nothing to be found by. */
  #take(record: JournalRecord): void {
    const { seq, kind, operation, id, data } = record;
    if ((kind !== "temporal" && kind !== "knowledge") || !isJsonObject(data)) return;
    const content = data["data"] ?? null;
    const text = typeof data["text"] === "string" ? data["text"] : null;
    if (operation === "store") {
      this.#places.add(kind, record, data);
      this.#index(kind, seq, content, kind === "knowledge" ? text : null);
      this.#sql.run(
        "INSERT OR REPLACE INTO ids VALUES (?, ?, ?, ?)",
        idBytes(id),
        seq,
        text === null ? 0 : 1,
        kind === "knowledge" ? seq : null,
      );
      return;
    }
    if (operation !== "update" || (text === null && data["data"] === undefined)) return;
    const known = this.#sql.row("SELECT row, has_own_text FROM ids WHERE id = ?", idBytes(id));
    if (known === undefined || (text === null && Number(known["has_own_text"]) === 1)) return;
    const row = Number(known["row"]);
    this.#drop(kind, row);
    this.#index(kind, row, content, text);
    this.#sql.run(
      "UPDATE ids SET has_own_text = ?, changed = ? WHERE id = ?",
      text === null ? 0 : 1,
      seq,
      idBytes(id),
    );
  }

  #index(kind: TextKind, row: number, data: JsonValue, ownText: string | null): void {
    const columns = Array.from<string>({ length: textColumns + 1 }).fill("");
    const add = (field: string | null, text: string): void => {
      const { terms, language } = indexedTerms(text);
      columns[textColumns] = `${columns[textColumns]} ${terms}`;
      if (language !== null) this.#count(language);
      const { column, marks } = this.#fields.place(field);
      const words = indexedWords(text);
      columns[column] = `${columns[column]} ${words}`;
      if (marks.length === 0) return;
      const marked = differentWords(words).flatMap((word) => marks.map((mark) => `${mark}${word}`));
      columns[column] = `${columns[column]} ${marked.join(" ")}`;
    };
    if (ownText === null) eachText(data, add);
    else add(null, ownText);
    this.#sql.run(insertInto[kind], row, ...columns);
    this.#places.measure(row, termsIn(columns[textColumns] ?? ""));
  }

  #count(language: Language): void {
    this.#texts.set(language, (this.#texts.get(language) ?? 0) + 1);
    this.#uncounted.add(language);
  }

  #writeCounts(): void {
    for (const language of this.#uncounted) {
      this.#sql.run(
        "INSERT OR REPLACE INTO languages VALUES (?, ?)",
        language,
        this.#texts.get(language) ?? 0,
      );
    }
    this.#uncounted.clear();
  }

  #delete({ kind, id }: JournalRecord): boolean {
    if (kind !== "temporal" && kind !== "knowledge") return false;
    const known = this.#sql.row("DELETE FROM ids WHERE id = ? RETURNING row", idBytes(id));
    if (known === undefined) return false;
    this.#drop(kind, Number(known["row"]));
    this.#places.remove(Number(known["row"]));
    return true;
  }

  #drop(kind: TextKind, row: number): void {
    this.#sql.run(`DELETE FROM ${kind} WHERE rowid = ?`, row);
  }

  /** Deletes the rows whose record, or the last record that changed their text, is redacted. Returns true if there were any. */
  #redact(data: JsonValue | null): boolean {
    const { seqs } = data as unknown as Redacted;
    let count = 0;
    this.#database.exec("CREATE TEMP TABLE gone (row INTEGER PRIMARY KEY)");
    try {
      for (const [first, last] of seqs) {
        for (const kind of textKinds) {
          this.#sql.run(
            `INSERT OR IGNORE INTO temp.gone SELECT id FROM ${kind}_docsize WHERE id BETWEEN ? AND ?`,
            first,
            last,
          );
        }
        this.#sql.run(
          "INSERT OR IGNORE INTO temp.gone SELECT row FROM ids WHERE changed BETWEEN ? AND ?",
          first,
          last,
        );
      }
      for (const { row } of this.#sql.rows("SELECT row FROM temp.gone")) {
        for (const kind of textKinds) this.#drop(kind, Number(row));
        this.#places.remove(Number(row));
        count++;
      }
      if (count > 0) this.#sql.run("DELETE FROM ids WHERE row IN temp.gone");
    } finally {
      this.#sql.clear();
      this.#database.exec("DROP TABLE temp.gone");
    }
    return count > 0;
  }

  #guarded<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw storageError(`"${this.#path}": ${messageOf(error)}`, error);
    }
  }
}

/**
 * Returns true if the index may still contain words of records that a redact record names, although none of its rows
 * belongs to them: those of items that were removed before they were forgotten.
 */
const leavesWords = ({ kind }: JournalRecord, hasDeleted: boolean): boolean =>
  kind === "knowledge" || (hasDeleted && kind !== "working");

/** One parameter for each mark in the text. */
const termsIn = (text: string): number => text.split(termMark).length - 1;

const columns = [...Array.from({ length: textColumns }, (_, column) => `c${column}`), "terms"];
const marksOfColumns = columns.map(() => "?").join(", ");
const columnNames = columns.join(", ");
const insertInto = {
  temporal: `INSERT INTO temporal (rowid, ${columnNames}) VALUES (?, ${marksOfColumns})`,
  knowledge: `INSERT INTO knowledge (rowid, ${columnNames}) VALUES (?, ${marksOfColumns})`,
} as const satisfies Record<TextKind, string>;

/** Returns the 16 bytes of a UUID; any other text as UTF-8, made longer than that. */
function idBytes(id: string): Uint8Array {
  return uuid.test(id) ? Buffer.from(id.replaceAll("-", ""), "hex") : Buffer.from(`${" ".repeat(16)}${id}`);
}
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
