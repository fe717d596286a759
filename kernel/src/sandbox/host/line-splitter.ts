const newline = 0x0a;

/** Cuts a stream of bytes into lines, and says so when one is longer than allowed. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #partial: Uint8Array[] = [];
  #partialBytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that are now complete, without their "\n"; null once a line is too long. */
  push(chunk: Uint8Array): string[] | null {
    const first = chunk.indexOf(newline);
    if (first < 0) {
      this.#keep(chunk);
      return this.#partialBytes > this.#maxLineBytes ? null : [];
    }
    if (this.#partialBytes + first > this.#maxLineBytes) return null;
    const last = chunk.lastIndexOf(newline);
    const lines = this.#decode(chunk.subarray(0, last)).split("\n");
    // Only a chunk larger than a line may be hides one that is too long between its first and last end.
    if (last - first > this.#maxLineBytes && lines.some((line) => byteLength(line) > this.#maxLineBytes))
      return null;
    this.#keep(chunk.subarray(last + 1));
    return this.#partialBytes > this.#maxLineBytes ? null : lines;
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#partial.push(bytes.slice());
    this.#partialBytes += bytes.length;
  }

  #decode(rest: Uint8Array): string {
    // A decoder of its own for each run: what is broken in one line does not reach into the next.
    const decoder = new TextDecoder();
    let text = "";
    for (const part of this.#partial.splice(0)) text += decoder.decode(part, { stream: true });
    this.#partialBytes = 0;
    return text + decoder.decode(rest);
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
