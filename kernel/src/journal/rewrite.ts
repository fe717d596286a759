import { storageError } from "../base/errors.ts";
import { FileReplacement } from "../platform/files/file-replacement.ts";
import { forEachLine, readLineBlocks } from "./lines.ts";
import { type RecordForm, redactedLine } from "./record.ts";
import { Tally } from "./tally.ts";

const lineFeed = Buffer.from("\n");

/** Rewrites a segment without the data of some records. All other bytes stay the same. */
export class SegmentRewrite<Kind extends string> implements AsyncDisposable {
  /** Counts the records that lose their data, with their lines as they were. */
  readonly dropped = new Tally<Kind>();
  droppedRecords = 0;
  readonly #path: string;
  readonly #form: RecordForm<Kind>;
  readonly #isRedacted: (seq: number) => boolean;
  readonly #copy: FileReplacement;
  #read = 0;
  #nextSeq: number;

  private constructor(
    path: string,
    form: RecordForm<Kind>,
    firstSeq: number,
    isRedacted: (seq: number) => boolean,
    copy: FileReplacement,
  ) {
    this.#path = path;
    this.#form = form;
    this.#nextSeq = firstSeq;
    this.#isRedacted = isRedacted;
    this.#copy = copy;
  }

  static async begin<Kind extends string>(
    path: string,
    form: RecordForm<Kind>,
    firstSeq: number,
    isRedacted: (seq: number) => boolean,
  ): Promise<SegmentRewrite<Kind>> {
    return new SegmentRewrite(path, form, firstSeq, isRedacted, await FileReplacement.begin(path));
  }

  /** Bytes of the new file. */
  get size(): number {
    return this.#copy.size;
  }

  /** Seq of the record after the last copied one. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Continues the copy up to `end` in the old file, which is the end of a record. */
  async copyUpTo(end: number): Promise<void> {
    for await (const block of readLineBlocks(this.#path, this.#read, end)) {
      if (!block.isWhole) throw this.#changed(this.#nextSeq);
      let kept = 0;
      const pieces: Uint8Array[] = [];
      forEachLine(block, (line, offset) => {
        const seq = this.#nextSeq;
        this.#nextSeq += 1;
        if (!this.#isRedacted(seq)) return;
        const start = offset - block.offset;
        pieces.push(block.bytes.subarray(kept, start), this.#without(line, seq), lineFeed);
        kept = start + line.length + 1;
      });
      await this.#copy.write(
        pieces.length === 0 ? block.bytes : Buffer.concat([...pieces, block.bytes.subarray(kept)]),
      );
      this.#read = block.offset + block.bytes.length;
    }
    if (this.#read !== end) throw this.#changed(this.#nextSeq);
  }

  synchronize(): Promise<void> {
    return this.#copy.synchronize();
  }

  /** Replaces the segment by the new file. That is durable once the folder is synchronized. */
  rename(): Promise<void> {
    return this.#copy.rename();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#copy[Symbol.asyncDispose]();
  }

  #without(line: Buffer, seq: number): Uint8Array {
    const head = this.#form.readHead(line);
    if (head === null || head.seq !== seq) throw this.#changed(seq);
    if (head.isRedacted) return Buffer.from(line);
    this.dropped.add(head, line.length + 1);
    this.droppedRecords += 1;
    return redactedLine(line, head);
  }

  /** The segment was proven when it was opened, so it was changed since. Verifying the journal shows what is wrong. */
  #changed(seq: number): Error {
    return storageError(
      `The journal's segment "${this.#path}" was changed by another program, at seq ${seq} or before. It was left unchanged.`,
    );
  }
}
