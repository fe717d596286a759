/** Answers of models as long as a provider can make them. */
import { expect, test } from "vitest";
import type { ModelEvent } from "../../base/vocabulary/model.ts";
import type { EgressRequest } from "./answer.ts";
import { streamFromProvider } from "./task.ts";
import { openClient, requestTo, serve } from "./testing/requests.ts";

/** Longer than a busy machine needs for so much JSON. */
const limits = { timeoutMs: 600_000, idleMs: 600_000, maxBytes: 64 * 1024 * 1024 };

function questionTo(url: string): EgressRequest {
  const host = new URL(url).host;
  const provider = { id: "lab", api: "openai-compatible", baseUrl: url } as const;
  const messages = [{ role: "user", parts: [{ type: "text", text: "hello" }] }] as const;
  return requestTo(url, {
    method: "POST",
    rules: {
      allowedHosts: [host],
      privateHosts: [],
      providerHosts: [{ provider: "lab", host }],
      provider: "lab",
    },
    limits,
    task: { kind: "generate", provider, key: null, request: { model: "lab/m", messages } },
  });
}

const line = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

test("an answer that takes more as JSON than a frame holds comes whole, and ends no other request", async () => {
  const piece = "\u0001".repeat(10_000);
  const pieces = 700;
  const held = Promise.withResolvers<void>();
  const { url } = await serve((request, response) => {
    if (request.url === "/held") return void held.promise.then(() => response.end("done"));
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let n = 0; n < pieces; n++) response.write(line({ content: piece }));
    response.end(`${line({}, "stop")}data: [DONE]\n\n`);
  });
  const { client } = openClient();
  const other = client.request(requestTo(`${url}/held`, { limits }));
  let shown = 0;
  let last: ModelEvent | null = null;
  for await (const event of streamFromProvider(client, questionTo(url))) {
    if (event.type === "text") shown += event.text.length;
    last = event;
  }
  expect(last, JSON.stringify(last)).toMatchObject({ type: "done" });
  expect(shown).toBe(piece.length * pieces);
  held.resolve();
  await expect(other).resolves.toMatchObject({ status: 200 });
});
