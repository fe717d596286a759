import { isoTime, type Clock } from "../base/clock.ts";
import type { ChatBinding, ChatBindings } from "../base/vocabulary/chat-binding.ts";
import type { Database, Statement } from "../platform/database/database.ts";
import { sha256 } from "../platform/files/hash.ts";

/** Files that are remembered. The ones that were not used for longest are forgotten: their text is foreign again. */
const maxFiles = 10_000;

/** The rows of files that show conversations. The database has `conversationMigrations` applied. */
export class ChatBindingRows implements ChatBindings {
  readonly #database: Database;
  readonly #clock: Pick<Clock, "now">;

  constructor(database: Database, clock: Pick<Clock, "now">) {
    this.#database = database;
    this.#clock = clock;
  }

  digest(text: string): string {
    return sha256(text);
  }

  async get(path: string): Promise<ChatBinding | null> {
    const [row] = await this.#database.query<{ record: string }>(
      "SELECT record FROM conversation_files WHERE path = ?",
      [path],
    );
    return row === undefined ? null : (JSON.parse(row.record) as ChatBinding);
  }

  async put(binding: ChatBinding): Promise<void> {
    await this.#put(binding);
  }

  async move(binding: ChatBinding, from: string): Promise<void> {
    await this.#put(binding, { sql: "DELETE FROM conversation_files WHERE path = ?", params: [from] });
  }

  async among(paths: readonly string[]): Promise<readonly string[]> {
    if (paths.length === 0) return [];
    const rows = await this.#database.query<{ path: string }>(
      "SELECT path FROM conversation_files WHERE path IN (SELECT value FROM json_each(?))",
      [JSON.stringify(paths)],
    );
    return rows.map(({ path }) => path);
  }

  /** Returns the paths of the files that show one of the conversations. */
  async pathsOf(conversations: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#database.query<{ path: string }>(
      `SELECT path FROM conversation_files
         WHERE record ->> '$.conversation' IN (SELECT value FROM json_each(?)) ORDER BY path`,
      [JSON.stringify(conversations)],
    );
    return rows.map(({ path }) => path);
  }

  /** Forgets the digests of these files' texts. What stands in them counts as text from elsewhere, which is never sent. */
  async forgetTexts(paths: readonly string[]): Promise<number> {
    const [result] = await this.#database.batch([
      {
        sql: `UPDATE conversation_files
                SET record = json_set(record, '$.seen', '', '$.beforeAnswer', '', '$.beforeFloor', '')
              WHERE path IN (SELECT value FROM json_each(?)) AND record ->> '$.seen' <> ''`,
        params: [JSON.stringify(paths)],
      },
    ]);
    return result?.changes ?? 0;
  }

  async #put(binding: ChatBinding, ...before: readonly Statement[]): Promise<void> {
    await this.#database.batch([
      ...before,
      {
        sql: "INSERT OR REPLACE INTO conversation_files (path, updated, record) VALUES (?, ?, ?)",
        params: [binding.path, isoTime(this.#clock.now()), JSON.stringify(binding)],
      },
      {
        sql: `DELETE FROM conversation_files WHERE path IN
                (SELECT path FROM conversation_files ORDER BY updated DESC, path LIMIT -1 OFFSET ${maxFiles})`,
        params: [],
      },
    ]);
  }
}
