/** A provider of language models that speaks every wire, answers each request in the same words, and keeps what it got. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { wireApis, written, type WireApi } from "../../kernel/src/egress/host/providers/testing/wire.ts";

export interface PictureProvider extends AsyncDisposable {
  readonly host: string;
  /** The bodies of the requests, oldest first. */
  readonly bodies: { readonly api: WireApi; readonly text: string }[];
  /** Returns whether a request is refused as one with a picture that cannot be read. */
  refuses: (body: string) => boolean;
}

const refusal = JSON.stringify({
  type: "error",
  error: { type: "invalid_request_error", message: "Could not process image", code: 400 },
});

/** Each wire has the path of its name. */
export async function startPictureProvider(): Promise<PictureProvider> {
  const bodies: PictureProvider["bodies"] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const name = (request.url ?? "").split("/")[1];
      const api = wireApis.find((each) => each === name);
      if (api === undefined) return void response.writeHead(404).end();
      const text = Buffer.concat(pieces).toString("utf8");
      bodies.push({ api, text });
      if (provider.refuses(text))
        return void response.writeHead(400, { "content-type": "application/json" }).end(refusal);
      const type = api === "ollama" ? "application/x-ndjson" : "text/event-stream";
      response.writeHead(200, { "content-type": type }).end(written(api, { say: ["I see it."] }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const provider: PictureProvider = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    refuses: () => false,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return provider;
}
