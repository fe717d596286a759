import { expect, test } from "vitest";
import type { ModelFailure } from "../../../base/vocabulary/model.ts";
import { Denied } from "../../failures.ts";
import { contextFor, failureOfResponse, failureOfThrown } from "./failures.ts";
import { eventsOf, recorded, requestOf, testKey, type WireApi, wireApis } from "./testing/wire.ts";

const now = Date.parse("2026-11-20T12:00:00Z");
const context = { provider: "lab", model: "m", key: testKey };

function failureOf(status: number, body: unknown, headers: Record<string, string> = {}): ModelFailure {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return failureOfResponse({ status, headers: new Headers(headers), body: text }, context, now);
}

const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message } });
const openai = (code: string | null, message: string, type = "invalid_request_error") => ({
  error: { message, type, param: null, code },
});
const google = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  error: { code, status, message, details },
});

const overflows: readonly (readonly [number, unknown])[] = [
  [400, anthropic("invalid_request_error", "prompt is too long: 216103 tokens > 200000 maximum")],
  [
    400,
    anthropic(
      "invalid_request_error",
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
    ),
  ],
  [413, anthropic("request_too_large", "Request exceeds the maximum size")],
  [
    400,
    openai(
      "context_length_exceeded",
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ),
  ],
  [
    400,
    openai(
      null,
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    ),
  ],
  [
    400,
    google(
      400,
      "INVALID_ARGUMENT",
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
  ],
  [
    400,
    {
      error: {
        code: 400,
        type: "exceed_context_size_error",
        message: "the request exceeds the available context size, try increasing it",
        n_ctx: 4096,
      },
    },
  ],
  [400, { error: "the input length exceeds the context length" }],
  [500, { error: "the request exceeds the available context size" }],
  [
    400,
    {
      object: "error",
      message: "The prompt is longer than the maximum model length: it is greater than the context",
      type: "BadRequestError",
    },
  ],
];

test("an overflow is recognised in each provider's words", () => {
  for (const [status, body] of overflows)
    expect([JSON.stringify(body), failureOf(status, body).class]).toEqual([
      JSON.stringify(body),
      "ContextOverflow",
    ]);
});

test("statuses and codes have their classes", () => {
  const cases: readonly (readonly [number, unknown, ModelFailure["class"]])[] = [
    [429, anthropic("rate_limit_error", "This request would exceed your rate limit"), "RateLimited"],
    [
      429,
      openai("insufficient_quota", "You exceeded your current quota", "insufficient_quota"),
      "RateLimited",
    ],
    [429, "", "RateLimited"],
    [
      429,
      openai(null, "Request too large for gpt on tokens per min: the maximum context length"),
      "RateLimited",
    ],
    [529, anthropic("overloaded_error", "Overloaded"), "Overloaded"],
    [500, "<html><body>oh no</body></html>", "Overloaded"],
    [502, "", "Overloaded"],
    [503, google(503, "UNAVAILABLE", "The model is overloaded."), "Overloaded"],
    [401, anthropic("authentication_error", "invalid x-api-key"), "Unauthorized"],
    [401, openai("invalid_api_key", "Incorrect API key provided: sk-ab***yz."), "Unauthorized"],
    [403, anthropic("permission_error", "Your API key does not have permission"), "Unauthorized"],
    [402, { error: { message: "Insufficient credits", code: 402 } }, "Unauthorized"],
    [400, google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), "Unauthorized"],
    [404, anthropic("not_found_error", "model: claude-nope"), "UnknownModel"],
    [404, openai("model_not_found", "The model `nope` does not exist"), "UnknownModel"],
    [403, openai("model_not_found", "Project does not have access to model"), "UnknownModel"],
    [404, { error: 'model "nope" not found, try pulling it first' }, "UnknownModel"],
    [400, { error: "model 'nope' not found" }, "UnknownModel"],
    [400, openai("content_filter", "The response was filtered"), "Filtered"],
    [
      400,
      { error: { message: "The response was filtered due to the content management policy", code: null } },
      "Filtered",
    ],
    [
      400,
      openai("invalid_prompt", "Your prompt was flagged as potentially violating our usage policy"),
      "Filtered",
    ],
    [408, "", "Timeout"],
    [400, anthropic("invalid_request_error", "max_tokens: 0 is too small"), "InvalidRequest"],
    [422, { detail: [{ loc: ["body"], msg: "field required", type: "missing" }] }, "InvalidRequest"],
    [302, "", "InvalidRequest"],
    // A gateway may answer with an error and a good status.
    [200, openai("rate_limit_exceeded", "Slow down", "requests"), "RateLimited"],
    [200, [google(503, "UNAVAILABLE", "Later")], "Overloaded"],
  ];
  for (const [status, body, expected] of cases)
    expect([status, JSON.stringify(body), failureOf(status, body).class]).toEqual([
      status,
      JSON.stringify(body),
      expected,
    ]);
});

test("a wait is read in every form, and nonsense is none", () => {
  const waitOf = (headers: Record<string, string>, body: unknown = "") =>
    failureOf(429, body, headers).retry_after_ms;
  expect(waitOf({ "retry-after": "20" })).toBe(20_000);
  expect(waitOf({ "retry-after": "0.5" })).toBe(500);
  expect(waitOf({ "retry-after": "Fri, 20 Nov 2026 12:00:30 GMT" })).toBe(30_000);
  expect(waitOf({ "retry-after": "Fri, 20 Nov 2020 12:00:30 GMT" })).toBe(0);
  expect(waitOf({ "retry-after": "20", "retry-after-ms": "1500" })).toBe(1500);
  expect(waitOf({ "retry-after": "1e400" })).toBeUndefined();
  expect(waitOf({ "retry-after": "99999999999" })).toBe(24 * 60 * 60_000);
  expect(waitOf({ "retry-after": "soon" })).toBeUndefined();
  expect(waitOf({ "retry-after-ms": "-5" })).toBeUndefined();
  expect(waitOf({})).toBeUndefined();
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "37.2s" }];
  expect(waitOf({}, google(429, "RESOURCE_EXHAUSTED", "Quota exceeded", details))).toBe(37_200);
  expect(waitOf({ "retry-after": "1" }, google(429, "RESOURCE_EXHAUSTED", "Quota", details))).toBe(1000);
});

test("a message never repeats the key, and quotes little", () => {
  const spread = `Incorrect key ${testKey}, ${"y".repeat(250)}${testKey}${"z".repeat(1000)}`;
  for (const body of [openai(null, spread), { error: spread }, spread, [spread]]) {
    const { message } = failureOf(401, body);
    expect(message).not.toContain(testKey.slice(0, 12));
    expect(message).toContain("[key]");
    expect(message.length).toBeLessThan(550);
  }
  const thrown = failureOfThrown(
    new TypeError("fetch failed", { cause: new Error(`bad ${testKey}`) }),
    context,
  );
  expect(thrown).toMatchObject({ class: "Network", message: expect.not.stringContaining(testKey) as string });
  const control = failureOf(400, openai(null, "a\r\n\u0000\u001b[31mb \ud800"));
  expect(control.message).toContain("a [31mb \ufffd");
});

test("a denial by policy is reported as such, and not as a network failure", () => {
  const denied = new TypeError("fetch failed", {
    cause: new Denied("lab.example", "The host is not allowed."),
  });
  expect(failureOfThrown(denied, context)).toEqual({
    class: "InvalidRequest",
    message: "The request was not sent: The host is not allowed.",
  });
});

/** Errors in the middle of an answer whose status was good. */
const midAnswer: Readonly<Record<WireApi, readonly (readonly [string, ModelFailure["class"]])[]>> = {
  anthropic: [
    [`event: error\ndata: ${JSON.stringify(anthropic("overloaded_error", "Overloaded"))}\n\n`, "Overloaded"],
    [`event: error\ndata: ${JSON.stringify(anthropic("rate_limit_error", "Slow"))}\n\n`, "RateLimited"],
    [`event: error\ndata: ${JSON.stringify(anthropic("api_error", "Internal"))}\n\n`, "Overloaded"],
  ],
  openai: [
    [
      `data: ${JSON.stringify({ type: "error", sequence_number: 1, error: { type: "server_error", code: "server_error", message: "Oh", param: null } })}\n\n`,
      "Overloaded",
    ],
    [
      `data: ${JSON.stringify({ type: "response.failed", sequence_number: 1, response: { error: { code: "rate_limit_exceeded", message: "Slow" }, incomplete_details: null, usage: null } })}\n\n`,
      "RateLimited",
    ],
  ],
  "openai-chat": [
    [`data: ${JSON.stringify(openai("server_error", "Oh", "server_error"))}\n\n`, "Overloaded"],
    [`data: ${JSON.stringify(openai("context_length_exceeded", "Too long"))}\n\n`, "ContextOverflow"],
  ],
  "openai-compatible": [
    [`data: ${JSON.stringify({ error: { message: "Oh", code: 502 } })}\n\n`, "Overloaded"],
    [
      `data: ${JSON.stringify({ error: { message: "exceeds the available context size", code: 400 } })}\n\n`,
      "ContextOverflow",
    ],
  ],
  google: [
    [`data: ${JSON.stringify(google(503, "UNAVAILABLE", "The model is overloaded."))}\n\n`, "Overloaded"],
    [`data: ${JSON.stringify(google(429, "RESOURCE_EXHAUSTED", "Quota"))}\n\n`, "RateLimited"],
  ],
  ollama: [
    ['{"error":"an error was encountered while running the model: unexpected EOF"}\n', "Overloaded"],
    ['{"error":"the input length exceeds the context length"}\n', "ContextOverflow"],
  ],
};

for (const api of wireApis) {
  test(`${api}: an error instead of an answer, or in its middle, has its class`, async () => {
    for (const [text, expected] of midAnswer[api])
      for (const before of ["", firstWords[api]]) {
        const { fetch } = recorded(
          () => new Response(before + text, { headers: { "content-type": "text/event-stream" } }),
        );
        const last = (await eventsOf(requestOf(api), api, fetch)).at(-1);
        expect([text, before, last]).toMatchObject([
          text,
          before,
          { type: "failed", failure: { class: expected } },
        ]);
      }
  });

  test(`${api}: a refused request is one failure, with its wait, and is not sent again`, async () => {
    for (const status of [429, 500, 529, 401, 404]) {
      const { fetch, sent } = recorded(
        () =>
          new Response('{"error":{"message":"No."}}', {
            status,
            headers: { "retry-after": "7", "content-type": "application/json" },
          }),
      );
      const events = await eventsOf(requestOf(api), api, fetch);
      expect(events.map(({ type }) => type)).toEqual(["sent", "failed"]);
      expect(events[1]).toMatchObject({
        failure: { retry_after_ms: 7000, message: expect.stringContaining("No.") as string },
      });
      expect(sent).toHaveLength(1);
    }
  });
}

const firstWords: Readonly<Record<WireApi, string>> = {
  anthropic:
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"c","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}\n\n',
  openai:
    'data: {"type":"response.created","response":{"id":"r","created_at":1,"model":"g"}}\n\ndata: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}\n\ndata: {"type":"response.output_text.delta","item_id":"m","delta":"Hel"}\n\n',
  "openai-chat":
    'data: {"id":"c","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}\n\n',
  "openai-compatible":
    'data: {"id":"c","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}\n\n',
  google: 'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}]}\n\n',
  ollama: '{"model":"m","message":{"role":"assistant","content":"Hel"},"done":false}\n',
};

test("a rejected key names the command that stores another, for the secret and host that were used", () => {
  const said = (status: number, change: object): string =>
    failureOfResponse({ status, headers: new Headers(), body: "" }, { ...context, ...change }, now).message;
  const lab = { id: "lab", api: "openai-compatible" as const, baseUrl: "http://127.0.0.1:8080/v1" };
  for (const status of [401, 403]) {
    expect(said(status, contextFor({ ...lab, secret: "mine" }, "m", testKey))).toBe(
      `The provider "lab" rejected the key, or the key may not use "m" (status ${status}). To store another key, run "lares secrets set mine --host 127.0.0.1:8080".`,
    );
    expect(said(status, contextFor(lab, "", testKey))).toBe(
      `The provider "lab" rejected the key (status ${status}). To store another key, run "lares secrets set lab --host 127.0.0.1:8080", and write key: { secret: lab } in your lares.yaml.`,
    );
    expect(said(status, contextFor(lab, "m", null))).toContain(
      '"lares secrets set lab --host 127.0.0.1:8080"',
    );
  }
  // Another key of the same account has no more money.
  expect(said(402, {})).not.toContain("lares secrets");
});
