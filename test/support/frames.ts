/** Handwritten LSP frames, so that the tests do not share a bug with the library the kernel uses. */

export type Message = { [key: string]: unknown; id?: number | string | null; method?: string };

/** One message as it goes over the wire; the length counts bytes. */
export function frame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message), "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "ascii"), body]);
}

/** Collects bytes and yields whole messages; throws if the stream is not LSP. */
export class FrameReader {
  #bytes: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Message[] {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const end = this.#bytes.indexOf("\r\n\r\n");
      if (end < 0) return messages;
      const header = this.#bytes.subarray(0, end).toString("ascii");
      const length = /^Content-Length: (\d+)$/im.exec(header)?.[1];
      if (length === undefined) throw new Error(`stdout is not LSP: ${JSON.stringify(header)}`);
      const start = end + 4;
      if (this.#bytes.length < start + Number(length)) return messages;
      const body = this.#bytes.subarray(start, start + Number(length)).toString("utf8");
      this.#bytes = this.#bytes.subarray(start + Number(length));
      messages.push(JSON.parse(body) as Message);
    }
  }
}
