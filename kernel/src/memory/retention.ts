import { maxForgetReason, maxRetentionDays } from "../base/vocabulary/bounds.ts";
import { type Clock, isoTime } from "../base/clock.ts";
import { invalidParams, messageOf, notFound, storageError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { MemoryResult } from "../base/vocabulary/memory-calls.ts";
import { textRemover } from "../base/without-texts.ts";
import type { Forgetting } from "./forgetting.ts";
import type { Journal } from "../journal/journal.ts";
import { idText } from "../journal/record.ts";
import { retentionId } from "./records/kinds.ts";
import type { KnowledgeMemory } from "./knowledge.ts";
import { eventTimeOf, type TemporalMemory } from "./temporal.ts";
import { maxIdLength, type RecordKind } from "../memory-contract/records.ts";
import type { WorkingMemory } from "./working.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** Superseded states of working memory are dropped at this size, or at their share of the quota. */
const maxSupersededBytes = 16 * 1024 * 1024;
const quotaPerSuperseded = 4;
/** Below this size, the schedule does not rewrite a segment for them alone. */
const scheduledSupersededBytes = 1024 * 1024;

export type Cleaned = MemoryResult<"cleanup">;

interface RetentionParts {
  readonly journal: Journal<RecordKind>;
  readonly temporal: TemporalMemory;
  readonly knowledge: KnowledgeMemory;
  readonly working: WorkingMemory;
  readonly forgetting: Forgetting;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns for how many days events are kept; null: forever. Called each time. */
  retentionDays(): number | null;
  maxBytes(): number;
}

/** Removes data from a memory: on request, by age, or because it was superseded. */
export class Retention implements AsyncDisposable {
  readonly #parts: RetentionParts;
  #timer: Disposable | null = null;
  #isClosed = false;
  /** Background work; never rejects. */
  #behind: Promise<void> = Promise.resolve();
  #isDropping = false;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  /** Cleans up now and once a day, in the background. */
  start(): void {
    this.#inBackground(() => this.#scheduled());
    this.#timer = this.#parts.clock.timer(dayMs, () => this.start());
  }

  /**
   * Removes all content of an event or an item. Resolves when it is gone from the journal and from every
   * projection. Rejects with NotFound if nothing has that id (any more).
   */
  async forget(id: string, reason: string): Promise<{ readonly seq: number }> {
    if (id.length === 0 || id.length > maxIdLength) throw notFound("memory", id.slice(0, maxIdLength));
    if (reason.length > maxForgetReason || !reason.isWellFormed()) {
      throw invalidParams(
        `A reason has at most ${maxForgetReason} characters; this one has ${reason.length}.`,
      );
    }
    const { journal, knowledge, forgetting } = this.#parts;
    const wanted = idText(id);
    // Searches the journal, because the projections do not know removed items and their earlier contents any more.
    const { seqs } = await knowledge.inTurn(() =>
      journal.redact(
        ({ kind, idText }) => idText === wanted && (kind === "temporal" || kind === "knowledge"),
        id,
        reason,
      ),
    );
    const seq = seqs.at(-1);
    if (seq === undefined) {
      // A retry after a partial failure gets NotFound only when everything is removed.
      await forgetting.finish();
      throw notFound("memory", id);
    }
    await forgetting.now(seq);
    return { seq };
  }

  /**
   * Removes all content of the events and items that hold one of the texts and name one of the conversations, those that
   * were removed or replaced before too. Returns their number; resolves like `forget`.
   */
  async forgetTexts(
    texts: readonly string[],
    conversations: readonly string[],
    reason: string,
  ): Promise<number> {
    const wanted = textRemover(texts).forms.map((form) => Buffer.from(form));
    const named = conversations.map((id) => Buffer.from(JSON.stringify(id)));
    const { journal, knowledge, forgetting } = this.#parts;
    const ids = new Set<string>();
    const { seqs } = await knowledge.inTurn(async () => {
      // One that has the text is removed with all that was written about it.
      await journal.redact(
        (record, line) => {
          const isCopy =
            wanted.some((each) => line.includes(each)) && named.some((each) => line.includes(each));
          if (isCopy && (record.kind === "temporal" || record.kind === "knowledge")) ids.add(record.idText);
          return false;
        },
        retentionId,
        reason,
      );
      if (ids.size === 0) return { seqs: [] };
      return await journal.redact(({ idText: id }) => ids.has(id), retentionId, reason);
    });
    const seq = seqs.at(-1);
    // What an earlier attempt has begun is completed.
    if (seq === undefined) await forgetting.finish();
    else await forgetting.now(seq);
    return ids.size;
  }

  /** Removes events older than that, and superseded working states. Rejects with InvalidParams, StorageError. */
  async cleanup(retentionDays: number): Promise<Cleaned> {
    if (!Number.isInteger(retentionDays) || retentionDays < 0 || retentionDays > maxRetentionDays) {
      throw invalidParams(`Events can be kept for 0 to ${maxRetentionDays} days, not ${retentionDays}.`);
    }
    return await this.#clean(retentionDays, true);
  }

  /** Called after a swap, so that large superseded states do not accumulate. */
  afterSwap(): void {
    const { working, maxBytes } = this.#parts;
    if (
      this.#isDropping ||
      working.supersededBytes < Math.min(maxSupersededBytes, maxBytes() / quotaPerSuperseded)
    )
      return;
    this.#isDropping = true;
    this.#inBackground(async () => {
      try {
        await this.#clean(null, true);
      } finally {
        this.#isDropping = false;
      }
    });
  }

  /** Frees space without removing anything that a caller can still read. */
  async dropSuperseded(): Promise<void> {
    await this.#clean(null, true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
    await this.#behind;
  }

  async #scheduled(): Promise<void> {
    const { retentionDays, working } = this.#parts;
    await this.#clean(retentionDays(), working.supersededBytes >= scheduledSupersededBytes);
  }

  async #clean(days: number | null, isWorkingMeant: boolean): Promise<Cleaned> {
    const { journal, temporal, working, clock } = this.#parts;
    const before = days === null ? "" : timeBefore(clock.now(), days);
    const areEventsMeant = temporal.oldest !== null && temporal.oldest < before;
    let events = 0;
    let workingStates = 0;
    if (!areEventsMeant && !(isWorkingMeant && working.supersededBytes > 0)) {
      await journal.finishRedactions();
      return { events, workingStates };
    }
    const oldest = temporal.oldest;
    // The remaining and later events determine the oldest time again.
    if (areEventsMeant) temporal.oldest = null;
    try {
      const { seqs } = await journal.redact(
        (record, line) => {
          if (this.#isClosed) throw storageError("This memory is closed.");
          if (record.kind === "working") {
            const isChosen = isWorkingMeant && record.seq < working.newestSeq;
            if (isChosen) workingStates += 1;
            return isChosen;
          }
          const time = areEventsMeant ? eventTimeOf(record, line) : null;
          if (time === null) return false;
          if (time >= before) temporal.seen(time);
          else events += 1;
          return time < before;
        },
        retentionId,
        days === null ? "superseded" : `kept for ${days} days`,
      );
      const seq = seqs.at(-1);
      if (events > 0 && seq !== undefined) this.#parts.forgetting.later(seq);
    } catch (error) {
      if (oldest !== null) temporal.seen(oldest);
      throw error;
    }
    return { events, workingStates };
  }

  #inBackground(work: () => Promise<unknown>): void {
    this.#behind = this.#behind.then(async () => {
      if (this.#isClosed) return;
      try {
        await work();
      } catch (error) {
        if (this.#isClosed) return;
        this.#parts.log.warn("A memory could not be cleaned up; this is retried.", {
          reason: messageOf(error),
        });
      }
    });
  }
}

/** There are no events before the year 1; a text that sorts before every time represents that. */
function timeBefore(nowMs: number, days: number): string {
  const time = isoTime(nowMs - days * dayMs);
  return time.startsWith("-") ? "" : time;
}
