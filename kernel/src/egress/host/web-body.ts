import type { Transform } from "node:stream";

/**
 * Returns a body as the web's streams are. An answer that is longer ends with an error, because half of it would not be
 * an answer. Pieces are only taken when they are asked for: one that is pushed into a stream that somebody has just left
 * would be an error of the whole process. `heard` is called for each piece.
 */
export function webBody(body: Transform, maxBytes: number, heard: () => void): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  let left = maxBytes;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) return controller.close();
        heard();
        left -= value.length;
        if (left < 0) {
          const tooLong = new Error(`The answer is longer than ${maxBytes} bytes.`);
          body.destroy(tooLong);
          throw tooLong;
        }
        controller.enqueue(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
      },
      cancel: () => void body.destroy(),
    },
    { highWaterMark: 0 },
  );
}
