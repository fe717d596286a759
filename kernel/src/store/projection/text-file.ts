import { existsSync, lstatSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { LaresError, messageOf, storageError } from "../../base/errors.ts";
import { breakSeal, sealDatabase } from "../../platform/database/database-seal.ts";
import type { TextKind } from "./port.ts";
import { textColumns } from "./text-fields.ts";

/**
 * Has to be increased when the content of the file changes, including words and terms (`words.ts`, `stems.ts`): older
 * files are rebuilt.
 */
const textVersion = 2;
/** Memory for SQLite's cache of the file. */
const cacheKiB = 16_384;
export const textKinds: readonly TextKind[] = ["temporal", "knowledge"];

/**
 * Opens or creates the file. Throws StorageError if it is of another version or was changed. Then it has to be removed
 * and rebuilt from the journal.
 */
export function openTextFile(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    const isNew = !existsSync(path);
    const isSealed = existsSync(`${path}.sum`);
    if (!isNew) checkPlace(path);
    database = new DatabaseSync(path);
    // One connection, so there is no shared memory beside the file. Deleted content is overwritten.
    database.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -${cacheKiB}`);
    if (isNew) create(database);
    else if (versionOf(database) !== textVersion) throw storageError(`"${path}" is of another version.`);
    else if (!isSealed) checkContent(database);
    for (const kind of textKinds) {
      database.exec(`CREATE VIRTUAL TABLE temp.${kind}_words USING fts5vocab(main, ${kind}, 'row')`);
    }
    // A log that a dead process left may still contain forgotten data.
    emptyLog(database);
    return database;
  } catch (error) {
    if (database?.isOpen === true) database.close();
    throw error instanceof LaresError
      ? error
      : storageError(`"${path}" cannot be opened: ${messageOf(error)}`, error);
  }
}

/**
 * Closes the file and writes its digest beside it; with the digest, the file is accepted without a check when it is
 * opened again.
 */
export function closeTextFile(database: DatabaseSync, path: string): void {
  database.close();
  if (!existsSync(`${path}-wal`)) sealDatabase(path);
}

/** Writes the log into the file and empties the log. */
export function emptyLog(database: DatabaseSync): void {
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

function create(database: DatabaseSync): void {
  const columns = [...Array.from({ length: textColumns }, (_, column) => `c${column}`), "terms"].join(", ");
  // The words come from `indexedWords`; "ascii" takes all else as it is. The table stores no content, which is in the
  // journal.
  for (const kind of textKinds) {
    database.exec(`
      CREATE VIRTUAL TABLE ${kind} USING fts5(${columns}, content = '', contentless_delete = 1, tokenize = 'ascii');
      INSERT INTO ${kind} (${kind}, rank) VALUES ('secure-delete', 1);
    `);
  }
  database.exec(`
    CREATE TABLE ids (id BLOB PRIMARY KEY, row INTEGER NOT NULL, has_own_text INTEGER NOT NULL, changed INTEGER) WITHOUT ROWID;
    CREATE INDEX ids_changed ON ids (changed) WHERE changed IS NOT NULL;
    CREATE TABLE places (row INTEGER PRIMARY KEY, source INTEGER NOT NULL, position REAL NOT NULL, at_ms INTEGER NOT NULL, terms INTEGER NOT NULL);
    CREATE INDEX places_order ON places (source, position);
    CREATE TABLE languages (language TEXT PRIMARY KEY, texts INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE watermark (seq INTEGER NOT NULL, hash TEXT NOT NULL, has_deleted INTEGER NOT NULL);
    INSERT INTO watermark VALUES (0, '${"0".repeat(64)}', 0);
    PRAGMA user_version = ${textVersion};
  `);
}

function checkPlace(path: string): void {
  if (!lstatSync(path).isFile()) throw storageError(`"${path}" is not a regular file.`);
  breakSeal(path);
}

const versionOf = (database: DatabaseSync): number =>
  Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);

/** Without a digest the file was not closed properly, so it is checked. */
export function checkContent(database: DatabaseSync): void {
  const found = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (found !== "ok") throw storageError(`The full text is damaged: ${String(found)}`);
  for (const kind of textKinds) database.exec(`INSERT INTO ${kind} (${kind}) VALUES ('integrity-check')`);
}
