import type { LaresError } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { removeLeftoverTemporaries, syncFolder } from "../platform/files/atomic-file.ts";
import { joinPath, makeFolder, openDataFile } from "../platform/files/data-files.ts";
import type { Durability } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoint.ts";
import { storageFailure } from "../platform/files/storage-failure.ts";
import type { ObjectStore } from "../platform/files/object-store.ts";
import { BackgroundProof, type Checkpoints } from "./background-proof.ts";
import { type Checkpoint, decodeCheckpoint } from "./checkpoint.ts";
import { type Choose, findParts, findRecords } from "./find.ts";
import type { Anchor } from "./anchor.ts";
import { maxInlineBytes, type Part, Parts } from "./parts.ts";
import type { RecordForm, RecordInput } from "./record.ts";
import { type Fold, type Proof, type ProofOptions, prove, proveFrom, type StartFold } from "./proof.ts";
import { maxRangesPerRecord } from "./redaction.ts";
import { SegmentRewrite } from "./rewrite.ts";
import type { FirstBad } from "./scan.ts";
import type { SeqSet } from "./seq-set.ts";
import type { AppendOptions, EncodedAs } from "./append-group.ts";
import { type OpenSegment, Tail, type TailOptions, type TailStart } from "./tail.ts";
import { type ChainEnd, chainStart } from "../memory-contract/records.ts";
import { findSegments, segmentFileName } from "../memory-contract/segments.ts";
import { Tally } from "./tally.ts";
import { damageError, type Verification, verifySegments, withBadPart } from "./verify.ts";

export interface JournalOptions<Kind extends string> extends Omit<TailOptions, "storeAnchor" | "partsBytes"> {
  readonly form: RecordForm<Kind>;
  /** `tally` counts what is stored at that time, or a little later. */
  storeAnchor(anchor: Anchor, durability: Durability, tally: Tally<Kind>): Promise<void>;
  /** The end that was stored with the last anchor. */
  readonly anchor: Anchor | undefined;
  /** Where the checkpoint is stored. Without it, openings prove from the root, and there is no background proof. */
  readonly checkpoints?: Checkpoints;
  /**
   * Holds the parts of this journal's records and nothing else: what no record names is removed from it. Without it,
   * records have no parts.
   */
  readonly parts?: ObjectStore;
  /** Reports how many bytes were cut off at the end because they never reached the disk completely. */
  cutOff?(bytes: number): void;
  /** Reports that the open journal is not what was written; it refuses everything from then on. */
  damaged?(error: LaresError): void;
}

interface RedactionResult {
  /** Seqs of the redact records. */
  readonly seqs: readonly number[];
  /** The number of records that have lost their data. */
  readonly records: number;
}

const emptyAnchor: Anchor = { ...chainStart, size: 0, carriedOut: 0 };

/** The turn of operations on whole segments; none of them meets a segment that is being replaced. */
const segmentsTurn = "segments";

/** An append-only, hash-chained log. */
export class Journal<Kind extends string> implements AsyncDisposable {
  /** Records that still have their data. */
  readonly tally: Tally<Kind>;
  readonly #folder: string;
  readonly #form: RecordForm<Kind>;
  readonly #tail: Tail;
  /** Proofs and redactions, which few ask for: a person, an agent's open calls, and the opening. */
  readonly #turns = new OneAtATime();
  readonly #parts: Parts;
  readonly #options: Pick<JournalOptions<Kind>, "name" | "maxBytes" | "refusals">;
  /** Records that a redact record names and that still have their data. */
  readonly #pending: SeqSet;
  #lastRedact: number;
  #redactedRecords: number;

  readonly #proof: BackgroundProof | null;
  readonly #damaged: (firstBad: FirstBad) => Promise<void>;

  private constructor(
    options: JournalOptions<Kind>,
    start: TailStart,
    { redactions, tally }: Pick<Proof<Kind, never>, "redactions" | "tally">,
    parts: Parts,
    startProof: (journal: Journal<Kind>) => BackgroundProof | null,
  ) {
    this.#folder = options.folder;
    this.#form = options.form;
    this.#parts = parts;
    this.#options = options;
    const storeAnchor: TailOptions["storeAnchor"] = (anchor, durability) =>
      options.storeAnchor(anchor, durability, tally);
    const grown = (): void => {
      this.#proof?.grown();
      options.grown?.();
    };
    const partsBytes = (): number => parts.bytes;
    this.#tail = new Tail(
      { ...options, storeAnchor, grown, partsBytes },
      start,
      ({ kind, operation }, bytes) =>
        // The type of `append` admits only records of these kinds.
        tally.add({ kind: kind as Kind, operation }, bytes),
    );
    this.#pending = redactions.pending;
    this.#lastRedact = redactions.last;
    this.#redactedRecords = redactions.count;
    this.tally = tally;
    this.#damaged = async (firstBad) => {
      await this.#proof?.giveUp();
      if (this.isBroken) return;
      const error = damageError(options.name, options.folder, firstBad);
      options.log.error(error.message);
      this.#tail.fail(error);
      options.damaged?.(error);
    };
    this.#proof = startProof(this);
  }

  /**
   * Proves the journal, from its root or from the stored checkpoint, and opens it; `found` is the fold of its
   * records. Throws StorageError, naming the first bad record, if the journal is not what was written.
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
    const parts = await Parts.open(options.parts);
    const journal = new Journal(options, start, proof, parts, (opened) =>
      checkpoints === undefined
        ? null
        : new BackgroundProof(
            {
              ...options,
              checkpoints,
              reached: () => ({ seq: opened.end.seq, size: opened.size }),
              prove: async (checkpoint, pause) => {
                const proven = await opened.#prove(checkpoint, { form, startFold, pause });
                if (checkpoint === null && proven.firstBad === null)
                  await opened.#turns.run(segmentsTurn, () => opened.#dropUnnamedParts());
                return proven;
              },
              damaged: (bad) => opened.#damaged(bad),
            },
            shortProof === null ? null : from,
            proof.checkpoint,
          ),
    );
    // A kernel may have died between storing a part and appending its record.
    if (shortProof === null) await journal.#dropUnnamedParts();
    return { journal, found: proof.fold };
  }

  get end(): ChainEnd {
    return this.#tail.end;
  }

  /** True after a failure that leaves the content of the disk unknown until it is read again. */
  get isBroken(): boolean {
    return this.#tail.broken !== null;
  }

  /** Bytes of all segments. */
  get size(): number {
    return this.#tail.size;
  }

  /** Redact records up to this seq have been carried out. */
  get carriedOut(): number {
    return this.#tail.carriedOut;
  }

  /** The number of records without data. It changes when a segment is rewritten, which moves the records in it. */
  get redactedRecords(): number {
    return this.#redactedRecords;
  }

  /**
   * Appends the records consecutively, without any other record between them. Resolves when the operating system
   * has all of them, so they survive the death of any process. Rejects with HeadConflict if the journal does not
   * end at `expectedHead`, with LimitExceeded if they do not fit, and with StorageError if they cannot be written;
   * then none of them is stored. After a power cut, or if the process dies meanwhile, the first few may be stored.
   */
  append<Inputs extends readonly RecordInput<Kind>[]>(
    records: readonly [...Inputs],
    options: Pick<AppendOptions, "expectedHead"> = {},
  ): Promise<EncodedAs<Inputs>> {
    for (const { parts } of records) if (parts !== undefined) this.#parts.checkNamed(parts);
    return this.#tail.append(records, options);
  }

  /**
   * Stores a content that a record will name by its hash. Append that record before disposing of the part: a part
   * that no record names is removed. Rejects with LimitExceeded if the part is too large or does not fit.
   */
  keep(content: Uint8Array): Promise<Part> {
    const wantedBytes = this.size + this.#parts.bytes + content.byteLength;
    const maxBytes = this.#options.maxBytes();
    if (wantedBytes > maxBytes) return Promise.reject(this.#options.refusals.full(wantedBytes, maxBytes));
    return this.#parts.keep(content);
  }

  /** Like `keep`; null for a content that is so small that it belongs in the record. */
  async keepIfLarge(content: Uint8Array): Promise<Part | null> {
    return content.byteLength > maxInlineBytes ? await this.keep(content) : null;
  }

  /** Yields a part's bytes. StorageError if it is missing or is not what was stored. */
  readPart(hash: Hash): AsyncGenerator<Uint8Array, void, void> {
    return this.#parts.read(hash);
  }

  /** Returns the parts that records name, each with the seq of the first that does: what an export has to take. */
  async parts(): Promise<ReadonlyMap<Hash, number>> {
    return await this.#turns.run(segmentsTurn, () => this.#findParts());
  }

  /** Resolves when everything appended before is on the disk, together with the anchor that names it. */
  sync(): Promise<void> {
    return this.#tail.sync();
  }

  /** Proves the whole journal on the disk against the end in memory. A damaged one refuses everything after. */
  verify(signal?: AbortSignal): Promise<Verification> {
    return this.#turns.run(segmentsTurn, async () => {
      const { segments, end } = await this.#tail.snapshot();
      const anchor = { ...end, carriedOut: this.#tail.carriedOut };
      const verification = await verifySegments(segments, anchor, this.#form, signal);
      if (verification.firstBad !== undefined) await this.#damaged(verification.firstBad);
      if (verification.firstBad !== undefined) return verification;
      // The records are what was written, so the journal continues without a lost content.
      return withBadPart(verification, await this.#parts.verify(await this.#findParts(), signal));
    });
  }

  /**
   * Removes the data of the chosen records: appends redact records that name them, then rewrites the segments.
   * Resolves when that is durable. If it rejects after a redact record was written, the next redaction or the next
   * opening completes it.
   */
  redact(choose: Choose<Kind>, id: string, reason: string): Promise<RedactionResult> {
    return this.#turns.run(segmentsTurn, async () => {
      const seqs: number[] = [];
      let records = 0;
      for (let isWhole = false; !isWhole;) {
        // A record may be named only once.
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

  /** Completes redactions that a crash or a full disk interrupted. */
  finishRedactions(): Promise<void> {
    return this.#turns.run(segmentsTurn, () => this.#carryOut());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proof?.[Symbol.asyncDispose]();
    try {
      if (!this.isBroken) await this.#tail.syncAll();
    } finally {
      await this.#tail[Symbol.asyncDispose]();
    }
  }

  /** Appends a redact record, even over the quota, because it makes the journal smaller. */
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

  async #findParts(): Promise<ReadonlyMap<Hash, number>> {
    return await findParts((await this.#tail.snapshot()).segments, this.#form);
  }

  /** Called in the turn of `segmentsTurn`, or before anybody else has the journal. */
  async #dropUnnamedParts(): Promise<void> {
    await this.#parts.dropUnnamed(() => this.#findParts());
  }

  async #carryOut(): Promise<void> {
    if (this.#tail.carriedOut === this.#lastRedact) return;
    // A record may lose its data only when the record that names it is durable.
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
    await this.#dropUnnamedParts();
    await this.#tail.whileQuiet(async () => {
      // This also covers a segment that was replaced before a crash, whose name may not be on the disk yet.
      await this.#syncFolder();
      this.#tail.carriedOut = this.#lastRedact;
      await this.#tail.anchorNow();
      failpoint("journal.redaction.anchored");
    });
  }

  /** Copies most of the segment while appends continue. They wait only for the rest and for the rename. */
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

  /** Runs beside appends: it proves the records that were there when it began. */
  async #prove<F extends Fold<Kind>>(
    from: Checkpoint | null,
    options: ProofOptions<Kind, F>,
  ): Promise<Proof<Kind, F>> {
    const { segments, end } = await this.#tail.snapshot();
    // A checkpoint names only records that are on the disk and anchored.
    await this.#tail.sync();
    const anchor = { ...end, carriedOut: this.#tail.carriedOut };
    const shortProof = from === null ? null : await proveFrom(from, segments, anchor, options);
    return shortProof ?? (await prove(segments, anchor, options));
  }

  async #syncFolder(): Promise<void> {
    try {
      await syncFolder(this.#folder);
    } catch (error) {
      throw storageFailure(`Could not bring the folder "${this.#folder}" to the disk`, error);
    }
  }
}
