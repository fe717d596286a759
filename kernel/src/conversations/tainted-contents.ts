import type { Hash } from "../base/vocabulary/common.ts";
import { canonicalJson } from "../base/json.ts";
import type { Database } from "../platform/database/database.ts";
import { sha256 } from "../platform/files/hash.ts";
import { type MovedFolder, type PlacePorts, UntrustedPlaces } from "./untrusted-places.ts";

/** A content that a process wrote after it had read text that nobody vouches for. */
export interface TaintedContent {
  readonly path: string;
  readonly hash: Hash;
  readonly sources: readonly string[];
}

/** Everything that an action marks as untrusted. */
export interface TaintMarks {
  readonly contents: readonly TaintedContent[];
  readonly folders: readonly MovedFolder[];
}

/** A file whose name or content is shown. */
interface TaintedFile {
  readonly path: string;
  /** The hash of the content that was read: no other content of the file was shown. */
  readonly read?: string;
  /** The hash that the index had for it before it was read. */
  readonly listed?: string | null;
}

interface TaintPorts extends PlacePorts {
  /** Returns the content's hash of a file as the index knows it now. */
  contentOf(path: string): string | null;
}

/** The maximum number of committed contents that are remembered per path. Beyond it, the path itself is distrusted. */
const maxPerPath = 1_000;

const trusting: TaintPorts = {
  isUntrusted: () => false,
  mayHoldUntrusted: () => false,
  fold: (path) => path,
  contentOf: () => null,
};

/**
 * Remembers which contents of files came from text that nobody vouches for, whether or not a person approved them. An
 * action's contents are marked before it is made, and the marks go if it is not made. So proposals, however many, never
 * displace the mark of something that is in a file.
 */
export class TaintedContents {
  readonly #database: Database;
  readonly #ports: TaintPorts;
  readonly #places: UntrustedPlaces;
  /** Null before it was looked up. Most workspaces have none, and every read of a file asks. */
  #isEmpty: boolean | null = null;

  constructor(database: Database, ports: TaintPorts = trusting) {
    this.#database = database;
    this.#ports = ports;
    this.#places = new UntrustedPlaces(database, ports);
  }

  /** Marks what an action would leave. Resolves when the operating system has it. */
  async propose(action: string, { contents, folders }: TaintMarks): Promise<void> {
    const told = await this.#places.telling(folders);
    if (contents.length === 0 && told.length === 0) return;
    this.#isEmpty = false;
    await this.#database.batch([
      ...contents.map(({ path, hash, sources }) => ({
        sql: "INSERT OR REPLACE INTO conversation_proposed_taints (action, path, hash, sources) VALUES (?, ?, ?, ?)",
        params: [action, path, hash, JSON.stringify(sources)],
      })),
      ...this.#places.adding(told, action),
    ]);
  }

  /** Marks what an action has left. Resolves when the operating system has it. */
  async keep(action: string, { contents, folders }: TaintMarks): Promise<void> {
    const told = await this.#places.telling(folders);
    if (contents.length === 0 && told.length === 0 && (await this.#hasNone())) return;
    const promoted = await this.#database.query<{ readonly path: string }>(
      "SELECT DISTINCT path FROM conversation_proposed_taints WHERE action = ?",
      [action],
    );
    this.#isEmpty = false;
    const paths = new Set([...contents, ...promoted].map(({ path }) => path));
    await this.#database.batch([
      ...contents.map(({ path, hash, sources }) => ({
        sql: "INSERT OR REPLACE INTO conversation_taints (path, hash, sources) VALUES (?, ?, ?)",
        params: [path, hash, JSON.stringify(sources)],
      })),
      {
        sql: `INSERT OR REPLACE INTO conversation_taints (path, hash, sources)
                SELECT path, hash, sources FROM conversation_proposed_taints WHERE action = ?`,
        params: [action],
      },
      { sql: "DELETE FROM conversation_proposed_taints WHERE action = ?", params: [action] },
      ...[...paths].flatMap((path) => this.#bounding(path)),
      ...this.#places.keeping(action),
      ...this.#places.adding(told, null),
    ]);
  }

  /** Forgets what an action would have left, because it was not made. */
  async drop(action: string): Promise<void> {
    if (await this.#hasNone()) return;
    await this.#database.batch([
      { sql: "DELETE FROM conversation_proposed_taints WHERE action = ?", params: [action] },
      ...this.#places.dropping(action),
    ]);
  }

  /** Returns the actions whose marks go if they are not made. */
  async proposed(): Promise<readonly string[]> {
    const rows = await this.#database.query<{ readonly action: string }>(
      `SELECT action FROM conversation_proposed_taints
         UNION SELECT action FROM conversation_places WHERE action <> ''`,
    );
    return rows.map(({ action }) => action);
  }

  /**
   * Returns the sources of names and contents of files: of their places, which a person declared or folders were moved
   * from, and of what they hold.
   */
  async ofFiles(
    files: readonly TaintedFile[],
  ): Promise<{ readonly places: readonly string[]; readonly contents: readonly string[] }> {
    const whole = files.filter(({ read }) => read !== undefined);
    // Names and lines of several files may come from what stood at their paths before, or from contents that were moved
    // or copied there.
    const others = files.filter(({ read }) => read === undefined);
    const { sources: places } = await this.#places.of(files.map(({ path }) => path));
    const { before } = await this.#places.of(others.map(({ path }) => path));
    const hashes = others.flatMap(({ path, listed }) =>
      [listed ?? [], this.#ports.contentOf(path) ?? []].flat(),
    );
    const contents = await this.ofContents([...whole.flatMap(({ read = [] }) => read), ...hashes]);
    const atPaths = await this.ofPaths([...others.map(({ path }) => path), ...before]);
    return { places, contents: [...new Set([...contents, ...atPaths])] };
  }

  /** Returns the sources of files by their places alone. */
  async ofPlaces(paths: readonly string[]): Promise<readonly string[]> {
    return (await this.#places.of(paths)).sources;
  }

  /** Returns the sources of contents, wherever they are now; none if they are not tainted. */
  async ofContents(hashes: readonly string[]): Promise<readonly string[]> {
    if (hashes.length === 0 || (await this.#hasNone())) return [];
    return await this.#sources("hash IN (SELECT value FROM json_each(?1))", JSON.stringify(hashes));
  }

  /**
   * Returns the sources of tags, fields and sidecars, which are known by their values, wherever they are now. Values
   * without a text have none. `values` is called only if anything is tainted.
   */
  async ofValues(values: () => readonly unknown[]): Promise<readonly string[]> {
    if (await this.#hasNone()) return [];
    const texts = new Set(values().flatMap((value) => (isWithoutText(value) ? [] : [canonicalJson(value)])));
    return await this.ofContents([...texts].map((text) => sha256(text)));
  }

  async #hasNone(): Promise<boolean> {
    if (this.#isEmpty === null) {
      const [any] = await this.#database.query(
        `SELECT 1 FROM conversation_taints UNION ALL SELECT 1 FROM conversation_proposed_taints
           UNION ALL SELECT 1 FROM conversation_places LIMIT 1`,
        [],
      );
      // Something may have been added meanwhile.
      this.#isEmpty ??= any === undefined;
    }
    return this.#isEmpty;
  }

  /** Returns the sources of what was ever written at one of these paths, or would be if a person approved it. */
  async ofPaths(paths: readonly string[]): Promise<readonly string[]> {
    if (paths.length === 0 || (await this.#hasNone())) return [];
    return await this.#sources("path IN (SELECT value FROM json_each(?1))", JSON.stringify(paths));
  }

  /** A mark that goes may be that of a content which is still somewhere: from then on the whole path is distrusted. */
  #bounding(path: string) {
    const kept = `SELECT hash FROM conversation_taints WHERE path = ?1 ORDER BY added DESC LIMIT ${maxPerPath}`;
    return [
      this.#places.distrusting(
        path,
        `SELECT sources FROM conversation_taints WHERE path = ?2 AND hash NOT IN (${kept.replace("?1", "?2")}) LIMIT 1`,
        [path],
      ),
      { sql: `DELETE FROM conversation_taints WHERE path = ?1 AND hash NOT IN (${kept})`, params: [path] },
    ];
  }

  async #sources(where: string, param: string): Promise<readonly string[]> {
    const rows = await this.#database.query<{ readonly sources: string }>(
      `SELECT sources FROM conversation_taints WHERE ${where}
         UNION SELECT sources FROM conversation_proposed_taints WHERE ${where} LIMIT 100`,
      [param],
    );
    return [...new Set(rows.flatMap(({ sources }) => JSON.parse(sources) as string[]))];
  }
}

function isWithoutText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "number" || typeof value === "boolean";
}
