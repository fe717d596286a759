import type { Embedder } from "../../embedding/port.ts";
import { longestPauseMs } from "../../embedding/queue.ts";
import { embedEach } from "../../embedding/embed-each.ts";
import { addVectors, type Database, numberList } from "../rows/schema.ts";
import { textToEmbed } from "../rows/words.ts";
import { type ServingFact, writeServingFact } from "../rows/serving-fact.ts";

/** Maximum items in one slice; other work runs between slices. */
const immediatePerSlice = 256;
const remotePerSlice = 32;
const firstPauseMs = 2_000;
/**
 * If the new embedder refuses a larger share of the items than this, it does not take over: the fault is the
 * embedder's.
 */
const refusedPart = 0.1;

/**
 * Embeds every item for a new embedder, slice by slice, while the old one serves. An interrupted switch
 * continues where it ended: the new vectors are in the table under their own space.
 */
export class EmbedderSwitch {
  readonly embedder: Embedder;
  readonly space: string;
  readonly #database: Database;
  /** Rows of items that the embedder refused, and of items without text. */
  readonly #refused = new Set<number>();
  #after = 0;
  #tries = 0;
  dueMs = 0;

  constructor(database: Database, embedder: Embedder, space: string) {
    this.#database = database;
    this.embedder = embedder;
    this.space = space;
  }

  /** Returns true when nothing is left to embed. */
  async slice(nowMs: number): Promise<boolean> {
    const limit = this.embedder.isImmediate ? immediatePerSlice : remotePerSlice;
    const items = await this.#database.all<{ item_row: number; words: string | null; data: string }>(
      `SELECT i.item_row, i.words, i.data FROM knowledge_items i
       WHERE i.item_row > ? AND ${lacking} AND i.item_row NOT IN ${numberList}
       ORDER BY i.item_row LIMIT ${limit}`,
      [this.#after, this.space, JSON.stringify([...this.#refused])],
    );
    const last = items.at(-1);
    if (last === undefined) {
      const wasWhole = this.#after === 0;
      this.#after = 0;
      return wasWhole && (await this.#isFit(nowMs));
    }
    const spoken = items.map((item) => ({ ...item, spoken: textToEmbed(item) }));
    const speaking = spoken.filter((item) => item.spoken !== "");
    for (const { item_row: row } of spoken.filter((item) => item.spoken === "")) {
      this.#refused.add(row);
    }
    const texts = speaking.map((item) => item.spoken);
    for (const outcome of await embedEach(this.embedder, texts)) {
      const group = speaking.slice(outcome.from, outcome.to);
      if ("vectors" in outcome) {
        await this.#keep(group, outcome.vectors);
        for (const { spoken: text } of group) this.embedder.statistics?.add(text);
        this.#tries = 0;
      } else if (outcome.error.isRetryable) {
        // The items are not at fault. The old embedder serves for as long as this takes.
        this.dueMs = nowMs + pauseMs(this.#tries, outcome.error.retryAfterMs);
        this.#tries += 1;
        return false;
      } else {
        for (const { item_row: row } of group) this.#refused.add(row);
      }
    }
    this.#after = last.item_row;
    return false;
  }

  async progress(): Promise<{ done: number; total: number }> {
    const [counts] = await this.#database.all<{ done: number; total: number }>(
      `SELECT (SELECT count(*) FROM knowledge_vectors WHERE space = ?) AS done,
         (SELECT count(*) FROM knowledge_items) AS total`,
      [this.space],
    );
    return { done: Math.min(counts?.done ?? 0, counts?.total ?? 0), total: counts?.total ?? 0 };
  }

  /** Makes the new embedder the serving one. The old vectors stay for queries that began with them. */
  async takeOver(fact: ServingFact): Promise<void> {
    await this.#database.transaction(async (sql) => {
      await sql.run("DELETE FROM knowledge_queue WHERE state IN ('pending', 'failed')");
      // Items that were added or changed in the last moment are queued.
      await sql.run(
        `INSERT INTO knowledge_queue
         SELECT i.item_row, CASE WHEN i.item_row IN ${numberList} THEN 'failed' ELSE 'pending' END, 0, 0, 0
         FROM knowledge_items i WHERE ${lacking}`,
        [JSON.stringify([...this.#refused]), this.space],
      );
      await writeServingFact(sql, fact);
    });
  }

  async #isFit(nowMs: number): Promise<boolean> {
    const { total } = await this.progress();
    if (this.#refused.size <= total * refusedPart) return true;
    this.#refused.clear();
    this.dueMs = nowMs + pauseMs(this.#tries, 0);
    this.#tries += 1;
    return false;
  }

  async #keep(
    items: readonly { item_row: number; words: string | null; data: string }[],
    vectors: readonly Float32Array[],
  ): Promise<void> {
    await this.#database.transaction(async (sql) => {
      // An item's text may have changed while it was being embedded.
      const now = await sql.all<{ item_row: number; words: string | null; data: string }>(
        `SELECT item_row, words, data FROM knowledge_items WHERE item_row IN ${numberList}`,
        [JSON.stringify(items.map(({ item_row: row }) => row))],
      );
      const saying = new Map(now.map((item) => [item.item_row, item]));
      await addVectors(
        sql,
        items.flatMap((item, index) => {
          const { item_row: itemRow, words, data } = item;
          const current = saying.get(itemRow);
          const vector = vectors[index];
          const isStill = current?.words === words && current.data === data;
          return isStill && vector !== undefined ? [{ itemRow, space: this.space, vector }] : [];
        }),
      );
    });
  }
}

/** Condition over items `i` that should have a vector in the space and have none. */
const lacking = `NOT EXISTS (SELECT 1 FROM knowledge_vectors v WHERE v.item_row = i.item_row AND v.space = ?)
  AND NOT EXISTS (SELECT 1 FROM knowledge_queue q
    WHERE q.item_row = i.item_row AND q.state IN ('evicted', 'wordless'))`;

/** Returns the delay after this number of failures in a row, at least the one that the service asks for. */
const pauseMs = (failuresBefore: number, retryAfterMs: number): number =>
  Math.min(longestPauseMs, Math.max(firstPauseMs * 4 ** Math.min(failuresBefore, 8), retryAfterMs));
