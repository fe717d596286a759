/** A JSON-RPC message: a request, a notification, or an answer. */
export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const headerEnd = "\r\n\r\n";

/** Encodes a message with LSP's framing; the length counts bytes. */
export function frame(message: Message): Buffer {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }), "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}${headerEnd}`, "ascii"), body]);
}

/** Collects bytes and yields complete messages; throws if the stream is not LSP. */
export class FrameReader {
  #bytes = Buffer.alloc(0);

  push(chunk: Buffer): Message[] {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const end = this.#bytes.indexOf(headerEnd);
      if (end === -1) return messages;
      const header = this.#bytes.subarray(0, end).toString("ascii");
      const length = Number(/^content-length: *(\d+)$/im.exec(header)?.[1]);
      if (Number.isNaN(length)) throw new Error(`The kernel wrote invalid LSP: ${JSON.stringify(header)}`);
      const start = end + headerEnd.length;
      if (this.#bytes.length < start + length) return messages;
      messages.push(JSON.parse(this.#bytes.subarray(start, start + length).toString("utf8")) as Message);
      this.#bytes = this.#bytes.subarray(start + length);
    }
  }
}
