import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { OneAtATime } from "../base/one-at-a-time.ts";
import { failpoint } from "../platform/failpoint.ts";
import { type Checkpoint, encodeCheckpoint } from "./checkpoint.ts";
import type { FirstBad } from "./scan.ts";

/** A checkpoint is made when so much was appended since the last one: what an opening proves at most, beside. */
export const checkpointRecords = 10_000;
const checkpointBytes = 16 * 1024 * 1024;
/** The background proof begins so long after there is a reason for it. */
const proofDelayMs = 10_000;
/** It rests so long between pieces of 256 KiB, which take a millisecond or two. */
const restMs = 10;

/** Where a journal's checkpoint is kept, and whose turn it is. */
export interface Checkpoints {
  readonly stored: string | null;
  /** Keeps it, or drops it; takes effect in the order of the calls. "power": also a power cut does not take that back. */
  store(text: string | null): Promise<void>;
  /** Shared by all journals: one of them is proven in the background at a time. */
  readonly turns: OneAtATime;
}

interface BackgroundProofParts {
  readonly clock: Pick<Clock, "timer">;
  readonly log: Log;
  readonly checkpoints: Checkpoints;
  /** Proves what is on the disk, from the root or a checkpoint. */
  prove(
    from: Checkpoint | null,
    pause: () => Promise<void>,
  ): Promise<{ readonly firstBad: FirstBad | null; readonly checkpoint: Checkpoint | null }>;
  /** How far the journal is. */
  reached(): { readonly seq: number; readonly size: number };
  /** The journal is not what was written. */
  damaged(firstBad: FirstBad): void;
}

/** The proof was given up, since the journal is closed or a segment is written anew. */
class GivenUp extends Error {}

/**
 * Proves a journal from its root behind its user's back, where it was opened from a checkpoint, and makes checkpoints
 * while the journal grows. Gives way to redactions and to the journal's end.
 */
export class BackgroundProof implements AsyncDisposable {
  readonly #parts: BackgroundProofParts;
  /** The newest one that holds. */
  #checkpoint: Checkpoint | null;
  /** Records and bytes up to the checkpoint that is kept; null where none is. */
  #kept: { readonly seq: number; readonly size: number } | null;
  #isRootDue: boolean;
  #timer: Disposable | null = null;
  /** Counts what a proof under way is given up for. */
  #interruptions = 0;
  #running: Promise<void> | null = null;
  #rest: { readonly timer: Disposable; end(): void } | null = null;
  #isHeld = false;
  #isClosed = false;

  /** `from`: the checkpoint that the opening went on from; `checkpoint`: the one that it could make. */
  constructor(parts: BackgroundProofParts, from: Checkpoint | null, checkpoint: Checkpoint | null) {
    this.#parts = parts;
    this.#checkpoint = checkpoint;
    this.#isRootDue = from !== null;
    // One that was not good for the opening is still there, until it is replaced or dropped.
    if (from !== null) this.#kept = { seq: from.at.end.seq, size: from.at.size };
    else this.#kept = parts.checkpoints.stored === null ? null : { seq: 0, size: 0 };
    this.grown();
  }

  /** The journal has grown, or a redaction is over. */
  grown(): void {
    if (!this.#mayBegin() || this.#timer !== null || !this.#isDue()) return;
    this.#timer = this.#parts.clock.timer(proofDelayMs, () => {
      this.#timer = null;
      void this.#parts.checkpoints.turns.run("proof", () => this.#run());
    });
  }

  /**
   * Runs `rewrite`, which writes segments anew: no checkpoint holds after it, and what a proof reads meanwhile says
   * nothing. Rejects, without having run it, where the checkpoint that is kept cannot be dropped.
   */
  async giveWay(rewrite: () => Promise<void>): Promise<void> {
    this.#isHeld = true;
    this.#interrupt();
    this.#checkpoint = null;
    try {
      if (this.#kept !== null) await this.#parts.checkpoints.store(null);
      this.#kept = null;
      failpoint("journal.checkpoint.dropped");
      await rewrite();
    } finally {
      this.#isHeld = false;
      this.grown();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
    this.#interrupt();
    await this.#running;
  }

  #mayBegin(): boolean {
    return !this.#isClosed && !this.#isHeld && this.#running === null;
  }

  #isDue(): boolean {
    return this.#isRootDue || this.#isFar(this.#kept);
  }

  #isFar(from: { readonly seq: number; readonly size: number } | null): boolean {
    const { seq, size } = this.#parts.reached();
    return seq - (from?.seq ?? 0) >= checkpointRecords || size - (from?.size ?? 0) >= checkpointBytes;
  }

  #interrupt(): void {
    this.#interruptions += 1;
    this.#rest?.timer[Symbol.dispose]();
    this.#rest?.end();
  }

  async #run(): Promise<void> {
    // It may have waited for other journals.
    if (!this.#mayBegin() || !this.#isDue()) return;
    this.#running = this.#prove();
    await this.#running;
    this.#running = null;
    this.grown();
  }

  async #prove(): Promise<void> {
    const interruptions = this.#interruptions;
    const mayGoOn = (): boolean => this.#interruptions === interruptions && !this.#isClosed;
    const { checkpoints } = this.#parts;
    try {
      const from = this.#isRootDue ? null : this.#checkpoint;
      const { firstBad, checkpoint } = await this.#parts.prove(from, () => this.#pause(mayGoOn));
      if (!mayGoOn()) return;
      if (firstBad !== null) {
        // The next opening is to find it, too.
        await checkpoints.store(null).catch((error: unknown) => this.#warn(error));
        this.#isClosed = true;
        this.#parts.damaged(firstBad);
        return;
      }
      this.#isRootDue = false;
      if (checkpoint === null) {
        // Tried again when as much was appended once more.
        this.#kept ??= this.#parts.reached();
        return;
      }
      failpoint("journal.checkpoint.begun");
      this.#checkpoint = checkpoint;
      this.#kept = { seq: checkpoint.at.end.seq, size: checkpoint.at.size };
      await checkpoints.store(encodeCheckpoint(checkpoint));
      failpoint("journal.checkpoint.done");
    } catch (error) {
      if (error instanceof GivenUp || !mayGoOn()) return;
      this.#warn(error);
      // Whatever it was, it is tried again with the next records or at the next opening.
      this.#isRootDue = false;
      this.#kept = this.#parts.reached();
    }
  }

  async #pause(mayGoOn: () => boolean): Promise<void> {
    // Interrupted while it read: nobody would end the timer of this rest.
    if (!mayGoOn()) throw new GivenUp();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#rest = { timer: this.#parts.clock.timer(restMs, resolve), end: resolve };
    await promise;
    this.#rest = null;
    if (!mayGoOn()) throw new GivenUp();
  }

  #warn(error: unknown): void {
    this.#parts.log.warn("A journal could not be proven in the background.", { reason: messageOf(error) });
  }
}
