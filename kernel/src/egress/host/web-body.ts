import type { Transform } from "node:stream";

/** An answer that is longer ends with an error, because half of it would not be an answer. */
export function webBody(body: Transform, maxBytes: number): ReadableStream<Uint8Array> {
  let left = maxBytes;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      // What has ended, failed or been dropped takes nothing more.
      let isOpen = true;
      const fail = (error: Error): void => {
        if (isOpen) controller.error(error);
        isOpen = false;
      };
      if (body.destroyed) return fail(body.errored ?? new Error("The answer ended early."));
      body.on("data", (chunk: Buffer) => {
        left -= chunk.length;
        if (left < 0) return void body.destroy(new Error(`The answer is longer than ${maxBytes} bytes.`));
        controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
        if ((controller.desiredSize ?? 0) <= 0) body.pause();
      });
      body.once("error", fail);
      body.once("end", () => {
        if (isOpen) controller.close();
        isOpen = false;
      });
      body.once("close", () => fail(new Error("The answer ended early.")));
    },
    pull: () => void body.resume(),
    cancel: () => void body.destroy(),
  });
}
