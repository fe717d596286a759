import { limitExceeded, storageError } from "../../base/errors.ts";
import { sha256Sum } from "../../platform/files/hash.ts";
import { encodePreamble, encodeSegmentHeader, maxSegments, type SegmentKind } from "./format.ts";

interface Output {
  append(bytes: Uint8Array): Promise<void>;
}
type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Writes the container, one segment after the other, one piece at a time. */
export class ContainerWriter {
  readonly #output: Output;
  readonly #sum = sha256Sum();
  #segments = 0;

  private constructor(output: Output) {
    this.#output = output;
  }

  static async begin(output: Output): Promise<ContainerWriter> {
    const writer = new ContainerWriter(output);
    const preamble = encodePreamble();
    writer.#sum.update(preamble);
    await output.append(preamble);
    return writer;
  }

  /** `pieces` must have `length` bytes together; otherwise throws StorageError. */
  async segment(kind: SegmentKind, length: number, pieces: Pieces): Promise<void> {
    this.#segments += 1;
    if (this.#segments > maxSegments) {
      const message = `This memory would take more than ${maxSegments} segments; it is too large for one file.`;
      throw limitExceeded("segments", this.#segments, message);
    }
    const header = encodeSegmentHeader(kind, length);
    const sum = sha256Sum().update(header);
    await this.#output.append(header);
    let written = 0;
    for await (const piece of pieces) {
      sum.update(piece);
      await this.#output.append(piece);
      written += piece.byteLength;
    }
    if (written !== length) {
      throw storageError(
        `The journal became ${length - written} bytes shorter while it was exported. Try again.`,
      );
    }
    const digest = sum.digest();
    this.#sum.update(digest);
    await this.#output.append(digest);
  }

  whole(kind: SegmentKind, bytes: Uint8Array): Promise<void> {
    return this.segment(kind, bytes.byteLength, [bytes]);
  }

  /** Writes the footer: a digest over the preamble and all segments' digests. */
  async end(): Promise<void> {
    await this.whole("END", this.#sum.digest());
  }
}
