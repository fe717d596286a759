import type { Clock } from "../../../base/clock.ts";
import type { Embedder } from "../../embedding/port.ts";
import {
  afterFailure,
  type PendingItem,
  type PendingItems,
  type Settlement,
  type TakenItems,
} from "../../embedding/queue.ts";
import { embedEach } from "../../embedding/embed-each.ts";
import { addVectors, type Database, numberList, removeVectors } from "../rows/schema.ts";
import { servingFact, spaceOf } from "../rows/serving-fact.ts";
import { textToEmbed } from "../rows/words.ts";

/** Items in one call of an embedder that answers at once. */
const immediateItems = 512;

interface QueueRow {
  readonly item_row: number;
  readonly said_seq: number;
  readonly attempts: number;
  readonly words: string | null;
  readonly data: string;
}

/**
 * The embedding queue as a table, so that it survives a crash. Items without text leave it without a vector.
 */
export class PendingRows implements PendingItems {
  readonly #database: Database;
  readonly #embedded: (texts: readonly string[]) => Promise<void>;

  /** `embedded` receives the texts whose vectors have been stored. */
  constructor(database: Database, embedded: (texts: readonly string[]) => Promise<void>) {
    this.#database = database;
    this.#embedded = embedded;
  }

  async take(limit: number, nowMs: number): Promise<TakenItems> {
    for (;;) {
      const due = await this.#database.all<QueueRow>(
        `SELECT q.item_row, q.said_seq, q.attempts, i.words, i.data
         FROM (SELECT * FROM knowledge_queue WHERE state = 'pending' AND next_ms <= ? ORDER BY item_row LIMIT ?) q
         JOIN knowledge_items i ON i.item_row = q.item_row ORDER BY q.item_row`,
        [nowMs, limit],
      );
      const items = due.map((row) => ({
        row: row.item_row,
        saidSeq: row.said_seq,
        text: textToEmbed(row),
        tries: row.attempts,
      }));
      const speaking = items.filter(({ text }) => text !== "");
      await this.#leaveWordless(items.filter(({ text }) => text === ""));
      const mayBeMore = items.length === limit;
      if (speaking.length > 0) return { items: speaking, mayBeMore, nextDueMs: null };
      if (!mayBeMore) return { items: [], mayBeMore, nextDueMs: await this.#nextDueMs() };
    }
  }

  async settle(embedder: string, settlements: readonly Settlement[]): Promise<void> {
    const embedded = await this.#database.transaction(async (sql) => {
      const still = await sql.all<{ item_row: number; said_seq: number }>(
        `SELECT item_row, said_seq FROM knowledge_queue WHERE state = 'pending' AND item_row IN ${numberList}`,
        [rowsOf(settlements)],
      );
      const waiting = new Map(still.map(({ item_row: row, said_seq: seq }) => [row, seq]));
      // Another embedder may serve by now: it has a queue of its own.
      const isServing = (await servingFact(sql))?.name === embedder;
      const current = settlements.filter(({ item }) => isServing && waiting.get(item.row) === item.saidSeq);
      const done = current.flatMap((each) => (each.state === "done" ? [each] : []));
      await sql.run(`DELETE FROM knowledge_queue WHERE item_row IN ${numberList}`, [rowsOf(done)]);
      const space = spaceOf(embedder);
      await removeVectors(sql, `space = ? AND item_row IN ${numberList}`, [space, rowsOf(done)]);
      await addVectors(
        sql,
        done.map(({ item, vector }) => ({ itemRow: item.row, space, vector })),
      );
      for (const each of current) {
        if (each.state === "done") continue;
        const isRetried = each.state === "retry";
        await sql.run("UPDATE knowledge_queue SET state = ?, attempts = ?, next_ms = ? WHERE item_row = ?", [
          isRetried ? "pending" : "failed",
          each.item.tries + 1,
          isRetried ? Math.ceil(each.dueMs) : 0,
          each.item.row,
        ]);
      }
      return done.map(({ item }) => item.text);
    });
    await this.#embedded(embedded);
  }

  async #leaveWordless(items: readonly PendingItem[]): Promise<void> {
    if (items.length === 0) return;
    await this.#database.transaction(async (sql) => {
      for (const { row, saidSeq } of items) {
        await sql.run("UPDATE knowledge_queue SET state = 'wordless' WHERE item_row = ? AND said_seq = ?", [
          row,
          saidSeq,
        ]);
      }
    });
  }

  async #nextDueMs(): Promise<number | null> {
    const [next] = await this.#database.all<{ next_ms: number | null }>(
      "SELECT min(next_ms) AS next_ms FROM knowledge_queue WHERE state = 'pending'",
    );
    return next?.next_ms ?? null;
  }
}

/** Embeds all waiting items with an embedder that answers at once. */
export async function embedAtOnce(items: PendingItems, embedder: Embedder, clock: Clock): Promise<void> {
  for (;;) {
    const nowMs = clock.now();
    const { items: due, mayBeMore } = await items.take(immediateItems, nowMs);
    if (due.length === 0) return;
    const settlements: Settlement[] = [];
    const texts = due.map(({ text }) => text);
    for (const part of await embedEach(embedder, texts)) {
      for (const [index, item] of due.slice(part.from, part.to).entries()) {
        if ("error" in part) settlements.push(afterFailure(item, part.error, nowMs));
        else settlements.push({ item, state: "done", vector: part.vectors[index] ?? new Float32Array(0) });
      }
    }
    await items.settle(embedder.name, settlements);
    if (!mayBeMore) return;
  }
}

const rowsOf = (settlements: readonly Settlement[]): string =>
  JSON.stringify(settlements.map(({ item }) => item.row));
