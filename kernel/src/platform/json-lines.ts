import type { ByteChannel } from "./child-process.ts";

/** Hands each line of a channel to `receive`, as the JSON value it is. The other side is trusted to write such lines. */
export function receiveJsonLines(channel: ByteChannel, receive: (value: unknown) => void): void {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  channel.chunks.on((chunk) => {
    const [first = "", ...rest] = decoder.decode(chunk, { stream: true }).split("\n");
    pieces.push(first);
    for (const next of rest) {
      receive(JSON.parse(pieces.join("")));
      pieces = [next];
    }
  });
}

export function sendJsonLine(channel: ByteChannel, value: unknown): void {
  channel.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
}
