import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { written } from "../../kernel/src/egress/host/providers/testing/wire.ts";

/** What a request says, as far as a test decides by it. */
export interface GeminiQuestion {
  readonly contents: readonly {
    readonly role: string;
    readonly parts: readonly { readonly text?: string; readonly functionResponse?: unknown }[];
  }[];
}
export type GeminiAnswer = Parameters<typeof written>[1];

/** Starts a service on this machine that speaks the API of Google's models, and answers as a test says. */
export async function startGemini(
  answer: (question: GeminiQuestion) => GeminiAnswer,
): Promise<AsyncDisposable & { readonly host: string }> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const question = JSON.parse(Buffer.concat(pieces).toString("utf8")) as GeminiQuestion;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(written("google", answer(question)));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
