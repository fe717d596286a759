import type { Database, Statement } from "../platform/database/database.ts";

/** A folder that was moved, and where it was before. */
export interface MovedFolder {
  readonly path: string;
  readonly from: string;
}

export interface PlacePorts {
  /** Returns whether nobody vouches for the file at a path, by what a person declared about paths. */
  isUntrusted(path: string): boolean;
  /** Returns whether that may be so for anything in a folder. */
  mayHoldUntrusted(folder: string): boolean;
  /** Returns the path in a form that all spellings have which some file system takes for it. */
  fold(path: string): string;
}

/** The maximum number of rows about folders, and of paths followed in one lookup. */
const most = { rows: 10_000, paths: 20_000 };

/**
 * Maps paths to the paths they had before folders were moved. Everything in a folder that was moved out of an untrusted
 * place stays untrusted. This needs no list of its files, which may be many and which the index may not know in full. A
 * file that is added to the folder later is untrusted too, until a person moves the folder.
 */
export class UntrustedPlaces {
  readonly #database: Database;
  readonly #ports: PlacePorts;
  /** Null before it was looked up. */
  #isEmpty: boolean | null = null;

  constructor(database: Database, ports: PlacePorts) {
    this.#database = database;
    this.#ports = ports;
  }

  /** Returns the sources of files by their places, and the paths that the files had before folders were moved. */
  async of(
    paths: readonly string[],
  ): Promise<{ readonly sources: readonly string[]; readonly before: readonly string[] }> {
    const all = new Set(paths);
    const distrusted = new Set<string>();
    for (let open = [...all]; open.length > 0 && !(await this.#hasNone());) {
      const inPlace = new Map<string, string[]>();
      for (const path of open)
        for (const place of placesOf(this.#ports.fold(path))) {
          const known = inPlace.get(place);
          if (known === undefined) inPlace.set(place, [path]);
          else known.push(path);
        }
      const rows = await this.#database.query<{ path: string; origin: string; sources: string }>(
        "SELECT path, origin, sources FROM conversation_places WHERE path IN (SELECT value FROM json_each(?))",
        [JSON.stringify([...inPlace.keys()])],
      );
      open = [];
      for (const { path: place, origin, sources } of rows) {
        for (const source of JSON.parse(sources) as string[]) distrusted.add(source);
        if (origin === "") continue;
        for (const path of inPlace.get(place) ?? []) {
          const before = movedBack(path, place, origin);
          if (all.has(before)) continue;
          all.add(before);
          open.push(before);
        }
      }
      // Folders that were moved very often: nobody follows that.
      if (all.size > paths.length + most.paths) return { sources: ["folders that were moved"], before: [] };
    }
    return {
      sources: [...new Set([...[...all].filter((path) => this.#ports.isUntrusted(path)), ...distrusted])],
      before: [...all].slice(new Set(paths).size),
    };
  }

  /**
   * Returns those of the folders that may hold a text that nobody vouches for: by their place, or because a tainted
   * content, or another such folder, was put above or into them.
   */
  async telling(folders: readonly MovedFolder[]): Promise<readonly MovedFolder[]> {
    const told: MovedFolder[] = [];
    for (const folder of folders) {
      const { from } = folder;
      const folded = this.#ports.fold(from);
      if (this.#ports.mayHoldUntrusted(from)) told.push(folder);
      else {
        const [row] = await this.#database.query(
          `SELECT 1 WHERE EXISTS (SELECT 1 FROM conversation_places WHERE path > ?1 || '/' AND path < ?1 || '0')
             OR EXISTS (SELECT 1 FROM conversation_places WHERE path IN (SELECT value FROM json_each(?2)))
             OR EXISTS (SELECT 1 FROM conversation_taints WHERE path > ?3 || '/' AND path < ?3 || '0')
             OR EXISTS (SELECT 1 FROM conversation_proposed_taints WHERE path > ?3 || '/' AND path < ?3 || '0')`,
          [folded, JSON.stringify(placesOf(folded)), from],
        );
        if (row !== undefined) told.push(folder);
      }
    }
    return told;
  }

  /** Returns what records folders. An action that is not made yet has them until `keeping` or `dropping`. */
  adding(folders: readonly MovedFolder[], action: string | null): Statement[] {
    if (folders.length === 0) return [];
    this.#isEmpty = false;
    return [
      ...folders.map(({ path, from }) => ({
        sql: `INSERT OR IGNORE INTO conversation_places (path, origin, action, sources) VALUES (?, ?, ?, '[]')`,
        params: [this.#ports.fold(path), from, action ?? ""],
      })),
      ...tooMany,
    ];
  }

  /** Returns what makes everything count as from these sources that is, or will be, at a path. */
  distrusting(path: string, sources: string, params: readonly string[]): Statement {
    this.#isEmpty = false;
    return {
      sql: `INSERT OR IGNORE INTO conversation_places (path, origin, action, sources) SELECT ?1, '', '', sources FROM (${sources})`,
      params: [this.#ports.fold(path), ...params],
    };
  }

  keeping(action: string): Statement[] {
    return [
      {
        sql: `INSERT OR IGNORE INTO conversation_places (path, origin, action, sources)
                SELECT path, origin, '', sources FROM conversation_places WHERE action = ?`,
        params: [action],
      },
      ...this.dropping(action),
    ];
  }

  dropping(action: string): Statement[] {
    return [{ sql: "DELETE FROM conversation_places WHERE action = ? AND action <> ''", params: [action] }];
  }

  async #hasNone(): Promise<boolean> {
    if (this.#isEmpty === null) {
      const [any] = await this.#database.query("SELECT 1 FROM conversation_places LIMIT 1", []);
      // Something may have been added meanwhile.
      this.#isEmpty ??= any === undefined;
    }
    return this.#isEmpty;
  }
}

const beyond = `action = '' AND (origin <> '' OR instr(path, '/') > 0) AND added <=
  (SELECT added FROM conversation_places WHERE action = '' ORDER BY added DESC LIMIT 1 OFFSET ${most.rows})`;
/** Where there are more folders than are kept apart, the oldest count by the first name of their paths. */
const tooMany: readonly Statement[] = [
  {
    sql: `INSERT OR IGNORE INTO conversation_places (path, origin, action, sources)
            SELECT substr(path, 1, instr(path || '/', '/') - 1), '', '',
              CASE origin WHEN '' THEN sources ELSE json_array(origin) END
            FROM conversation_places WHERE ${beyond}`,
    params: [],
  },
  { sql: `DELETE FROM conversation_places WHERE ${beyond}`, params: [] },
];

/** Returns a path and the folders above it. */
function placesOf(path: string): string[] {
  const names = path.split("/");
  return names.map((_name, at) => names.slice(0, at + 1).join("/"));
}

/** Returns where a path was before the folder at `place` was moved there from `origin`. */
function movedBack(path: string, place: string, origin: string): string {
  return [origin, ...path.split("/").slice(place.split("/").length)].join("/");
}
