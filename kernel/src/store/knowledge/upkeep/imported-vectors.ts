import type { Embedder } from "../../embedding/port.ts";
import type { Settlement } from "../../embedding/queue.ts";
import { unitVector } from "../../../base/unit-vector.ts";
import type { PendingRows } from "./pending-items.ts";
import { type Database, textList } from "../rows/schema.ts";
import { textToEmbed } from "../rows/words.ts";

/** A vector as an export contains it: little-endian f32, base64. Not validated. */
export interface ImportedVector {
  readonly id: string;
  readonly base64F32: string;
}

export interface TakenVectors {
  /** False if no embedder or another one serves, so that giving more is useless. */
  readonly isWanted: boolean;
  readonly taken: number;
}

const bytesPerNumber = 4;

/**
 * Gives waiting items the vectors from an import, if an embedder of this name made them. Skips vectors that
 * do not fit this embedder or whose item does not wait; the embedder makes those again.
 */
export async function takeImported(
  database: Database,
  pending: PendingRows,
  embedder: Embedder | null,
  { name, vectors }: { readonly name: string; readonly vectors: readonly ImportedVector[] },
): Promise<TakenVectors> {
  if (embedder === null || embedder.name !== name) return { isWanted: false, taken: 0 };
  const waiting = await database.all<WaitingRow>(
    `SELECT i.id, i.item_row, i.words, i.data, q.said_seq, q.attempts
     FROM knowledge_queue q JOIN knowledge_items i ON i.item_row = q.item_row
     WHERE q.state = 'pending' AND i.id IN ${textList}`,
    [JSON.stringify(vectors.map(({ id }) => id.toWellFormed()))],
  );
  const rows = new Map(waiting.map((row) => [row.id, row]));
  const settlements = vectors.flatMap(({ id, base64F32 }): Settlement[] => {
    const row = rows.get(id);
    const vector = row === undefined ? null : vectorIn(base64F32, embedder.dimensions);
    if (row === undefined || vector === null) return [];
    // An item without text has no vector.
    const text = textToEmbed(row);
    if (text === "") return [];
    const item = { row: row.item_row, saidSeq: row.said_seq, text, tries: row.attempts };
    return [{ item, state: "done", vector }];
  });
  await pending.settle(name, settlements);
  return { isWanted: true, taken: settlements.length };
}

interface WaitingRow {
  readonly id: string;
  readonly item_row: number;
  readonly words: string | null;
  readonly data: string;
  readonly said_seq: number;
  readonly attempts: number;
}

function vectorIn(base64F32: string, dimensions: number): Float32Array | null {
  const bytes = Buffer.from(base64F32, "base64");
  if (bytes.length !== dimensions * bytesPerNumber) return null;
  const numbers = Array.from({ length: dimensions }, (_, index) => bytes.readFloatLE(index * bytesPerNumber));
  const vector = unitVector(numbers, dimensions);
  return vector instanceof Float32Array ? vector : null;
}
