import { nextTurn } from "../../base/next-turn.ts";
import { messageOf, storageError } from "../../base/errors.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import type { ChainEnd } from "../../memory-contract/records.ts";
import type { StoreMemory } from "../../memory-contract/store-port.ts";
import type { DerivedData, Follower } from "./follower.ts";
import { Gate } from "./gate.ts";
import { type JournalBatch, JournalMismatch, JournalReader } from "./journal-reader.ts";
import { isDamage } from "./kept-file.ts";
import {
  discardProjections,
  OpenedProjections,
  pathOf,
  type ProjectionOptions,
  type Projections,
} from "./opened.ts";
import { Progress } from "./progress.ts";
import { isPurgeDue } from "./purge.ts";

type Query<Attached extends DerivedData, Result> = (projections: Projections<Attached>) => Promise<Result>;

/**
 * One memory's projections. Brings them up to the point that a request has to see, and rebuilds them if they do not
 * match the journal or are damaged. Queries run concurrently. Replacing files excludes all queries; projecting a batch
 * excludes `steady` ones.
 */
export class Projector<Attached extends DerivedData> implements AsyncDisposable {
  readonly #options: ProjectionOptions<Attached>;
  readonly #key: string;
  readonly #folder: string;
  readonly #reader = new JournalReader();
  /** The requests to one memory that wait are bounded by the client, with `maxWaitingPerMemory`. */
  readonly #writing = new OneAtATime();
  /** Held alone while files are replaced. */
  readonly #replacing = new Gate();
  /** Held alone while a batch is projected. */
  readonly #projecting = new Gate();
  #opened: OpenedProjections<Attached> | null = null;
  #isClosing = false;

  private constructor(options: ProjectionOptions<Attached>, memory: StoreMemory) {
    this.#options = options;
    this.#key = memory.key;
    this.#folder = memory.folder;
  }

  /** `quarantineReason`: why the files on the disk must be discarded; null if they may be used. */
  static async open<Attached extends DerivedData>(
    options: ProjectionOptions<Attached>,
    memory: StoreMemory,
    quarantineReason: string | null,
  ): Promise<Projector<Attached>> {
    const projector = new Projector(options, memory);
    if (quarantineReason !== null) await projector.#discard(quarantineReason);
    await projector.#open(memory);
    return projector;
  }

  /**
   * Runs a query once the projections contain everything up to `memory.end`. If damage is found, rebuilds the
   * projections and runs the query again.
   */
  async query<Result>(memory: StoreMemory, run: Query<Attached, Result>): Promise<Result> {
    try {
      return await this.#queryOnce(memory, run);
    } catch (error) {
      if (!isDamage(error)) throw error;
      await this.rebuild(memory, messageOf(error));
      return await this.#queryOnce(memory, run);
    }
  }

  /** Like `query`, but nothing is projected while it runs. For short work with several statements. */
  steadyQuery<Result>(memory: StoreMemory, run: Query<Attached, Result>): Promise<Result> {
    return this.query(memory, (projections) => this.#projecting.shared(() => run(projections)));
  }

  /** Brings the projections up to `memory.end`. */
  catchUp(memory: StoreMemory): Promise<void> {
    return this.#writing.run("", async () => {
      const { derived } = await this.#current(memory);
      await derived.configure(memory.settings);
      try {
        await this.#follow(memory);
      } catch (error) {
        if (error instanceof JournalMismatch) await this.#replace(memory, error.message);
        else if (this.#options.asksForRebuild(error)) await this.#replace(memory, null);
        else throw error;
        await this.#follow(memory);
      }
      await this.#purge(memory);
    });
  }

  /** Deletes the projections and rebuilds them. A reason is reported. */
  rebuild(memory: StoreMemory, reason: string | null): Promise<void> {
    return this.#writing.run("", async () => {
      await this.#replace(memory, reason);
      await this.#follow(memory);
    });
  }

  /** The seq up to which the tables are projected. */
  get projected(): number {
    return this.#opened?.tables.watermark.seq ?? 0;
  }

  /** Stops after the current batch, then closes everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await this.#writing.run("", () => this.#replacing.alone(() => this.#close()));
  }

  async #queryOnce<Result>(memory: StoreMemory, run: Query<Attached, Result>): Promise<Result> {
    for (;;) {
      await this.catchUp(memory);
      const answer = await this.#replacing.shared(async () => {
        const opened = this.#opened;
        // The files were replaced between the two steps.
        if (opened === null || opened.tables.watermark.seq < memory.end.seq) return null;
        return { result: await run(opened) };
      });
      if (answer !== null) return answer.result;
    }
  }

  /** Throws JournalMismatch if the projections are not of this journal. */
  async #follow(memory: StoreMemory): Promise<void> {
    const opened = await this.#current(memory);
    const followers = [opened.tables, opened.texts];
    const [from, ...others] = followers
      .map(({ watermark }) => watermark)
      .toSorted((left, right) => left.seq - right.seq);
    if (from === undefined) return;
    for (const watermark of [from, ...others]) await this.#checkIn(watermark, memory);
    if (from.seq >= memory.end.seq) return;
    const progress = new Progress(memory.end.seq - from.seq, (done, total) =>
      this.#options.notice({ kind: "progress", memory: this.#key, what: "projections", done, total }),
    );
    for await (const batch of ahead(this.#reader.read(from, memory))) {
      await this.#project(followers, batch);
      await opened.derived.follow();
      progress.reached(batch.end.seq - from.seq);
      if (this.#isClosing) throw closed();
      // Other memories are answered between batches.
      await nextTurn();
    }
  }

  async #checkIn(watermark: ChainEnd, memory: StoreMemory): Promise<void> {
    const { end } = memory;
    const isIn =
      watermark.seq === end.seq ? watermark.hash === end.hash : await this.#reader.holds(watermark, memory);
    if (!isIn) throw new JournalMismatch(watermark);
  }

  async #project(followers: readonly Follower[], { records, end }: JournalBatch): Promise<void> {
    try {
      await this.#projecting.alone(async () => {
        for (const follower of followers) {
          const { seq } = follower.watermark;
          if (seq >= end.seq) continue;
          const isNew = (records[0]?.seq ?? end.seq) > seq;
          await follower.apply(isNew ? records : records.filter((record) => record.seq > seq), end);
        }
      });
    } catch (error) {
      // Only the files show their state: a COMMIT may have succeeded although it returned an error.
      await this.#replacing.alone(() => this.#close());
      throw error;
    }
  }

  /** Removes redacted data from the file itself, not only from query results. */
  async #purge(memory: StoreMemory): Promise<void> {
    const opened = await this.#current(memory);
    if (opened.tables.isPurgeChecked) return;
    if (await isPurgeDue(opened.file)) {
      await this.#replacing.alone(async () => {
        await this.#close();
        await this.#options.duck.rewrite(pathOf(this.#folder, "tables"));
        await this.#open(memory);
      });
    }
    (await this.#current(memory)).tables.isPurgeChecked = true;
  }

  async #replace(memory: StoreMemory, reason: string | null): Promise<void> {
    if (this.#isClosing) throw closed();
    await this.#replacing.alone(async () => {
      await this.#close();
      await this.#discard(reason);
      await this.#open(memory);
    });
  }

  async #discard(reason: string | null): Promise<void> {
    await discardProjections(this.#folder);
    if (reason === null) return;
    this.#options.notice({ kind: "rebuilt", memory: this.#key, what: "projections", reason });
  }

  async #current(memory: StoreMemory): Promise<OpenedProjections<Attached>> {
    if (this.#isClosing) throw closed();
    return this.#opened ?? (await this.#replacing.alone(() => this.#open(memory)));
  }

  async #open(memory: StoreMemory): Promise<OpenedProjections<Attached>> {
    return (this.#opened = await OpenedProjections.open(this.#options, memory));
  }

  async #close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    await opened?.[Symbol.asyncDispose]();
  }
}

/** Reads the next item while the current one is processed. */
async function* ahead<Item>(items: AsyncGenerator<Item, void, undefined>): AsyncGenerator<Item, void> {
  let next = items.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done === true) return;
      next = items.next();
      // The consumer may stop with this item and never receive the error of the next one.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await next.catch(() => undefined);
    await items.return();
  }
}

const closed = (): Error => storageError("This memory's projections are being closed; ask again.");
