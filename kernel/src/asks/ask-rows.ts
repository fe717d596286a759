import type { Ask } from "../base/vocabulary/ask.ts";
import type { Database, Statement } from "../platform/database/database.ts";
import { redactColumns } from "../platform/database/text-columns.ts";
import { askTexts } from "./migrations.ts";

/** The number of ended questions that are kept; the oldest are deleted first. */
const endedKept = 1_000;

/** The number of answers for conversations that are kept; the oldest are deleted first, and asked for again. */
const conversationAnswersKept = 10_000;

/** An answer for the rest of a conversation. */
export interface ConversationAnswer {
  readonly conversation: string;
  /** The subject of the question, as JSON. */
  readonly subject: string;
  readonly allow: boolean;
}

/** The part of a question that its `Ask` does not have. */
export interface AskAbout {
  readonly about: string;
  readonly countsFor: "agent" | "workspace";
  /** Set until the person is asked: its time has not begun. */
  readonly isUnseen?: boolean;
}

/** What `Asks` stores. */
export type AskStore = Pick<
  AskRows,
  "store" | "list" | "get" | "addKey" | "ofKey" | "forgetConversation" | "redact"
>;

/** The rows of all questions. The database has `asksMigrations` applied. */
export class AskRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Stores a question, in place of an earlier state of it. With `about`, it outlives its kernel. `answer` counts for the
   * rest of the conversation, and is stored together with the question or not at all. Resolves after the commit.
   */
  async store(
    ask: Ask,
    about: AskAbout | null = null,
    answer: ConversationAnswer | null = null,
  ): Promise<void> {
    await this.#database.batch([
      {
        sql: "INSERT OR REPLACE INTO asks (id, state, record, about) VALUES (?, ?, ?, ?)",
        params: [ask.id, ask.state, JSON.stringify(ask), about === null ? null : JSON.stringify(about)],
      },
      ...(answer === null
        ? []
        : [
            {
              sql: `INSERT OR REPLACE INTO ask_conversations (conversation, subject, allow, answered)
                    VALUES (?, ?, ?, ?)`,
              params: [answer.conversation, answer.subject, answer.allow ? 1 : 0, ask.expires],
            },
            {
              sql: `DELETE FROM ask_conversations WHERE (conversation, subject) IN
                      (SELECT conversation, subject FROM ask_conversations
                       ORDER BY answered DESC LIMIT -1 OFFSET ${conversationAnswersKept})`,
              params: [],
            },
          ]),
    ]);
  }

  /** Returns the answers for the rest of conversations. */
  async conversationAnswers(): Promise<ConversationAnswer[]> {
    const rows = await this.#database.query<{ conversation: string; subject: string; allow: number }>(
      "SELECT conversation, subject, allow FROM ask_conversations",
    );
    return rows.map(({ allow, ...row }) => ({ ...row, allow: allow === 1 }));
  }

  /** Deletes the answers for a conversation that is gone. */
  async forgetConversation(conversation: string): Promise<void> {
    await this.#database.batch([
      { sql: "DELETE FROM ask_conversations WHERE conversation = ?", params: [conversation] },
    ]);
  }

  /** Removes texts, and answers that are about them. Returns the number of rows. */
  async redact(texts: readonly string[]): Promise<number> {
    return await redactColumns(this.#database, askTexts, texts);
  }

  /** Names what asks a question. Resolves after the commit. */
  async addKey(key: string, ask: string): Promise<void> {
    await this.#database.batch([
      { sql: "INSERT OR REPLACE INTO ask_keys (key, ask) VALUES (?, ?)", params: [key, ask] },
    ]);
  }

  /** Returns the question that was last asked with a key; null if there is none. */
  async ofKey(key: string): Promise<Ask | null> {
    const [row] = await this.#database.query<{ record: string }>(
      "SELECT record FROM asks WHERE id = (SELECT ask FROM ask_keys WHERE key = ?)",
      [key],
    );
    return row === undefined ? null : (JSON.parse(row.record) as Ask);
  }

  /**
   * Ends the questions of a kernel that died whose calls are gone, and deletes the oldest ended ones. Returns those
   * that still wait, the oldest first.
   */
  async endAll(now: string): Promise<{ readonly ask: Ask; readonly about: AskAbout }[]> {
    await this.#database.batch([
      {
        sql: `UPDATE asks SET state = 'Expired',
                record = json_set(record, '$.state', 'Expired', '$.expires', ?)
              WHERE state = 'Pending' AND about IS NULL`,
        params: [now],
      },
      {
        sql: `DELETE FROM asks WHERE state <> 'Pending' AND id NOT IN
                (SELECT id FROM asks ORDER BY id DESC LIMIT ?)`,
        params: [endedKept],
      },
      { sql: "DELETE FROM ask_keys WHERE ask NOT IN (SELECT id FROM asks)" },
    ]);
    const rows = await this.#database.query<{ record: string; about: string }>(
      "SELECT record, about FROM asks WHERE state = 'Pending' ORDER BY id",
    );
    return rows.map(({ record, about }) => ({
      ask: JSON.parse(record) as Ask,
      about: JSON.parse(about) as AskAbout,
    }));
  }

  /** Newest first; with `state`, only those. */
  async list(state?: Ask["state"]): Promise<Ask[]> {
    const rows = await this.#database.query<{ record: string }>(
      `SELECT record FROM asks WHERE ?1 IS NULL OR state = ?1 ORDER BY id DESC LIMIT ${endedKept}`,
      [state ?? null],
    );
    return rows.map(({ record }) => JSON.parse(record) as Ask);
  }

  /** Returns null if there is none. */
  async get(id: string): Promise<Ask | null> {
    const [row] = await this.#database.query<{ record: string }>("SELECT record FROM asks WHERE id = ?", [
      id,
    ]);
    return row === undefined ? null : (JSON.parse(row.record) as Ask);
  }
}

/** Returns the statements that delete all answers for the rest of a conversation. */
export function forgetAnswers(): Statement[] {
  return [{ sql: "DELETE FROM ask_conversations", params: [] }];
}
