const newline = 0x0a;

/** Splits a stream of bytes into lines and detects lines that are too long. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #decoder = new TextDecoder();
  readonly #partial: Uint8Array[] = [];
  #partialBytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Returns the lines that are now complete, without "\n"; null once a line is too long. */
  push(chunk: Uint8Array): string[] | null {
    const first = chunk.indexOf(newline);
    if (first < 0) {
      this.#keep(chunk);
      return this.#partialBytes > this.#maxLineBytes ? null : [];
    }
    if (this.#partialBytes + first > this.#maxLineBytes) return null;
    const last = chunk.lastIndexOf(newline);
    const lines = this.#decode(chunk.subarray(0, last)).split("\n");
    // Only a chunk larger than the limit can contain a too long line between its first and last newline.
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
    // The last piece of a run ends it, so that invalid bytes in one line do not affect the next.
    if (this.#partialBytes === 0) return this.#decoder.decode(rest);
    let text = "";
    for (const part of this.#partial.splice(0)) text += this.#decoder.decode(part, { stream: true });
    this.#partialBytes = 0;
    return text + this.#decoder.decode(rest);
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
