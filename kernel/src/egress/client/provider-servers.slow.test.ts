/** Every provider's adapter, in a real egress host, against servers that do what they should not. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEgress } from "../../../../test/support/token-streams.ts";
import { until } from "../../../../test/support/until.ts";
import type { ModelEvent, ModelFailureClass } from "../../base/vocabulary/model.ts";
import { requestOf, testKey, type WireApi, wireApis, written } from "../host/providers/testing/wire.ts";
import type { EgressRequest } from "./answer.ts";
import type { EgressClient } from "./egress-client.ts";
import { streamFromProvider } from "./task.ts";
import { read, requestTo, serve } from "./testing/requests.ts";

const answer = {
  think: "Hm.",
  say: ["Hel", "lo ", "🙂"],
  calls: [{ id: "a", tool: "files_read", json: '{"path":"a"}' }],
};
const tools = [{ name: "files_read", description: "Reads.", parameters: { type: "object" } }];
const patient = { timeoutMs: 30_000, idleMs: 30_000, maxBytes: 64 * 1024 * 1024 };
const stream = { "content-type": "text/event-stream" };
const megabyte = Buffer.alloc(1024 * 1024, "x");

/** One event, or one line, that is three times as long as an event may be, in a few hundred kilobytes. */
const bombs = {
  lines: gzipSync(Buffer.alloc(48 * 1024 * 1024, "x"), { level: 1 }),
  events: gzipSync(Buffer.alloc(48 * 1024 * 1024, "data: x"), { level: 1 }),
};

/** Asks as the kernel does; the provider's rules leave it nothing but its own host. */
function ask(
  api: WireApi,
  port: number,
  { limits = patient, signal }: Pick<Partial<EgressRequest>, "limits" | "signal"> = {},
): AsyncGenerator<ModelEvent, void> {
  const host = `127.0.0.1:${port}`;
  const baseUrl = `http://${host}/base`;
  return streamFromProvider(client, {
    who: "test",
    method: "POST",
    url: baseUrl,
    headers: [],
    rules: {
      allowedHosts: [host],
      privateHosts: [],
      providerHosts: [{ provider: "lab", host }],
      provider: "lab",
    },
    limits,
    task: {
      kind: "generate",
      provider: { id: "lab", api, baseUrl },
      key: testKey,
      request: requestOf(api, { tools }),
    },
    ...(signal === undefined ? {} : { signal }),
  });
}

/** For all tests: each host takes a while to start. */
let client: EgressClient;
beforeAll(() => {
  client = openEgress();
});
afterAll(() => client[Symbol.asyncDispose]());

/** A server whose behaviour is the one that was chosen last; counts the requests since then. */
async function serveAs() {
  let behave: RequestListener = () => undefined;
  let asked = 0;
  const { port, sockets } = await serve((request, response) => {
    request.resume();
    request.once("end", () => {
      asked++;
      behave(request, response);
    });
  });
  return {
    port,
    sockets,
    become(next: (request: IncomingMessage, response: ServerResponse) => void): () => number {
      behave = next;
      asked = 0;
      return () => asked;
    },
  };
}

/** Writes the piece again and again, as fast as the other side takes it, until the connection is closed. */
function flood(response: ServerResponse, piece: Uint8Array, written: { bytes: number }): void {
  const more = (): void => {
    while (!response.destroyed) {
      written.bytes += piece.length;
      if (!response.write(piece)) return void response.once("drain", more);
    }
  };
  more();
}

/** How the providers themselves word their refusals. */
const refusals: Readonly<Record<WireApi, readonly (readonly [ModelFailureClass, number, unknown])[]>> = {
  anthropic: [
    ["RateLimited", 429, { type: "error", error: { type: "rate_limit_error", message: "Too many." } }],
    ["Overloaded", 500, { type: "error", error: { type: "api_error", message: "Internal server error" } }],
    ["Overloaded", 529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
    [
      "ContextOverflow",
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "prompt is too long: 216103 tokens > 200000 maximum",
        },
      },
    ],
  ],
  openai: [
    [
      "RateLimited",
      429,
      { error: { message: "Rate limit reached", type: "requests", code: "rate_limit_exceeded" } },
    ],
    ["Overloaded", 500, { error: { message: "The server had an error", type: "server_error", code: null } }],
    ["Overloaded", 503, { error: { message: "The engine is overloaded", type: "server_error", code: null } }],
    [
      "ContextOverflow",
      400,
      {
        error: {
          message: "Your input exceeds the context window of this model.",
          type: "invalid_request_error",
          param: "input",
          code: "context_length_exceeded",
        },
      },
    ],
  ],
  "openai-chat": [
    ["RateLimited", 429, { error: { message: "You exceeded your quota", code: "insufficient_quota" } }],
    ["Overloaded", 500, "<html><h1>500 Internal Server Error</h1></html>"],
    ["Overloaded", 529, ""],
    [
      "ContextOverflow",
      400,
      {
        error: {
          message:
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
          type: "invalid_request_error",
          param: "messages",
          code: null,
        },
      },
    ],
  ],
  google: [
    [
      "RateLimited",
      429,
      { error: { code: 429, message: "Quota exceeded", status: "RESOURCE_EXHAUSTED", details: [] } },
    ],
    ["Overloaded", 500, { error: { code: 500, message: "An internal error", status: "INTERNAL" } }],
    ["Overloaded", 503, { error: { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" } }],
    [
      "ContextOverflow",
      400,
      {
        error: {
          code: 400,
          message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
          status: "INVALID_ARGUMENT",
        },
      },
    ],
  ],
  "openai-compatible": [
    ["RateLimited", 429, { object: "error", message: "Too many requests", type: "rate_limit", code: 429 }],
    ["Overloaded", 500, { error: { code: 500, message: "failed to decode", type: "server_error" } }],
    ["Overloaded", 503, { error: { code: 503, message: "Loading model", type: "unavailable_error" } }],
    [
      "ContextOverflow",
      400,
      {
        error: {
          code: 400,
          message: "the request exceeds the available context size, try increasing it",
          type: "exceed_context_size_error",
          n_prompt_tokens: 9000,
          n_ctx: 4096,
        },
      },
    ],
  ],
  ollama: [
    ["RateLimited", 429, { error: "too many requests" }],
    ["Overloaded", 500, { error: "llama runner process has terminated: exit status 2" }],
    ["Overloaded", 503, { error: "server busy, please try again. maximum pending requests exceeded" }],
    ["ContextOverflow", 400, { error: "the input length exceeds the context length" }],
  ],
};

for (const api of wireApis) {
  const whole = Buffer.from(written(api, answer));
  const half = whole.subarray(0, whole.length / 2);
  const lastOf = async (events: AsyncIterable<ModelEvent>): Promise<ModelEvent | undefined> =>
    (await Array.fromAsync(events)).at(-1);

  test(`${api}: what a provider refuses has its class, with its wait, and is sent once`, async () => {
    const { port, become } = await serveAs();
    for (const [failureClass, status, body] of refusals[api])
      for (const wait of [null, 3]) {
        const asked = become((_request, response) => {
          response.writeHead(status, {
            "content-type": "application/json",
            ...(wait === null ? {} : { "retry-after": String(wait) }),
          });
          response.end(typeof body === "string" ? body : JSON.stringify(body));
        });
        const events = await Array.fromAsync(ask(api, port));
        expect(events.map(({ type }) => type)).toEqual(["sent", "failed"]);
        expect(events[1]).toMatchObject({ failure: { class: failureClass } });
        const [, last] = events;
        expect(last?.type === "failed" && last.failure.retry_after_ms).toBe(
          wait === null ? undefined : wait * 1000,
        );
        expect(asked()).toBe(1);
      }
  });

  test(`${api}: an answer in pieces of a byte, and a compressed one, arrive whole`, async () => {
    const { port, become } = await serveAs();
    const expected = {
      type: "done",
      finish: "tool_calls",
      parts: expect.arrayContaining([
        expect.objectContaining({ type: "text", text: "Hello 🙂" }),
        expect.objectContaining({ type: "tool_call", tool: "files_read", arguments: { path: "a" } }),
      ]) as unknown,
    };
    become((_request, response) => {
      response.writeHead(200, stream);
      response.socket?.setNoDelay(true);
      const next = (at: number): void => {
        if (at === whole.length) response.end();
        else response.write(whole.subarray(at, at + 1), () => next(at + 1));
      };
      next(0);
    });
    expect(await lastOf(ask(api, port))).toMatchObject(expected);
    become((_request, response) =>
      response.writeHead(200, { ...stream, "content-encoding": "gzip" }).end(gzipSync(whole)),
    );
    expect(await lastOf(ask(api, port))).toMatchObject(expected);
  });

  test(`${api}: a server that only pings is not silent`, async () => {
    const { port, become } = await serveAs();
    become((_request, response) => {
      response.writeHead(200, stream);
      // What each API ignores: comments between events, empty lines between lines of JSON.
      let pings = 0;
      const pinging = setInterval(() => {
        response.write(api === "ollama" ? "\n" : ": ping\n\n");
        if (++pings < 30) return;
        clearInterval(pinging);
        response.end(whole);
      }, 50);
    });
    const limits = { ...patient, idleMs: 700 };
    expect(await lastOf(ask(api, port, { limits }))).toMatchObject({ type: "done" });
  });

  test(`${api}: an answer that is not read to its end ends its own request, and no other`, async () => {
    const { port, become } = await serveAs();
    const held: ServerResponse[] = [];
    const other = await serve((_request, response) => {
      response.write("begun, ");
      held.push(response);
    });
    const running = await client.request(requestTo(other.url));
    const kinds = {
      page: ["text/html", `<html>${"x".repeat(100)}`],
      noise: [stream["content-type"], "data: {\n\ndata: }\n\n".repeat(50)],
      error: [stream["content-type"], `data: {"error":{"message":"no"}}\n\n${"data: {}\n\n".repeat(50)}`],
      more: [stream["content-type"], `${String(whole)}${"data: {}\n\n".repeat(5000)}`],
    } as const;
    for (const [type, body] of Object.values(kinds))
      for (let time = 0; time < 5; time++) {
        become((_request, response) => {
          response.writeHead(200, { "content-type": type });
          for (let at = 0; at < body.length; at += 37) response.write(body.slice(at, at + 37));
          response.end();
        });
        const events = await Array.fromAsync(ask(api, port));
        const last = events.at(-1);
        expect(["done", "failed"]).toContain(last?.type);
        expect(last).not.toMatchObject({
          failure: { message: expect.stringMatching(/host|exit/) as string },
        });
      }
    for (const response of held) response.end("and ended");
    expect((await read(running)).text).toBe("begun, and ended");
  });

  test(`${api}: a stall, a drip and a cut end with their classes, and their connections are closed`, async () => {
    const { port, sockets, become } = await serveAs();
    const endsAs = async (
      failureClass: ModelFailureClass,
      limits: EgressRequest["limits"],
      behave: (response: ServerResponse) => void,
    ): Promise<void> => {
      const asked = become((_request, response) => behave(response.writeHead(200, stream)));
      expect(await lastOf(ask(api, port, { limits }))).toMatchObject({
        type: "failed",
        failure: { class: failureClass },
      });
      expect(asked()).toBe(1);
      await until("0 connections", () => sockets.size === 0);
    };
    const impatient = { ...patient, idleMs: 100 };
    await endsAs("Timeout", impatient, (response) => response.flushHeaders());
    await endsAs("Timeout", impatient, (response) => void response.write(half));
    // Whole events, and then what is none.
    const [border, nothing] = api === "ollama" ? ["\n", "\n"] : ["\n\n", ": still here\n\n"];
    await endsAs("Timeout", { ...patient, timeoutMs: 500 }, (response) => {
      response.write(half.subarray(0, half.lastIndexOf(border) + border.length));
      const drip = setInterval(() => response.write(nothing), 5);
      response.once("close", () => clearInterval(drip));
    });
    // In the middle of a word, of a character and of a line of JSON.
    for (const at of [whole.indexOf("Hel") + 2, whole.indexOf("🙂") + 2, whole.indexOf('"path') + 1])
      await endsAs("Network", patient, (response) =>
        response.write(whole.subarray(0, at), () => response.destroy()),
      );
  });

  test(`${api}: a bomb and an answer without end are cut off, and no more is read`, async () => {
    const { port, sockets, become } = await serveAs();
    const bomb = bombs[api === "ollama" ? "lines" : "events"];
    for (const status of [200, 500]) {
      become((_request, response) =>
        response.writeHead(status, { ...stream, "content-encoding": "gzip" }).end(bomb),
      );
      expect(await lastOf(ask(api, port))).toMatchObject({
        type: "failed",
        failure: { class: status === 200 ? "InvalidRequest" : "Overloaded" },
      });
      await until("0 connections", () => sockets.size === 0);
    }
    const sent = { bytes: 0 };
    become((_request, response) => flood(response.writeHead(200, stream), megabyte, sent));
    expect(await lastOf(ask(api, port))).toMatchObject({
      type: "failed",
      failure: { class: "InvalidRequest", message: expect.stringContaining("too large") as string },
    });
    await until("0 connections", () => sockets.size === 0);
    expect(sent.bytes).toBeLessThan(100 * 1024 * 1024);
  });

  test(`${api}: a redirect is an error, and neither the key nor the body goes elsewhere`, async () => {
    const other = await serve((_request, response) => response.end());
    const { port, become } = await serveAs();
    for (const location of [
      other.url,
      `http://localhost:${other.port}/`,
      `http://[::1]:${other.port}/`,
      "https://example.com/",
      "/elsewhere",
      "file:///etc/passwd",
    ])
      for (const status of [302, 307, 308]) {
        const asked = become((_request, response) => response.writeHead(status, { location }).end());
        expect([location, await lastOf(ask(api, port))]).toMatchObject([
          location,
          { type: "failed", failure: { class: "InvalidRequest" } },
        ]);
        expect(asked()).toBe(1);
      }
    expect(other.sockets.size).toBe(0);
  });

  test(`${api}: killed with the egress host, its answers end as Network, and the next one is answered`, async () => {
    const { port, become } = await serveAs();
    become((_request, response) => {
      response.writeHead(200, stream).write(half);
    });
    let begun = 0;
    const seen = Array.from({ length: 8 }, async () => {
      const all: ModelEvent[] = [];
      for await (const event of ask(api, port)) {
        all.push(event);
        if (all.length === 2) begun++;
      }
      return all;
    });
    await until("each answer to begin", () => begun === seen.length);
    process.kill(client.pid ?? 0, "SIGKILL");
    for (const events of await Promise.all(seen)) {
      expect(events[0]).toEqual({ type: "sent" });
      expect(events.at(-1)).toMatchObject({ type: "failed", failure: { class: "Network" } });
      expect(events.filter(({ type }) => type === "failed" || type === "done")).toHaveLength(1);
    }
    become((_request, response) => response.writeHead(200, stream).end(whole));
    expect(await lastOf(ask(api, port))).toMatchObject({ type: "done" });
  });
}
