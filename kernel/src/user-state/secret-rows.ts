import type { UserState } from "./user-state.ts";

/** A stored secret; `record` is encrypted. */
export interface SecretRow {
  readonly name: string;
  /** JSON: an array of hosts. */
  readonly hosts: string;
  readonly place: string;
  readonly created: string;
  /** Identifies the key that encrypted `record`. */
  readonly key_id: string;
  readonly record: Uint8Array;
}

export type SecretRows = ReturnType<typeof secretRows>;

/** All SQL of the table `secrets`. */
export function secretRows(state: UserState) {
  const columns = "name, hosts, place, created, key_id, record";
  return {
    /** Sorted by name. */
    list: (): Promise<readonly SecretRow[]> =>
      state.query<SecretRow>(`SELECT ${columns} FROM secrets ORDER BY name`),

    async get(name: string): Promise<SecretRow | null> {
      const [row] = await state.query<SecretRow>(`SELECT ${columns} FROM secrets WHERE name = ?`, [name]);
      return row ?? null;
    },

    /**
     * Stores a secret. Rejects with Conflict, and changes nothing, if there are records of another key, or as many
     * secrets as allowed.
     */
    async put(row: SecretRow, maxSecrets: number): Promise<void> {
      await state.batch([
        {
          sql: `INSERT INTO secrets (${columns}) SELECT ?, ?, ?, ?, ?, ?
            WHERE NOT EXISTS (SELECT 1 FROM secrets WHERE key_id <> ?)
              AND (SELECT count(*) FROM secrets WHERE name <> ?) < ?
            ON CONFLICT (name) DO UPDATE SET hosts = excluded.hosts, place = excluded.place,
              created = excluded.created, key_id = excluded.key_id, record = excluded.record`,
          params: [
            row.name,
            row.hosts,
            row.place,
            row.created,
            row.key_id,
            row.record,
            row.key_id,
            row.name,
            maxSecrets,
          ],
          expectChanges: 1,
        },
      ]);
    },

    /** Returns false if the secret does not exist. */
    async remove(name: string): Promise<boolean> {
      const [result] = await state.batch([{ sql: "DELETE FROM secrets WHERE name = ?", params: [name] }]);
      return result?.changes === 1;
    },
  };
}
