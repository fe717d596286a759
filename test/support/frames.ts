/** Handwritten LSP frames, so that the tests do not share a bug with the library the kernel uses. */

export type Message = { [key: string]: unknown; id?: number | string | null; method?: string };

/** One message as it goes over the wire; the length counts bytes. */
export function frame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message), "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "ascii"), body]);
}

/** Collects bytes and yields whole messages; throws if the stream is not LSP. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #length = 0;
  /** The bytes that the next message needs, as far as it is known; a large one is put together once. */
  #needed = 0;

  push(chunk: Buffer): Message[] {
    this.#pieces.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return [];
    let bytes = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces);
    const messages: Message[] = [];
    for (;;) {
      this.#needed = 0;
      const end = bytes.indexOf("\r\n\r\n");
      if (end < 0) break;
      const header = bytes.subarray(0, end).toString("ascii");
      const length = /^Content-Length: (\d+)$/im.exec(header)?.[1];
      if (length === undefined) throw new Error(`stdout is not LSP: ${JSON.stringify(header)}`);
      const start = end + 4;
      this.#needed = start + Number(length);
      if (bytes.length < this.#needed) break;
      messages.push(JSON.parse(bytes.subarray(start, this.#needed).toString("utf8")) as Message);
      bytes = bytes.subarray(this.#needed);
    }
    this.#pieces = [bytes];
    this.#length = bytes.length;
    return messages;
  }
}
