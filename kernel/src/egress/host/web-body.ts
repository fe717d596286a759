import { Readable, type Transform } from "node:stream";

/** An answer that is longer ends with an error, because half of it would not be an answer. */
export function webBody(body: Transform, maxBytes: number): ReadableStream<Uint8Array> {
  let left = maxBytes;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      const bytes = piece as Uint8Array;
      left -= bytes.length;
      if (left < 0) throw new Error(`The answer is longer than ${maxBytes} bytes.`);
      yield bytes;
    }
  };
  return Readable.toWeb(Readable.from(counted(), { objectMode: false })) as ReadableStream<Uint8Array>;
}
