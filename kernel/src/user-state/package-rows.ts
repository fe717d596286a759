import type { UserState } from "./user-state.ts";

/** A key with which the user signs packages; `record` is the encrypted private key. */
export interface PublisherKeyRow {
  readonly name: string;
  /** Raw 32 bytes in base64. */
  readonly public_key: string;
  readonly created: string;
  /** Identifies the key that encrypted `record`. */
  readonly key_id: string;
  readonly record: Uint8Array;
}

/** The publisher of an extension, pinned when it was installed first. */
export interface PublisherRow {
  readonly extension: string;
  readonly public_key: string;
  readonly since: string;
}

/** A package that was installed into a folder. */
interface PackageRow {
  /** Absolute. */
  readonly folder: string;
  readonly extension: string;
  readonly version: string;
  readonly public_key: string;
  /** Where it came from, as it was written to `lares install`. */
  readonly source: string;
  readonly installed: string;
}

export type PackageRows = ReturnType<typeof packageRows>;

/** All SQL of the tables `publisher_keys`, `publishers` and `packages`. */
export function packageRows(state: UserState) {
  return {
    /** Sorted by name. */
    keys: (): Promise<readonly PublisherKeyRow[]> =>
      state.query<PublisherKeyRow>(
        "SELECT name, public_key, created, key_id, record FROM publisher_keys ORDER BY name",
      ),
    /** Rejects with Conflict if there is a key of this name. */
    async addKey({ name, public_key, created, key_id, record }: PublisherKeyRow): Promise<void> {
      await state.batch([
        {
          sql: `INSERT INTO publisher_keys (name, public_key, created, key_id, record) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (name) DO NOTHING`,
          params: [name, public_key, created, key_id, record],
          expectChanges: 1,
        },
      ]);
    },
    async publisherOf(extension: string): Promise<PublisherRow | null> {
      const [row] = await state.query<PublisherRow>(
        "SELECT extension, public_key, since FROM publishers WHERE extension = ?",
        [extension],
      );
      return row ?? null;
    },
    packages: (): Promise<readonly PackageRow[]> =>
      state.query<PackageRow>(
        "SELECT folder, extension, version, public_key, source, installed FROM packages ORDER BY extension, folder",
      ),
    /** Records an installed package, and pins its publisher if there is none yet or `replaces` says so. */
    async addPackage(row: PackageRow, replaces: boolean): Promise<void> {
      const { folder, extension, version, public_key, source, installed } = row;
      await state.batch([
        {
          sql: `INSERT INTO publishers (extension, public_key, since) VALUES (?, ?, ?)
            ON CONFLICT (extension) DO UPDATE SET public_key = excluded.public_key, since = excluded.since
              WHERE ? AND public_key <> excluded.public_key`,
          params: [extension, public_key, installed, replaces ? 1 : 0],
        },
        {
          sql: `INSERT INTO packages (folder, extension, version, public_key, source, installed)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (folder) DO UPDATE SET extension = excluded.extension, version = excluded.version,
              public_key = excluded.public_key, source = excluded.source, installed = excluded.installed`,
          params: [folder, extension, version, public_key, source, installed],
        },
      ]);
    },
    /** The publisher stays pinned: another publisher cannot replace a removed extension unnoticed. */
    async removePackage(folder: string): Promise<void> {
      await state.batch([{ sql: "DELETE FROM packages WHERE folder = ?", params: [folder] }]);
    },
  };
}
