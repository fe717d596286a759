import { LaresError } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { removeLeftoverTemporaries, syncFolder } from "../platform/files/atomic-file.ts";
import { joinPath, makeFolder, openDataFile } from "../platform/files/data-files.ts";
import type { Durability } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoint.ts";
import { storageFailure } from "../platform/files/storage-failure.ts";
import { BackgroundProof, type Checkpoints } from "./background-proof.ts";
import { type Checkpoint, decodeCheckpoint } from "./checkpoint.ts";
import { type Choose, findRecords } from "./find.ts";
import type { Anchor } from "./anchor.ts";
import type { RecordForm, RecordInput } from "./record.ts";
import { type Fold, type Proof, type ProofOptions, prove, proveFrom, type StartFold } from "./proof.ts";
import { maxRangesPerRecord } from "./redaction.ts";
import { SegmentRewrite } from "./rewrite.ts";
import { type FirstBad, type KnownEnd, scanJournal } from "./scan.ts";
import type { SeqSet } from "./seq-set.ts";
import {
  type AppendOptions,
  type EncodedAs,
  type OpenSegment,
  segmentFileName,
  Tail,
  type TailOptions,
  type TailStart,
} from "./tail.ts";
import { type ChainEnd, chainStart } from "../memory-contract/records.ts";
import { findSegments, type Segment } from "../memory-contract/segments.ts";
import { Tally } from "./tally.ts";

export interface Verification {
  readonly ok: boolean;
  /** Records that stand in the chain as they were written. */
  readonly records: number;
  /** Hash of the last of them, 64 hexadecimal digits. */
  readonly head: string;
  readonly firstBad?: FirstBad;
}

export interface JournalOptions<Kind extends string> extends Omit<TailOptions, "storeAnchor"> {
  /** The kinds of its records. */
  readonly form: RecordForm<Kind>;
  /** `tally`: what is stored by then, or a little later. */
  storeAnchor(anchor: Anchor, durability: Durability, tally: Tally<Kind>): Promise<void>;
  /** What the journal had reached when it was last anchored. */
  readonly anchor: Anchor | undefined;
  /** Where its checkpoint is kept. Without: it is proven from its root each time, and not in the background. */
  readonly checkpoints?: Checkpoints;
  /** So many bytes at the end never reached the disk whole, and were cut off. */
  cutOff?(bytes: number): void;
}

interface RedactionResult {
  /** Of the redact records. */
  readonly seqs: readonly number[];
  /** That have lost their data. */
  readonly records: number;
}

const emptyAnchor: Anchor = { ...chainStart, size: 0, carriedOut: 0 };

/** Who uses segments as wholes, one after the other: none of them meets one that is being replaced. */
const segmentsTurn = "segments";

/** An append-only, hash-chained log. */
export class Journal<Kind extends string> implements AsyncDisposable {
  /** Records that still have their data. */
  readonly tally: Tally<Kind>;
  readonly #folder: string;
  readonly #form: RecordForm<Kind>;
  readonly #tail: Tail;
  readonly #turns = new OneAtATime();
  /** Named by a redact record and still with their data. */
  readonly #pending: SeqSet;
  #lastRedact: number;
  #redactedRecords: number;

  readonly #proof: BackgroundProof | null;

  private constructor(
    options: JournalOptions<Kind>,
    start: TailStart,
    { redactions, tally }: Pick<Proof<Kind, never>, "redactions" | "tally">,
    startProof: (journal: Journal<Kind>) => BackgroundProof | null,
  ) {
    this.#folder = options.folder;
    this.#form = options.form;
    const storeAnchor: TailOptions["storeAnchor"] = (anchor, durability) =>
      options.storeAnchor(anchor, durability, tally);
    const grown = (): void => {
      this.#proof?.grown();
      options.grown?.();
    };
    this.#tail = new Tail({ ...options, storeAnchor, grown }, start, ({ kind, operation }, bytes) =>
      // The caller could only hand in records of these kinds.
      tally.add({ kind: kind as Kind, operation }, bytes),
    );
    this.#pending = redactions.pending;
    this.#lastRedact = redactions.last;
    this.#redactedRecords = redactions.count;
    this.tally = tally;
    this.#proof = startProof(this);
  }

  /**
   * Proves the journal, from its root or from the checkpoint that is kept, and opens it; `found` is what was made of
   * its records. Throws StorageError, naming the first bad record, where the journal is not as it was written.
   */
  static async open<Kind extends string, F extends Fold<Kind>>(
    options: JournalOptions<Kind>,
    startFold: StartFold<Kind, F>,
  ): Promise<{ readonly journal: Journal<Kind>; readonly found: F }> {
    const { folder, log, anchor = emptyAnchor, form, name, checkpoints } = options;
    await makeFolder(folder);
    const segments = await findSegments(folder);
    const stored = checkpoints?.stored ?? null;
    const from = stored === null ? null : decodeCheckpoint(stored);
    const shortProof = from === null ? null : await proveFrom(from, segments, anchor, { form, startFold });
    const proof = shortProof ?? (await prove(segments, anchor, { form, startFold }));
    const { end, size, firstBad, torn, firstSeqs } = proof;
    if (firstBad !== null) throw damageError(name, folder, firstBad);
    await removeLeftoverTemporaries(folder);
    const path = segments.at(-1)?.path ?? joinPath(folder, segmentFileName(1));
    const file = await openDataFile(path, "a");
    if (torn !== null) {
      const bytes = torn.segment.size - torn.keepBytes;
      log.warn(`The end of a ${name} journal never reached the disk whole; it was cut off.`, { path, bytes });
      options.cutOff?.(bytes);
      await file.truncate(torn.keepBytes);
    }
    if (segments.length === 0) await syncFolder(folder);
    segments.splice(-1, 1, { path, size: file.size });
    const open = segments.map((segment, index) => ({ ...segment, firstSeq: firstSeqs[index] ?? 1 }));
    const start: TailStart = { segments: open, file, end, size, anchor: options.anchor };
    const journal = new Journal(options, start, proof, (opened) =>
      checkpoints === undefined
        ? null
        : new BackgroundProof(
            {
              ...options,
              checkpoints,
              reached: () => ({ seq: opened.end.seq, size: opened.size }),
              prove: (checkpoint, pause) => opened.#prove(checkpoint, { form, startFold, pause }),
              damaged: (bad) => opened.#damaged(bad, options),
            },
            shortProof === null ? null : from,
            proof.checkpoint,
          ),
    );
    return { journal, found: proof.fold };
  }

  get end(): ChainEnd {
    return this.#tail.end;
  }

  /** Something failed after which only reading it anew tells what is there. */
  get isBroken(): boolean {
    return this.#tail.broken !== null;
  }

  /** Bytes over all segments. */
  get size(): number {
    return this.#tail.size;
  }

  /** Redact records up to this seq have been carried out. */
  get carriedOut(): number {
    return this.#tail.carriedOut;
  }

  /** Records without their data. Other than before: a segment was written anew, and places in it differ. */
  get redactedRecords(): number {
    return this.#redactedRecords;
  }

  /**
   * Appends the records one behind the other, without any other between them. Resolves when the operating system has
   * all of them: they then survive the death of any process. Rejects with HeadConflict where the journal does not end
   * at `expectedHead`, with LimitExceeded where they would not fit, StorageError where they cannot be written; then
   * none of them is there. After a power cut, or where the process dies meanwhile, the first few of them may be.
   */
  append<Inputs extends readonly RecordInput<Kind>[]>(
    records: readonly [...Inputs],
    options: Pick<AppendOptions, "expectedHead"> = {},
  ): Promise<EncodedAs<Inputs>> {
    return this.#tail.append(records, options);
  }

  /** Resolves when everything appended before is on the disk, and so is the anchor that names it. */
  sync(): Promise<void> {
    return this.#tail.sync();
  }

  /** Proves the whole journal as it is on the disk now, against the end it has in memory. */
  verify(): Promise<Verification> {
    return this.#turns.run(segmentsTurn, async () => {
      const { segments, end } = await this.#tail.snapshot();
      return await verifySegments(segments, { ...end, carriedOut: this.#tail.carriedOut }, this.#form);
    });
  }

  /**
   * Takes away what the chosen records said: redact records name them, then the segments are written anew without.
   * Resolves when that is on the disk for good. Where it rejects after a redact record was written, the rest is done
   * by the next redaction, or when the journal is next opened.
   */
  redact(choose: Choose<Kind>, id: string, reason: string): Promise<RedactionResult> {
    return this.#turns.run(segmentsTurn, async () => {
      const seqs: number[] = [];
      let records = 0;
      for (let isWhole = false; !isWhole;) {
        // What is named already must not be named again.
        await this.#carryOut();
        const { segments } = await this.#tail.snapshot();
        const found = await findRecords(segments, this.#form, choose);
        isWhole = found.isWhole;
        for (const [kind, { ranges, count }] of found.byKind) {
          for (let at = 0; at < ranges.length; at += maxRangesPerRecord) {
            seqs.push(await this.#name(ranges.slice(at, at + maxRangesPerRecord), kind, id, reason));
          }
          records += count;
        }
      }
      await this.#carryOut();
      return { seqs, records };
    });
  }

  /** Does what redact records say that were written before a crash, or before the disk was full. */
  finishRedactions(): Promise<void> {
    return this.#turns.run(segmentsTurn, () => this.#carryOut());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proof?.[Symbol.asyncDispose]();
    try {
      if (!this.isBroken) await this.#tail.sync();
    } finally {
      await this.#tail[Symbol.asyncDispose]();
    }
  }

  /** Appends a redact record, also where the journal is full: it makes it smaller. */
  async #name(
    ranges: readonly (readonly [first: number, last: number])[],
    kind: Kind,
    id: string,
    reason: string,
  ): Promise<number> {
    failpoint("journal.redaction.begun");
    const data = canonicalJson({ reason, seqs: ranges });
    const record: RecordInput = { operation: "redact", kind, id, data };
    const [{ end }] = await this.#tail.append([record], { isOverQuota: true });
    this.#lastRedact = end.seq;
    for (const [first, last] of ranges) {
      for (let seq = first; seq <= last; seq++) this.#pending.add(seq);
    }
    failpoint("journal.redaction.appended");
    return end.seq;
  }

  async #carryOut(): Promise<void> {
    if (this.#tail.carriedOut === this.#lastRedact) return;
    // A line may only lose its data once what names it cannot be lost.
    await this.#tail.sync();
    failpoint("journal.redaction.synced");
    if (this.#proof === null) await this.#rewriteAll();
    else await this.#proof.giveWay(() => this.#rewriteAll());
  }

  async #rewriteAll(): Promise<void> {
    const { segments } = await this.#tail.snapshot();
    for (const [index, segment] of segments.entries()) {
      const affected = this.#pending.next(segment.firstSeq);
      const nextFirstSeq = segments[index + 1]?.firstSeq ?? Infinity;
      if (affected !== null && affected < nextFirstSeq) await this.#rewrite(segment);
    }
    await this.#tail.whileQuiet(async () => {
      // Also for a segment that was replaced before a crash: its name may not be on the disk yet.
      await this.#syncFolder();
      this.#tail.carriedOut = this.#lastRedact;
      await this.#tail.anchorNow();
      failpoint("journal.redaction.anchored");
    });
  }

  /** The greater part goes beside the appends; these wait only for what came meanwhile, and for the new name. */
  async #rewrite(segment: OpenSegment): Promise<void> {
    const isRedacted = (seq: number): boolean => this.#pending.has(seq);
    await using rewrite = await SegmentRewrite.begin(segment.path, this.#form, segment.firstSeq, isRedacted);
    await rewrite.copyUpTo(segment.size);
    failpoint("journal.redaction.copied");
    await rewrite.synchronize();
    failpoint("journal.redaction.copy-synced");
    await this.#tail.whileQuiet(async () => {
      await rewrite.copyUpTo(this.#tail.sizeOf(segment));
      await rewrite.synchronize();
      await this.#tail.replaced(segment, rewrite.size, async () => {
        await rewrite.rename();
        failpoint("journal.redaction.renamed");
        await this.#syncFolder();
        failpoint("journal.redaction.folder-synced");
      });
      this.tally.subtract(rewrite.dropped);
      this.#redactedRecords += rewrite.droppedRecords;
      const end = rewrite.nextSeq;
      let seq = this.#pending.next(segment.firstSeq);
      while (seq !== null && seq < end) {
        this.#pending.delete(seq);
        seq = this.#pending.next(seq + 1);
      }
    });
  }

  /** Beside the appends: what is proven is what was there when it began. */
  async #prove<F extends Fold<Kind>>(
    from: Checkpoint | null,
    options: ProofOptions<Kind, F>,
  ): Promise<Proof<Kind, F>> {
    const { segments, end } = await this.#tail.snapshot();
    // A checkpoint names only what is on the disk, and after the anchor that does.
    await this.#tail.sync();
    const anchor = { ...end, carriedOut: this.#tail.carriedOut };
    const shortProof = from === null ? null : await proveFrom(from, segments, anchor, options);
    return shortProof ?? (await prove(segments, anchor, options));
  }

  #damaged(firstBad: FirstBad, { name, folder, log }: JournalOptions<Kind>): void {
    const error = damageError(name, folder, firstBad);
    log.error(error.message);
    this.#tail.fail(error);
  }

  async #syncFolder(): Promise<void> {
    try {
      await syncFolder(this.#folder);
    } catch (error) {
      throw storageFailure(`Could not bring the folder "${this.#folder}" to the disk`, error);
    }
  }
}

function damageError(name: string, folder: string, firstBad: FirstBad): LaresError {
  return new LaresError(
    "StorageError",
    `The ${name} journal in "${folder}" is damaged at seq ${firstBad.seq}: ${firstBad.reason}. It was left as it is; put the folder back from a backup.`,
    { firstBad },
  );
}

/** Proves a journal that is not open. */
export async function verifyJournal(
  folder: string,
  anchor: KnownEnd,
  form: RecordForm<string>,
): Promise<Verification> {
  return await verifySegments(await findSegments(folder), anchor, form);
}

async function verifySegments(
  segments: readonly Segment[],
  anchor: KnownEnd,
  form: RecordForm<string>,
): Promise<Verification> {
  const { end, firstBad } = await scanJournal(segments, anchor, form);
  return {
    ok: firstBad === null,
    records: end.seq,
    head: end.hash,
    ...(firstBad === null ? {} : { firstBad }),
  };
}
