import type { EgressHead, HostRequest } from "../messages.ts";
import type { Connections } from "./connections.ts";
import { exchange, type ExchangePort } from "./exchange.ts";

export interface AnswerPort extends ExchangePort {
  head(head: EgressHead): void;
  /** Called for each piece that the server sends. */
  heard(): void;
  /** Resolves when more may follow. */
  chunk(bytes: Uint8Array): Promise<void>;
}

/** Carries out one request and passes its answer on. Resolves when the answer has ended. */
export async function answer(
  { method, url, headers, rules, limits }: HostRequest,
  body: Uint8Array,
  connections: Connections,
  port: AnswerPort,
): Promise<{ readonly isTruncated: boolean }> {
  const reply = await exchange({ method, url, headers, body }, rules, connections, port);
  port.head(reply.head);
  return { isTruncated: await passOn(reply.body, limits.maxBytes, port) };
}

async function passOn(body: AsyncIterable<unknown>, maxBytes: number, port: AnswerPort): Promise<boolean> {
  let left = maxBytes;
  for await (const piece of body) {
    const bytes = piece as Uint8Array;
    port.heard();
    if (bytes.length > left) {
      if (left > 0) await port.chunk(bytes.subarray(0, left));
      // Leaving the loop destroys the body, and with it the connection.
      return true;
    }
    left -= bytes.length;
    await port.chunk(bytes);
  }
  return false;
}
