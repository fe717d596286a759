/**
 * A provider of language models in a thread of its own, so that its work is not measured with the kernel's: OpenAI's
 * Chat Completions, with 100 numbered tokens a second. The question is the name of the stream and the number of its
 * tokens.
 */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

export const tokensPerSecond = 100;
const tickMs = 5;

/** Milliseconds on a clock that all threads and processes of this machine share. */
export const sharedNow = (): number => performance.timeOrigin + performance.now();

/** Starts the provider. Resolves with its host and port. */
export async function startTokenProvider(): Promise<AsyncDisposable & { readonly host: string }> {
  const worker = new Worker(new URL(import.meta.url));
  const [port] = (await once(worker, "message")) as [number];
  return {
    host: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}

/** Reads a token: the stream's name, the token's number in it, and when it was sent. */
export function tokenOf(text: string): {
  readonly stream: string;
  readonly number: number;
  readonly at: number;
} {
  const [stream = "", number = "", at = ""] = text.trim().split(":");
  return { stream, number: Number(number), at: Number(at) };
}

interface OpenStream {
  readonly name: string;
  readonly count: number;
  readonly began: number;
  readonly response: ServerResponse;
  sent: number;
}

const event = (choice: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, ...choice }], ...more })}\n\n`;

async function serve(): Promise<void> {
  const open = new Set<OpenStream>();
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
    request.on("end", () => {
      const [, name = "", count = ""] = /stream (\S+) of (\d+)/.exec(body) ?? [];
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      const stream = { name, count: Number(count), began: performance.now(), response, sent: 0 };
      open.add(stream);
      response.once("close", () => open.delete(stream));
    });
  });
  setInterval(() => {
    const now = performance.now();
    for (const stream of open) {
      const due = Math.min(stream.count, Math.floor(((now - stream.began) / 1000) * tokensPerSecond));
      let text = "";
      for (; stream.sent < due; stream.sent++)
        text += event({ delta: { content: `${stream.name}:${stream.sent}:${sharedNow().toFixed(2)} ` } });
      if (text !== "") stream.response.write(text);
      if (stream.sent < stream.count) continue;
      open.delete(stream);
      const usage = { prompt_tokens: 1, completion_tokens: stream.count, total_tokens: stream.count + 1 };
      stream.response.end(`${event({ delta: {}, finish_reason: "stop" }, { usage })}data: [DONE]\n\n`);
    }
  }, tickMs);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  parentPort?.postMessage((server.address() as AddressInfo).port);
}

if (!isMainThread && parentPort !== null && import.meta.url.endsWith("token-provider.ts")) await serve();
