import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { OneAtATime } from "../base/one-at-a-time.ts";
import { failpoint } from "../platform/failpoint.ts";
import { type Checkpoint, encodeCheckpoint } from "./checkpoint.ts";
import type { FirstBad } from "./scan.ts";

/** A checkpoint is made after this many appended records. It bounds how many an opening has to prove. */
export const checkpointRecords = 10_000;
const checkpointBytes = 16 * 1024 * 1024;
/** The delay between a reason for the background proof and its beginning. */
const proofDelayMs = 10_000;
/** The pause between pieces of 256 KiB, each of which takes a millisecond or two. */
const restMs = 10;

/** Stores a journal's checkpoint, and schedules the background proofs. */
export interface Checkpoints {
  readonly stored: string | null;
  /** Stores the checkpoint, or drops it; calls take effect in order. With "power", the change survives a power cut. */
  store(text: string | null): Promise<void>;
  /** Shared by all journals: one of them at a time is proven in the background. */
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
  reached(): { readonly seq: number; readonly size: number };
  /** Called when the journal is not what was written; calls `giveUp`. */
  damaged(firstBad: FirstBad): Promise<void>;
}

/** The proof was abandoned, because the journal is closed or a segment is being rewritten. */
class GivenUp extends Error {}

/**
 * Proves a journal that was opened from a checkpoint from its root in the background, and makes checkpoints while
 * the journal grows. Gives way to redactions and to closing.
 */
export class BackgroundProof implements AsyncDisposable {
  readonly #parts: BackgroundProofParts;
  /** The newest checkpoint that is valid. */
  #checkpoint: Checkpoint | null;
  /** Records and bytes up to the stored checkpoint; null if none is stored. */
  #kept: { readonly seq: number; readonly size: number } | null;
  #isRootDue: boolean;
  #timer: Disposable | null = null;
  /** Incremented by every event that makes a running proof useless. */
  #interruptions = 0;
  #running: Promise<void> | null = null;
  #rest: { readonly timer: Disposable; end(): void } | null = null;
  #isHeld = false;
  #isClosed = false;

  /** `from` is the checkpoint that the opening continued from; `checkpoint` is the one that it could make. */
  constructor(parts: BackgroundProofParts, from: Checkpoint | null, checkpoint: Checkpoint | null) {
    this.#parts = parts;
    this.#checkpoint = checkpoint;
    this.#isRootDue = from !== null;
    // A checkpoint that the opening could not use stays stored until it is replaced or dropped.
    if (from !== null) this.#kept = { seq: from.at.end.seq, size: from.at.size };
    else this.#kept = parts.checkpoints.stored === null ? null : { seq: 0, size: 0 };
    this.grown();
  }

  /** Called when the journal has grown, or a redaction has ended. */
  grown(): void {
    if (!this.#mayBegin() || this.#timer !== null || !this.#isDue()) return;
    this.#timer = this.#parts.clock.timer(proofDelayMs, () => {
      this.#timer = null;
      void this.#parts.checkpoints.turns.run("proof", () => this.#run());
    });
  }

  /**
   * Runs `rewrite`, which rewrites segments: that invalidates every checkpoint and what a running proof has read.
   * Rejects without running it if the stored checkpoint cannot be dropped.
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

  /** Proves nothing more, and drops the checkpoint, so that the next opening finds the damage too. */
  async giveUp(): Promise<void> {
    this.#isClosed = true;
    this.#interrupt();
    if (this.#kept === null) return;
    await this.#parts.checkpoints.store(null).catch((error: unknown) => this.#warn(error));
  }

  #interrupt(): void {
    this.#interruptions += 1;
    this.#rest?.timer[Symbol.dispose]();
    this.#rest?.end();
  }

  async #run(): Promise<void> {
    // The turn may have waited for other journals.
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
      if (firstBad !== null) return await this.#parts.damaged(firstBad);
      this.#isRootDue = false;
      if (checkpoint === null) {
        // Retried after as many appended records again.
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
      // Any failure is retried with the next records or at the next opening.
      this.#isRootDue = false;
      this.#kept = this.#parts.reached();
    }
  }

  async #pause(mayGoOn: () => boolean): Promise<void> {
    // The interruption came during the read, when there was no timer of a pause to end.
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
