import type { ByteChannel } from "./child-process.ts";

/**
 * Hands each line of a channel to `receive`, as the JSON value it is. The other side is trusted to write such lines;
 * where one it did not is to be survived, `garbled` is told instead, and nothing of the channel is read any more.
 */
export function receiveJsonLines(
  channel: ByteChannel,
  receive: (value: unknown) => void,
  garbled?: (error: unknown) => void,
): void {
  const parse = (line: string): { readonly value: unknown } | null => {
    try {
      return { value: JSON.parse(line) };
    } catch (error) {
      if (garbled === undefined) throw error;
      listening[Symbol.dispose]();
      garbled(error);
      return null;
    }
  };
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  const listening = channel.chunks.on((chunk) => {
    const [first = "", ...rest] = decoder.decode(chunk, { stream: true }).split("\n");
    pieces.push(first);
    for (const next of rest) {
      const read = parse(pieces.join(""));
      if (read === null) return;
      receive(read.value);
      pieces = [next];
    }
  });
}

export function sendJsonLine(channel: ByteChannel, value: unknown): void {
  channel.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
}
