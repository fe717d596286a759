import type { Entry } from "../base/vocabulary/conversation.ts";
import type { Database } from "../platform/database/database.ts";
import { decodeEntry, embeddedText } from "./records.ts";
import type { Source, VectorSources } from "./vectors/message-vectors.ts";
import type { NearEntry } from "./vectors/vector-rows.ts";
import type { Neighbour } from "./word-ranking.ts";

export interface WordUse {
  readonly word: string;
  /** It occurs in some entry. */
  readonly isKnown: boolean;
  /** It occurs in so many entries that it says nothing. */
  readonly isCommon: boolean;
}

/** How common words are is counted in the newest texts: at most, and at least, this many. */
const [sampledTexts, leastTexts] = [5_000, 50];
/** A word that occurs in a larger share of these texts is common. */
const commonShare = 0.2;

/** Texts before an entry, and behind it, that are beside it. */
const neighbouringSteps = 2;

/** Entries whose texts are embedded. */
const kinds = "('message', 'conclusion', 'summary')";
// A deleted conversation keeps only the entries that its forks share.
const last = `CASE WHEN c.state = 'deleted'
  THEN ifnull((SELECT max(f.forked_from ->> 'seq') FROM conversations f WHERE f.forked_from ->> 'conversation' = c.id), 0)
  ELSE ifnull((SELECT max(seq) FROM conversation_entries e WHERE e.conversation = c.id), 0) END`;

/** Reads in the ledger what is to be embedded, and what was found by vectors. */
export class SourceRows implements VectorSources {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async page(before: string | null, limit: number): Promise<readonly Source[]> {
    return await this.#database.query<Source & Record<string, never>>(
      `SELECT c.id AS conversation, c.agent, ${last} AS last FROM conversations c
         WHERE ?1 IS NULL OR c.id < ?1 ORDER BY c.id DESC LIMIT ?2`,
      [before, limit],
    );
  }

  async get(conversation: string): Promise<Source | null> {
    const [row] = await this.#database.query<Source & Record<string, never>>(
      `SELECT c.id AS conversation, c.agent, ${last} AS last FROM conversations c WHERE c.id = ?`,
      [conversation],
    );
    return row ?? null;
  }

  async gone(conversations: readonly string[]): Promise<string[]> {
    const rows = await this.#database.query<{ readonly id: string }>(
      "SELECT value AS id FROM json_each(?) WHERE value NOT IN (SELECT id FROM conversations)",
      [JSON.stringify(conversations)],
    );
    return rows.map(({ id }) => id);
  }

  async texts(
    { conversation, last: through }: Source,
    after: number,
    limit: number,
  ): Promise<readonly { readonly seq: number; readonly entry: string; readonly text: string }[]> {
    const rows = await this.#database.query<{ readonly seq: number; readonly data: string }>(
      `SELECT seq, data FROM conversation_entries WHERE conversation = ? AND seq > ? AND seq <= ? AND kind IN ${kinds}
         ORDER BY seq LIMIT ?`,
      [conversation, after, through, limit],
    );
    return rows.map(({ seq, data }) => {
      const entry = decodeEntry(JSON.parse(data), conversation, seq);
      return { seq, entry: entry?.id ?? "", text: entry === null ? "" : embeddedText(entry) };
    });
  }

  /** Returns these entries with their similarity as score; those that are gone, or have no text any more, are left out. */
  async entries(
    places: readonly (Pick<NearEntry, "conversation" | "seq"> & { readonly similarity?: number })[],
  ): Promise<readonly { readonly entry: Entry; readonly score: number }[]> {
    const rows = await this.#database.query<{
      readonly conversation: string;
      readonly seq: number;
      readonly data: string;
      readonly score: number;
    }>(
      `SELECT e.conversation, e.seq, e.data, ifnull(c.value ->> 'similarity', 0) AS score
         FROM json_each(?) c JOIN conversation_entries e
           ON e.conversation = c.value ->> 'conversation' AND e.seq = c.value ->> 'seq' ORDER BY c.key`,
      [JSON.stringify(places)],
    );
    return rows.flatMap(({ conversation, seq, data, score }) => {
      const entry = decodeEntry(JSON.parse(data), conversation, seq);
      return entry === null || embeddedText(entry) === "" ? [] : [{ entry, score }];
    });
  }

  /** Returns where the texts beside each entry are, in its conversation and of its process; in the order of the entries. */
  async neighbours(
    entries: readonly Entry[],
    stretches: readonly { readonly conversation: string; readonly through: number }[],
  ): Promise<readonly (readonly Neighbour[])[]> {
    const through = new Map(stretches.map((stretch) => [stretch.conversation, stretch.through]));
    const places = entries.map(({ conversation, seq, process }) => ({
      conversation,
      seq,
      process,
      through: through.get(conversation) ?? 0,
    }));
    const beside = (side: string, order: string): string =>
      `(SELECT json_group_array(seq) FROM (SELECT seq FROM conversation_entries e
          WHERE e.conversation = c.value ->> 'conversation' AND e.seq ${side} c.value ->> 'seq'
            AND e.seq <= c.value ->> 'through' AND e.process = c.value ->> 'process' AND e.kind IN ${kinds}
            AND e.data ->> 'partial' IS NULL ORDER BY e.seq ${order} LIMIT ${neighbouringSteps}))`;
    const rows = await this.#database.query<{ readonly before: string; readonly after: string }>(
      `SELECT ${beside("<", "DESC")} AS before, ${beside(">", "ASC")} AS after FROM json_each(?) c ORDER BY c.key`,
      [JSON.stringify(places)],
    );
    return rows.map(({ before, after }) =>
      [before, after].flatMap((side) =>
        (JSON.parse(side) as number[]).map((seq, step): Neighbour => ({ seq, steps: step === 0 ? 1 : 2 })),
      ),
    );
  }

  /** Returns how often each word occurs. */
  async uses(words: readonly string[]): Promise<readonly WordUse[]> {
    const rows = await this.#database.query<{
      readonly word: string;
      readonly known: number;
      readonly recent: number;
      readonly total: number;
    }>(
      `WITH latest AS (SELECT count(*) AS total, ifnull(min(id), 0) AS first FROM
         (SELECT id FROM conversation_texts_docsize ORDER BY id DESC LIMIT ?2))
       SELECT w.value AS word, l.total,
           EXISTS (SELECT 1 FROM conversation_texts WHERE conversation_texts MATCH '"' || w.value || '"') AS known,
           (SELECT count(*) FROM conversation_texts
              WHERE conversation_texts MATCH '"' || w.value || '"' AND rowid >= l.first) AS recent
         FROM json_each(?1) w, latest l`,
      [JSON.stringify(words), sampledTexts],
    );
    return rows.map(({ word, known, recent, total }) => ({
      word,
      isKnown: known === 1,
      isCommon: total >= leastTexts && recent > total * commonShare,
    }));
  }
}
