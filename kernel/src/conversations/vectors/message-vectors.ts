import { unlessOver } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { isLaresError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Database } from "../../platform/database/database.ts";
import { chunksOf } from "./chunks.ts";
import { Removals } from "./removals.ts";
import { type EntryVectors, type NearEntry, type Progress, VectorRows } from "./vector-rows.ts";

/** Makes vectors of texts. */
export interface TextEmbedder {
  /** Vectors of embedders with the same name can be compared. */
  readonly name: string;
  readonly knows: "words" | "meanings";
  /**
   * Returns the vectors in order; null for a text that is refused for good. Rejects if there is no answer now. Once the
   * signal is aborted, sends no further text and rejects with its reason.
   */
  items(texts: readonly string[], signal: AbortSignal): Promise<readonly (Float32Array | null)[]>;
  query(text: string): Promise<Float32Array>;
}

/** A conversation that is to be embedded up to an entry. */
export interface Source {
  readonly conversation: string;
  readonly agent: string;
  readonly last: number;
}

/** What is to be embedded. */
export interface VectorSources {
  /** Returns conversations, the newest ones first. `before` continues behind the last one of a page. */
  page(before: string | null, limit: number): Promise<readonly Source[]>;
  get(conversation: string): Promise<Source | null>;
  /** Returns those that are not there any more. */
  gone(conversations: readonly string[]): Promise<readonly string[]>;
  /** Returns the next texts behind a seq. */
  texts(
    source: Source,
    after: number,
    limit: number,
  ): Promise<readonly { readonly seq: number; readonly entry: string; readonly text: string }[]>;
}

export interface MessageVectorOptions {
  readonly sources: VectorSources;
  /** Opens the database of the vectors, with `vectorMigrations` applied. Called when it is first needed. */
  open(): Promise<Database>;
  /** False if there are no vectors to remove, so that nothing needs to be opened. */
  exists(): Promise<boolean>;
  /** Returns the embedder for an agent's conversations; null if none is at hand. */
  embedderOf(agent: string): Promise<TextEmbedder | null>;
  maxVectors(): number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Entries that become vectors together. */
const entriesAtOnce = 16;
/** Texts in one call of an embedder. */
const textsAtOnce = 32;
const conversationsAtOnce = 200;
/** What is appended shortly after one another is embedded together. */
const gatherMs = 1_000;
/** Rests after each batch, as a multiple of the time that it took: a turn of a conversation must not wait for it. */
const restFactor = 3;
const leastRestMs = 20;
const firstPauseMs = 60_000;
const longestPauseMs = 15 * 60_000;
/** More are looked for in the ledger. */
const maxPending = 10_000;
const queryTimeoutMs = 3_000;
/** Entries that are less similar have nothing to do with a question. */
const leastSimilarity = { words: 0.25, meanings: 0.2 } as const;

/**
 * The vectors of messages, by which they are found where a question has other words. It follows the ledger in the
 * background, one batch at a time, from the place that its own file names. Nothing is opened before a conversation is used
 * or searched, and without an embedder nothing is done.
 */
export class MessageVectors implements AsyncDisposable {
  readonly #options: MessageVectorOptions;
  readonly #sources: VectorSources;
  #opened: Promise<{ readonly database: Database; readonly rows: VectorRows }> | null = null;
  /** Conversations with new entries. */
  readonly #pending = new Set<string>();
  /** Counts the reasons to look at all conversations, and those for which that was done. */
  #looks = { wanted: 1, done: 0 };
  /** Aborted when this is disposed, which waits for no embedder. */
  readonly #closing = new AbortController();
  readonly #over = this.#closing.signal;
  #running: Promise<void> | null = null;
  #timer: Disposable | null = null;
  /** Ends a rest. */
  #wakeUp: (() => void) | null = null;
  #failures = 0;
  readonly #removals = new Removals();

  constructor(options: MessageVectorOptions) {
    this.#options = options;
    this.#sources = options.sources;
  }

  /** A conversation has new entries. */
  grown(conversation: string): void {
    this.#pending.add(conversation);
    if (this.#pending.size > maxPending) {
      this.#pending.clear();
      this.#looks.wanted++;
    }
    this.#wakeIn(gatherMs);
  }

  /**
   * Agents may have another embedder from now on. Vectors of different embedders cannot be compared, so all conversations
   * are looked at again at once; until one has its new vectors, it is found by its words.
   */
  embedderChanged(): void {
    this.#looks.wanted++;
    if (this.#running === null) {
      // The new one may answer where the one before did not.
      this.#timer?.[Symbol.dispose]();
      this.#timer = null;
    }
    this.#failures = 0;
    this.#wakeIn(gatherMs);
  }

  /**
   * Removes the vectors of a deleted conversation behind a seq. Call it after the ledger has lost it. Never rejects.
   */
  async drop(conversation: string, after = 0): Promise<void> {
    try {
      await this.#remove((rows) => rows.drop(conversation, after));
    } catch (error) {
      // The conversation is deleted. What could not be removed is looked for again.
      this.#looks.wanted++;
      this.#options.log.warn(`The vectors of a deleted conversation are still there: ${messageOf(error)}`);
    }
  }

  /**
   * Removes the vectors of entries whose text was redacted, also while they are being made. Call it after the ledger has
   * lost the text. A fork's entries are those of its origin: name the conversation in whose log they are.
   */
  async forget(conversation: string, entries: readonly string[]): Promise<void> {
    await this.#remove((rows) => rows.forget(conversation, entries));
  }

  /** Runs a removal while no text is read, so that no part of a removed text is embedded or sent to a service. */
  held<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#removals.during(work);
  }

  /**
   * Returns entries that are similar to a text, the most similar ones first; null if there is no embedder, or if it does
   * not answer in time.
   */
  async near(
    agent: string,
    stretches: readonly { readonly conversation: string; readonly through: number }[],
    text: string,
    limit: number,
  ): Promise<{ readonly knows: TextEmbedder["knows"]; readonly entries: readonly NearEntry[] } | null> {
    this.#wakeIn(gatherMs);
    const [chunk] = chunksOf(text);
    if (chunk === undefined || this.#over.aborted) return null;
    try {
      const embedder = await this.#options.embedderOf(agent);
      if (embedder === null) return null;
      const vector = await this.#inTime(embedder.query(chunk));
      if (vector === null) return null;
      const { rows } = await this.#open();
      const { name, knows } = embedder;
      const entries = await rows.near(stretches, name, vector, { least: leastSimilarity[knows], limit });
      return { knows, entries };
    } catch (error) {
      this.#options.log.warn(`Messages were searched by their words alone: ${messageOf(error)}`);
      return null;
    }
  }

  /** Resolves when all that is known is done, or cannot be done now. */
  async caughtUp(): Promise<void> {
    this.#wakeIn(0);
    for (; this.#timer !== null || this.#running !== null;) {
      this.#timer?.[Symbol.dispose]();
      this.#timer = null;
      await this.#start();
      if (this.#failures > 0) return;
    }
  }

  /** Ends after the batch that is being stored. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#timer?.[Symbol.dispose]();
    this.#wakeUp?.();
    await this.#running;
    const opened = await this.#opened?.catch(() => null);
    await opened?.database[Symbol.asyncDispose]();
  }

  #wakeIn(delayMs: number): void {
    if (this.#over.aborted || this.#timer !== null || this.#running !== null) return;
    this.#timer = this.#options.clock.timer(delayMs, () => {
      this.#timer = null;
      void this.#start();
    });
  }

  #start(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      // Entries may have come after the last look.
      if (this.#pending.size > 0 || this.#looks.done < this.#looks.wanted) this.#wakeIn(gatherMs);
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    /** Agents whose embedder does not answer now, with the reasons: the others' conversations do not wait for it. */
    const failing = new Map<string, unknown>();
    const { wanted, done } = this.#looks;
    try {
      if (done < wanted) {
        await this.#removeGone();
        for (let before: string | null = null; ;) {
          const page: readonly Source[] = await this.#sources.page(before, conversationsAtOnce);
          await this.#follow(page, failing);
          before = page.at(-1)?.conversation ?? null;
          if (page.length < conversationsAtOnce) break;
        }
        if (!this.#over.aborted && failing.size === 0) this.#looks.done = wanted;
      }
      // A list, because those whose embedder fails are added again.
      const pending = [...this.#pending];
      for (const conversation of pending) {
        if (this.#over.aborted) return;
        // Before it is read, because it may grow again while its texts are embedded.
        this.#pending.delete(conversation);
        try {
          const source = await this.#sources.get(conversation);
          if (source !== null) await this.#follow([source], failing);
          if (source !== null && failing.has(source.agent)) this.#pending.add(conversation);
        } catch (error) {
          this.#pending.add(conversation);
          throw error;
        }
      }
      for (const reason of failing.values()) throw reason;
      this.#failures = 0;
    } catch (error) {
      if (this.#over.aborted || wanted !== this.#looks.wanted) return;
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures++);
      this.#options.log.warn(
        `Messages did not get their vectors, and are found by their words until that works: ${messageOf(error)}`,
      );
      this.#timer = this.#options.clock.timer(pauseMs, () => {
        this.#timer = null;
        void this.#start();
      });
    }
  }

  async #follow(sources: readonly Source[], failing: Map<string, unknown>): Promise<void> {
    // A mind's own log contains no messages.
    const talks = sources.filter(({ conversation, agent }) => conversation !== agent);
    let progress: Map<string, Progress> | null = null;
    for (const source of talks) {
      if (this.#over.aborted) return;
      if (failing.has(source.agent)) continue;
      try {
        const embedder = await this.#options.embedderOf(source.agent);
        if (embedder === null) continue;
        // Most conversations have nothing new: one query finds them.
        progress ??= await (await this.#open()).rows.progress(talks.map(({ conversation }) => conversation));
        const known = progress.get(source.conversation);
        if (known?.space !== embedder.name || known.seq !== source.last) await this.#embed(source);
      } catch (error) {
        if (isLaresError(error, "StorageError")) throw error;
        failing.set(source.agent, error);
      }
    }
  }

  async #embed(first: Source): Promise<void> {
    const { clock } = this.#options;
    const { conversation, agent } = first;
    for (let source: Source | null = first; source !== null && !this.#over.aborted;) {
      // Looked up for each batch: a person may name another one, or let it see nothing more, while texts are embedded.
      const embedder = await this.#options.embedderOf(agent);
      if (embedder === null) return;
      const { rows } = await this.#open();
      const known = (await rows.progress([conversation])).get(conversation);
      // A power cut took entries, or a kernel died while it deleted the conversation: the rest may be others' vectors.
      const isAhead = known !== undefined && known.seq > source.last;
      if (isAhead) await rows.drop(conversation, 0);
      const seq = !isAhead && known?.space === embedder.name ? known.seq : 0;
      if (seq >= source.last) return;
      await unlessOver(this.#removals.over(), this.#over);
      const [began, { signal }] = [clock.monotonic(), this.#removals];
      const texts = await this.#sources.texts(source, seq, entriesAtOnce);
      const made = this.#vectorsOf(texts, embedder, signal).catch((error: unknown) => {
        if (signal.aborted) return [];
        throw error;
      });
      const entries = await unlessOver(made, this.#over);
      if (entries === null || this.#over.aborted) return;
      const next = texts.length < entriesAtOnce ? source.last : (texts.at(-1)?.seq ?? source.last);
      const progress = { conversation, space: embedder.name, seq: next };
      if (signal.aborted || !(await this.#stored(rows, progress, entries)))
        // The texts that were read may have been removed.
        source = await this.#sources.get(conversation);
      await this.#rest(Math.max(leastRestMs, (clock.monotonic() - began) * restFactor));
    }
  }

  /** Returns false if something was removed meanwhile. */
  async #stored(rows: VectorRows, progress: Progress, entries: readonly EntryVectors[]): Promise<boolean> {
    try {
      await rows.store(progress, entries, this.#options.maxVectors());
      return true;
    } catch (error) {
      if (isLaresError(error, "Conflict")) return false;
      throw error;
    }
  }

  async #vectorsOf(
    texts: readonly { readonly seq: number; readonly entry: string; readonly text: string }[],
    embedder: TextEmbedder,
    signal: AbortSignal,
  ): Promise<EntryVectors[]> {
    const chunks = texts.flatMap(({ text }, index) => chunksOf(text).map((chunk) => ({ index, chunk })));
    const made: Float32Array[][] = texts.map(() => []);
    for (let at = 0; at < chunks.length && !this.#over.aborted; at += textsAtOnce) {
      signal.throwIfAborted();
      const part = chunks.slice(at, at + textsAtOnce);
      const vectors = await embedder.items(
        part.map(({ chunk }) => chunk),
        signal,
      );
      for (const [of, { index }] of part.entries()) {
        const vector = vectors[of];
        if (vector !== undefined && vector !== null) made[index]?.push(vector);
      }
    }
    return texts.map(({ seq, entry }, index) => ({ seq, entry, vectors: made[index] ?? [] }));
  }

  /** A kernel may have died between a deletion in the ledger and here. */
  async #removeGone(): Promise<void> {
    if (this.#opened === null && !(await this.#options.exists())) return;
    const { rows } = await this.#open();
    for (let after = ""; ;) {
      const some = await rows.conversations(after, conversationsAtOnce);
      for (const gone of await this.#sources.gone(some)) await rows.drop(gone, 0);
      after = some.at(-1) ?? "";
      if (some.length < conversationsAtOnce) return;
    }
  }

  async #remove(remove: (rows: VectorRows) => Promise<void>): Promise<void> {
    this.#removals.interrupt();
    if (this.#over.aborted || (this.#opened === null && !(await this.#options.exists()))) return;
    await remove((await this.#open()).rows);
  }

  #open(): Promise<{ readonly database: Database; readonly rows: VectorRows }> {
    if (this.#opened === null) {
      const opened = this.#options.open().then((database) => ({ database, rows: new VectorRows(database) }));
      this.#opened = opened;
      opened.catch(() => {
        if (this.#opened === opened) this.#opened = null;
      });
    }
    return this.#opened;
  }

  #inTime<Value>(work: Promise<Value>): Promise<Value | null> {
    return new Promise((resolve, reject) => {
      const timer = this.#options.clock.timer(queryTimeoutMs, () => resolve(null));
      work.then(resolve, reject).finally(() => timer[Symbol.dispose]());
    });
  }

  #rest(ms: number): Promise<void> {
    if (this.#over.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.#options.clock.timer(ms, resolve);
      this.#wakeUp = () => {
        timer[Symbol.dispose]();
        resolve();
      };
    });
  }
}
