import type { TextStatistics } from "../embedding/port.ts";
import type { Database } from "./rows/schema.ts";
import { textToEmbed } from "./rows/words.ts";

/** Texts that are counted at once; other work runs in between. */
const textsPerSlice = 1_000;
/** Removed texts are not subtracted one by one. Beyond this error, all texts are counted again. */
const toleratedError = 0.05;
const toleratedTexts = 16;

/**
 * What an embedder has learned from this memory's texts: stored with the vectors, and counted again if it
 * does not match them.
 */
export class LearnedStatistics {
  readonly #database: Database;
  readonly #space: string;
  readonly #statistics: TextStatistics;
  #counting: { after: number; readonly last: number } | null = null;

  private constructor(database: Database, space: string, statistics: TextStatistics) {
    this.#database = database;
    this.#space = space;
    this.#statistics = statistics;
  }

  static async open(
    database: Database,
    space: string,
    statistics: TextStatistics,
  ): Promise<LearnedStatistics> {
    const learned = new LearnedStatistics(database, space, statistics);
    const [kept] = await database.all<{ bytes: Uint8Array }>(
      "SELECT bytes FROM knowledge_learned WHERE space = ?",
      [space],
    );
    if (kept !== undefined) statistics.load(kept.bytes);
    await learned.check();
    return learned;
  }

  /** Decides whether all texts have to be counted again. */
  async check(): Promise<void> {
    const [there] = await this.#database.all<{ count: number; last: number | null }>(
      "SELECT count(*) AS count, max(item_row) AS last FROM knowledge_vectors WHERE space = ?",
      [this.#space],
    );
    const count = there?.count ?? 0;
    const error = Math.abs(this.#statistics.documents - count);
    if (error <= Math.max(toleratedTexts, count * toleratedError)) return;
    this.#statistics.load(new Uint8Array(0));
    this.#counting = { after: 0, last: there?.last ?? 0 };
  }

  /** Counts the next texts. Returns false when none is left. */
  async slice(): Promise<boolean> {
    const counting = this.#counting;
    if (counting === null) return false;
    const items = await this.#database.all<{ item_row: number; words: string | null; data: string }>(
      `SELECT i.item_row, i.words, i.data FROM knowledge_items i
       WHERE i.item_row > ? AND i.item_row <= ? ORDER BY i.item_row LIMIT ${textsPerSlice}`,
      [counting.after, counting.last],
    );
    for (const item of items) {
      const words = textToEmbed(item);
      if (words !== "") this.#statistics.add(words);
    }
    const last = items.at(-1);
    if (last === undefined) this.#counting = null;
    else counting.after = last.item_row;
    return true;
  }

  async save(): Promise<void> {
    // A partial count would later be taken for a complete one.
    if (this.#counting !== null) return;
    await this.#database.transaction(async (sql) => {
      await sql.run("DELETE FROM knowledge_learned");
      await sql.append("knowledge_learned", [[this.#space, this.#statistics.bytes()]]);
    });
  }
}
