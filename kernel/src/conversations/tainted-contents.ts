import type { Hash } from "../base/vocabulary/common.ts";
import { canonicalJson } from "../base/json.ts";
import type { Database } from "../platform/database/database.ts";
import { sha256 } from "../platform/files/hash.ts";

/** A content that a process wrote after it had read text that nobody vouches for. */
export interface TaintedContent {
  readonly path: string;
  readonly hash: Hash;
  readonly sources: readonly string[];
}

/** Contents that are kept in mind, per path: the last ones. */
const maxPerPath = 64;

/** Remembers which contents of files came from text that nobody vouches for, whether or not a person approved them. */
export class TaintedContents {
  readonly #database: Database;
  /** Null before it was looked up. Most workspaces have none, and every read of a file asks. */
  #isEmpty: boolean | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Resolves when the operating system has it. */
  async add(contents: readonly TaintedContent[]): Promise<void> {
    if (contents.length === 0) return;
    this.#isEmpty = false;
    await this.#database.batch(
      contents.flatMap(({ path, hash, sources }) => [
        {
          sql: "INSERT OR REPLACE INTO conversation_taints (path, hash, sources) VALUES (?, ?, ?)",
          params: [path, hash, JSON.stringify(sources)],
        },
        {
          sql: `DELETE FROM conversation_taints WHERE path = ?1 AND hash NOT IN
                  (SELECT hash FROM conversation_taints WHERE path = ?1 ORDER BY added DESC LIMIT ${maxPerPath})`,
          params: [path],
        },
      ]),
    );
  }

  /** Returns the sources of contents, wherever they are now; none if they are not tainted. */
  async ofContents(hashes: readonly string[]): Promise<readonly string[]> {
    if (hashes.length === 0 || this.#isEmpty === true || (await this.#hasNone())) return [];
    return await this.#sources("hash IN (SELECT value FROM json_each(?))", JSON.stringify(hashes));
  }

  /**
   * Returns the sources of tags, fields and sidecars, which are known by their values, wherever they are now. Values
   * without a text have none. `values` is called only if anything is tainted.
   */
  async ofValues(values: () => readonly unknown[]): Promise<readonly string[]> {
    if (this.#isEmpty === true || (await this.#hasNone())) return [];
    const texts = new Set(values().flatMap((value) => (isWithoutText(value) ? [] : [canonicalJson(value)])));
    return await this.ofContents([...texts].map((text) => sha256(text)));
  }

  async #hasNone(): Promise<boolean> {
    if (this.#isEmpty === null) {
      const [any] = await this.#database.query("SELECT 1 FROM conversation_taints LIMIT 1", []);
      // Something may have been added meanwhile.
      this.#isEmpty ??= any === undefined;
    }
    return this.#isEmpty;
  }

  /** Returns the sources of what was ever written at one of these paths. */
  async ofPaths(paths: readonly string[]): Promise<readonly string[]> {
    if (paths.length === 0) return [];
    return await this.#sources("path IN (SELECT value FROM json_each(?))", JSON.stringify(paths));
  }

  async #sources(where: string, param: string): Promise<readonly string[]> {
    const rows = await this.#database.query<{ readonly sources: string }>(
      `SELECT DISTINCT sources FROM conversation_taints WHERE ${where} LIMIT 100`,
      [param],
    );
    return [...new Set(rows.flatMap(({ sources }) => JSON.parse(sources) as string[]))];
  }
}

function isWithoutText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "number" || typeof value === "boolean";
}
