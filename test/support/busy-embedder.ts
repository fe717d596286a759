import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts a service of embeddings on this machine that is busy when asked about more than the first 32 of numbered texts. */
export async function startBusyEmbedder(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { input } = JSON.parse(Buffer.concat(pieces).toString("utf8")) as { input: string[] };
      if (input.some((text) => Number(/\d+/.exec(text)?.[0] ?? 0) > 32))
        return void response.writeHead(503).end();
      response.end(JSON.stringify({ data: input.map(() => ({ embedding: [0, 0.6, 0.8] })) }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
