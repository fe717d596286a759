import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelEvent } from "../../../base/vocabulary/model.ts";
import { neverAborted } from "../../../base/abort.ts";
import { Stopped } from "../../failures.ts";
import { streamModel } from "./stream-model.ts";
import {
  eventsOf,
  providerOf,
  recorded,
  requestOf,
  streamed,
  testKey,
  type WireApi,
  wireApis,
  written,
} from "./testing/wire.ts";

const full = {
  think: "Hm.",
  say: ["Hel", "lo ", "🙂"],
  calls: [{ id: "a", tool: "files_read", json: '{"path":"a"}' }],
};
const tools = [{ name: "files_read", description: "Reads.", parameters: { type: "object" } }];

function expectOneEnd(events: readonly ModelEvent[]): void {
  const ends = events.filter(({ type }) => type === "done" || type === "failed");
  expect(ends).toEqual([events.at(-1)]);
  const sent = events.filter(({ type }) => type === "sent");
  expect(sent.length).toBeLessThanOrEqual(1);
  if (events.length > 1) expect(events[0]).toEqual({ type: "sent" });
}

/** A body of these pieces, after which it stays open. */
function stalled(pieces: readonly string[]): Response {
  let at = 0;
  const encoder = new TextEncoder();
  return new Response(
    new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        const piece = pieces[at++];
        if (piece !== undefined) return controller.enqueue(encoder.encode(piece));
        return new Promise(() => undefined);
      },
    }),
    { headers: { "content-type": "text/event-stream" } },
  );
}

for (const api of wireApis) {
  test(`${api}: a web page in place of an answer is named as one`, async () => {
    const page = "<html><body>Log in to the hotel's network</body></html>";
    const { fetch } = recorded(() => new Response(page, { headers: { "content-type": "text/html" } }));
    const events = await eventsOf(requestOf(api), api, fetch);
    expect(events.at(-1)).toMatchObject({
      type: "failed",
      failure: { class: "InvalidRequest", message: expect.stringMatching(/web page.*base_url/) as string },
    });
  });

  test(`${api}: an answer that is cut anywhere is a failure`, async () => {
    const whole = Buffer.from(written(api, full));
    const request = requestOf(api, { tools });
    // If only the last event is missing, the answer is complete.
    for (let at = 0; at < whole.length * 0.6; at += 13) {
      for (const error of [null, new Error("ECONNRESET")]) {
        const { fetch } = recorded(() => {
          let isSent = false;
          return new Response(
            new ReadableStream<Uint8Array<ArrayBuffer>>({
              pull(controller) {
                if (!isSent) controller.enqueue(new Uint8Array(whole.subarray(0, at)));
                else if (error === null) controller.close();
                else controller.error(error);
                isSent = true;
              },
            }),
            { headers: { "content-type": "text/event-stream" } },
          );
        });
        const events = await eventsOf(request, api, fetch);
        expectOneEnd(events);
        expect([at, events.at(-1)]).toMatchObject([at, { type: "failed", failure: { class: "Network" } }]);
      }
    }
  });

  test(`${api}: an answer without words is EmptyAnswer, and empty bodies end`, async () => {
    const nothing = recorded(() => streamed(api, written(api, { say: ["", " "] })));
    expect((await eventsOf(requestOf(api), api, nothing.fetch)).at(-1)).toMatchObject({
      type: "failed",
      failure: { class: "EmptyAnswer" },
    });
    for (const body of ["", null, "\n\n\n", "data: [DONE]\n\n", "<html></html>"]) {
      const { fetch } = recorded(() => new Response(body));
      const events = await eventsOf(requestOf(api), api, fetch);
      expectOneEnd(events);
      expect(events.at(-1)).toMatchObject({ type: "failed", failure: { class: "Network" } });
    }
  });

  test(`${api}: a stall ends with the signal, whatever its reason`, async () => {
    const text = written(api, full);
    for (const [reason, failureClass] of [
      [undefined, "Cancelled"],
      [new Stopped("Cancelled", "The request was cancelled."), "Cancelled"],
      [new Stopped("Timeout", "lab sent nothing within 5 ms."), "Timeout"],
    ] as const) {
      const aborter = new AbortController();
      const { fetch } = recorded(() => stalled([text.slice(0, text.length / 2)]));
      const events: ModelEvent[] = [];
      const call = { provider: providerOf(api), key: testKey, request: requestOf(api, { tools }) };
      for await (const event of streamModel(call, fetch, aborter.signal)) {
        events.push(event);
        if (event.type === "reasoning" || event.type === "text") aborter.abort(reason);
      }
      expectOneEnd(events);
      expect(events.at(-1)).toMatchObject({ type: "failed", failure: { class: failureClass } });
    }
  });

  test(`${api}: a signal that is aborted before sends nothing`, async () => {
    const { fetch, sent } = recorded(() => streamed(api, written(api, full)));
    const events = await eventsOf(requestOf(api), api, fetch, AbortSignal.abort());
    expect(events).toMatchObject([{ type: "failed", failure: { class: "Cancelled" } }]);
    expect(sent).toEqual([]);
  });

  test(`${api}: an answer of 100 MB ends with a failure, and is not read to its end`, async () => {
    for (const piece of floodOf(api)) {
      const bytes = new TextEncoder().encode(piece);
      let sentBytes = 0;
      const { fetch } = recorded(
        () =>
          new Response(
            new ReadableStream<Uint8Array<ArrayBuffer>>({
              pull(controller) {
                sentBytes += bytes.length;
                controller.enqueue(bytes);
                if (sentBytes > 100 * 1024 * 1024) controller.close();
              },
            }),
            { headers: { "content-type": "text/event-stream" } },
          ),
      );
      let last: ModelEvent | undefined;
      const call = { provider: providerOf(api), key: testKey, request: requestOf(api, { tools }) };
      for await (const event of streamModel(call, fetch, neverAborted)) last = event;
      expect(last).toMatchObject({
        type: "failed",
        failure: { message: expect.stringContaining("too large") as string },
      });
      expect(sentBytes).toBeLessThan(40 * 1024 * 1024);
    }
  });

  test(`${api}: an answer of an error that never ends is cut`, async () => {
    let sentBytes = 0;
    const bytes = new Uint8Array(64 * 1024).fill(0x78);
    const { fetch } = recorded(
      () =>
        new Response(
          new ReadableStream<Uint8Array<ArrayBuffer>>({
            pull(controller) {
              sentBytes += bytes.length;
              controller.enqueue(bytes);
            },
          }),
          { status: 500 },
        ),
    );
    const events = await eventsOf(requestOf(api), api, fetch);
    expect(events.at(-1)).toMatchObject({ type: "failed", failure: { class: "Overloaded" } });
    expect(sentBytes).toBeLessThan(1024 * 1024);
  });

  test(`${api}: cancelled at any moment, an answer ends exactly once`, { timeout: 60_000 }, async () => {
    const text = written(api, full);
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 12 }),
        fc.nat({ max: 40 }),
        fc.integer({ min: 1, max: 400 }),
        fc.boolean(),
        async (afterEvents, afterTurns, pieceBytes, isStalled) => {
          const aborter = new AbortController();
          const { fetch } = recorded(async () => {
            await Promise.resolve();
            return isStalled ? stalled([text.slice(0, pieceBytes)]) : streamed(api, text, pieceBytes);
          });
          const abortLater = async (): Promise<void> => {
            for (let turn = 0; turn < afterTurns; turn++) await Promise.resolve();
            aborter.abort();
          };
          const events: ModelEvent[] = [];
          const call = { provider: providerOf(api), key: testKey, request: requestOf(api, { tools }) };
          let cancelling: Promise<void> | null = afterEvents === 0 ? abortLater() : null;
          // A stall ends with the signal only, so it is aborted at the first delta at the latest.
          const most = isStalled ? 1 : afterEvents;
          for await (const event of streamModel(call, fetch, aborter.signal)) {
            events.push(event);
            if (events.length >= most) cancelling ??= abortLater();
          }
          await cancelling;
          expectOneEnd(events);
          const last = events.at(-1);
          if (last?.type === "failed") expect(last.failure.class).toBe("Cancelled");
        },
      ),
      { numRuns: 200 },
    );
  });

  test(`${api}: over a real connection, ending the iteration closes it`, async () => {
    const text = written(api, full);
    const closed = Promise.withResolvers<void>();
    await using server = await serverOf((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(text.slice(0, text.length - 10));
      response.once("close", () => closed.resolve());
    });
    const provider = { ...providerOf(api), baseUrl: server.url };
    const call = { provider, key: testKey, request: requestOf(api, { tools }) };
    for await (const event of streamModel(call, fetch, neverAborted))
      if (event.type === "reasoning" || event.type === "text") break;
    await closed.promise;
  });

  test(`${api}: a connection that is cut or refused, and a redirect, have their classes`, async () => {
    const text = written(api, full);
    let redirected = 0;
    await using cutting = await serverOf((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(text.slice(0, text.length / 2), () => response.destroy());
    });
    await using target = await serverOf((_request, response) => {
      redirected++;
      response.end();
    });
    await using redirecting = await serverOf((_request, response) => {
      response.writeHead(307, { location: target.url }).end();
    });
    const closed = await serverOf(() => undefined);
    await closed[Symbol.asyncDispose]();
    for (const [{ url }, failureClass] of [
      [cutting, "Network"],
      [closed, "Network"],
      [redirecting, "InvalidRequest"],
    ] as const) {
      const provider = { ...providerOf(api), baseUrl: url };
      const call = { provider, key: testKey, request: requestOf(api, { tools }) };
      const events = await Array.fromAsync(streamModel(call, fetch, neverAborted));
      expectOneEnd(events);
      expect(events.at(-1)).toMatchObject({ type: "failed", failure: { class: failureClass } });
    }
    expect(redirected).toBe(0);
  });
}

async function serverOf(listener: RequestListener): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      if (!server.listening) return;
      server.close();
      await once(server, "close");
    },
  };
}

/** Pieces that, repeated, make an answer without end: long texts, and one event that never ends. */
function floodOf(api: WireApi): readonly string[] {
  const long = "x".repeat(512 * 1024);
  const text = written(api, { say: [long] });
  // The beginning of an answer may come several times; its end must not.
  const piece = text
    .split(api === "ollama" ? "\n" : "\n\n")
    .filter((event) => event.includes(long))
    .map((event) => event + (api === "ollama" ? "\n" : "\n\n"))
    .join("");
  return [piece, api === "ollama" ? long : `data: ${long}\n`];
}
