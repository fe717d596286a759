import { storageError } from "../base/errors.ts";
import { FileReplacement } from "../platform/files/file-replacement.ts";
import { forEachLine, readLineBlocks } from "./lines.ts";
import { type RecordForm, redactedLine } from "./record.ts";
import { Tally } from "./tally.ts";

const lineFeed = Buffer.from("\n");

/** A segment on its way to being without some of its records' data; everything else of it stays byte for byte. */
export class SegmentRewrite<Kind extends string> implements AsyncDisposable {
  /** Of the records that lose their data: their lines as they were. */
  readonly dropped = new Tally<Kind>();
  /** How many those are. */
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

  /** Bytes of the new form. */
  get size(): number {
    return this.#copy.size;
  }

  /** Seq of the record after the last one that was copied. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Goes on where it was, up to `end` in the old form, which is at a record's end. */
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

  /** From here on the segment is the new one; lasting once the folder is synchronized. */
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

  /** It was proven when it was opened. Verifying says what is wrong; here nothing is made of it. */
  #changed(seq: number): Error {
    return storageError(
      `The journal's segment "${this.#path}" was changed by somebody else, at seq ${seq} at the latest. It was left as it is.`,
    );
  }
}
