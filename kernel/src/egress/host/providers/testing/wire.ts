import fc from "fast-check";
import type { ModelEvent, ModelMessage, ModelRequest } from "../../../../base/vocabulary/model.ts";
import type { ProviderApi, ProviderSettings } from "../../../../base/vocabulary/model-settings.ts";
import { neverAborted } from "../../../../base/abort.ts";
import { dialects } from "../../../../models/dialect.ts";
import { normalize } from "../../../../models/normalize.ts";
import { streamModel } from "../stream-model.ts";

/** The APIs that reach a provider over the network. */
export const wireApis = [
  "anthropic",
  "openai",
  "openai-chat",
  "google",
  "openai-compatible",
  "ollama",
] as const satisfies readonly ProviderApi[];
export type WireApi = (typeof wireApis)[number];

export const testKey = "sk-test-0123456789abcdef";

export function providerOf(api: ProviderApi): ProviderSettings {
  return { id: "lab", api, baseUrl: "http://127.0.0.1:1/base" };
}

/** A model of each API, as its SDK knows it. */
export const modelOf: Readonly<Record<WireApi, string>> = {
  anthropic: "lab/claude-sonnet-4-5",
  openai: "lab/gpt-5",
  "openai-chat": "lab/gpt-4.1",
  google: "lab/gemini-2.5-flash",
  "openai-compatible": "lab/qwen3",
  ollama: "lab/qwen3:8b",
};

export const user = (text: string): ModelMessage => ({ role: "user", parts: [{ type: "text", text }] });

/** Returns the request as the kernel hands it over. */
export function requestOf(api: WireApi, request: Partial<ModelRequest> = {}): ModelRequest {
  const given = { model: modelOf[api], messages: [user("Hello")], ...request };
  return normalize(given, dialects[api]).request;
}

export interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- A provider's JSON, which the tests take apart.
  readonly body: any;
}

/** Answers each request with the given response, and keeps what was sent. */
export function recorded(answer: (sent: Sent) => Response | Promise<Response>): {
  readonly fetch: typeof globalThis.fetch;
  readonly sent: Sent[];
} {
  const sent: Sent[] = [];
  return {
    sent,
    async fetch(input, init) {
      const text = typeof init?.body === "string" ? init.body : "";
      const url = input instanceof Request ? input.url : String(input);
      const each = {
        url,
        headers: new Headers(init?.headers),
        text,
        body: text === "" ? null : JSON.parse(text),
      };
      sent.push(each);
      return await answer(each);
    },
  };
}

export async function eventsOf(
  request: ModelRequest,
  api: WireApi,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal = neverAborted,
): Promise<readonly ModelEvent[]> {
  return await Array.fromAsync(
    streamModel({ provider: providerOf(api), key: testKey, request }, fetch, signal),
  );
}

/** A stream with the type of each API, in pieces as a network makes them. */
export function streamed(api: WireApi, text: string, pieceBytes = 0): Response {
  const bytes = new TextEncoder().encode(text);
  const size = pieceBytes === 0 ? Math.max(1, bytes.length) : pieceBytes;
  let at = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
  return new Response(body, {
    headers: { "content-type": api === "ollama" ? "application/x-ndjson" : "text/event-stream" },
  });
}

const events = (...values: readonly (object | string)[]): string =>
  values
    .map((value) => {
      const type = typeof value === "object" && "type" in value ? `event: ${String(value.type)}\n` : "";
      return `${type}data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
    })
    .join("");

interface Answer {
  readonly think?: string;
  readonly say?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly tool: string; readonly json: string }[];
}

/** Writes an answer as each provider streams it. */
export function written(api: WireApi, { think, say = [], calls = [] }: Answer): string {
  switch (api) {
    case "anthropic": {
      const blocks: object[][] = [];
      if (think !== undefined)
        blocks.push([
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: think },
          { type: "signature_delta", signature: "sig+/==" },
        ]);
      if (say.length > 0)
        blocks.push([{ type: "text", text: "" }, ...say.map((text) => ({ type: "text_delta", text }))]);
      for (const { id, tool, json } of calls)
        blocks.push([
          { type: "tool_use", id, name: tool, input: {} },
          { type: "input_json_delta", partial_json: json.slice(0, 3) },
          { type: "input_json_delta", partial_json: json.slice(3) },
        ]);
      const usage = { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2 };
      return events(
        {
          type: "message_start",
          message: {
            id: "msg_1",
            type: "message",
            role: "assistant",
            model: "claude",
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { ...usage, output_tokens: 1 },
          },
        },
        { type: "ping" },
        ...blocks.flatMap(([start, ...deltas], index) => [
          { type: "content_block_start", index, content_block: start },
          ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
          { type: "content_block_stop", index },
        ]),
        {
          type: "message_delta",
          delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
          usage: { output_tokens: 7 },
        },
        { type: "message_stop" },
      );
    }
    case "openai": {
      let index = 0;
      const values: object[] = [
        { type: "response.created", response: { id: "resp_1", created_at: 1, model: "gpt-5" } },
      ];
      if (think !== undefined) {
        const item = { type: "reasoning", id: "rs_1", summary: [] };
        values.push(
          {
            type: "response.output_item.added",
            output_index: index,
            item: { ...item, encrypted_content: "early" },
          },
          { type: "response.reasoning_summary_part.added", item_id: "rs_1", summary_index: 0 },
          {
            type: "response.reasoning_summary_text.delta",
            item_id: "rs_1",
            summary_index: 0,
            delta: think,
          },
          { type: "response.reasoning_summary_part.done", item_id: "rs_1", summary_index: 0 },
          {
            type: "response.output_item.done",
            output_index: index++,
            item: { ...item, encrypted_content: "enc+/==" },
          },
        );
      }
      if (say.length > 0) {
        const item = { type: "message", id: "msg_1", role: "assistant", content: [] };
        values.push(
          { type: "response.output_item.added", output_index: index, item },
          ...say.map((delta) => ({
            type: "response.output_text.delta",
            item_id: "msg_1",
            output_index: index,
            content_index: 0,
            delta,
          })),
          { type: "response.output_item.done", output_index: index++, item },
        );
      }
      for (const { id, tool, json } of calls) {
        const item = { type: "function_call", id: `fc_${index}`, call_id: id, name: tool };
        values.push(
          { type: "response.output_item.added", output_index: index, item: { ...item, arguments: "" } },
          {
            type: "response.function_call_arguments.delta",
            item_id: item.id,
            output_index: index,
            delta: json,
          },
          {
            type: "response.output_item.done",
            output_index: index++,
            item: { ...item, arguments: json, status: "completed" },
          },
        );
      }
      return events(...values, {
        type: "response.completed",
        response: {
          usage: {
            input_tokens: 16,
            input_tokens_details: { cached_tokens: 6 },
            output_tokens: 7,
            output_tokens_details: { reasoning_tokens: 3 },
          },
        },
      });
    }
    case "openai-chat":
    case "openai-compatible": {
      const chunk = (delta: object, rest: object = {}) => ({
        id: "chatcmpl-1",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta, finish_reason: null, ...rest }],
      });
      return events(
        chunk({ role: "assistant", content: "" }),
        ...(think === undefined ? [] : [chunk({ reasoning_content: think })]),
        ...say.map((content) => chunk({ content })),
        ...calls.map(({ id, tool }, index) =>
          chunk({ tool_calls: [{ index, id, type: "function", function: { name: tool, arguments: "" } }] }),
        ),
        // The arguments arrive in the opposite order.
        ...calls
          .map(({ json }, index) => chunk({ tool_calls: [{ index, function: { arguments: json } }] }))
          .toReversed(),
        chunk({}, { finish_reason: calls.length > 0 ? "tool_calls" : "stop" }),
        {
          id: "chatcmpl-1",
          created: 1,
          model: "m",
          choices: [],
          usage: {
            prompt_tokens: 16,
            prompt_tokens_details: { cached_tokens: 6 },
            completion_tokens: 7,
            completion_tokens_details: { reasoning_tokens: 3 },
          },
        },
        "[DONE]",
      );
    }
    case "google": {
      const chunk = (parts: readonly object[], rest: object = {}) => ({
        candidates: [{ content: { role: "model", parts }, ...rest }],
        usageMetadata: {
          promptTokenCount: 16,
          cachedContentTokenCount: 6,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 3,
          totalTokenCount: 23,
        },
      });
      return events(
        ...(think === undefined
          ? []
          : [chunk([{ text: think, thought: true, thoughtSignature: "sig+/==" }])]),
        ...say.map((text) => chunk([{ text }])),
        ...calls.map(({ tool, json }, index) =>
          chunk([
            {
              functionCall: { name: tool, args: JSON.parse(json) as unknown },
              ...(index === 0 ? { thoughtSignature: "call+/==" } : {}),
            },
          ]),
        ),
        chunk([{ text: "" }], { finishReason: "STOP" }),
      );
    }
    case "ollama": {
      const line = (message: object) => ({
        model: "m",
        message: { role: "assistant", content: "", ...message },
        done: false,
      });
      return [
        ...(think === undefined ? [] : [line({ thinking: think })]),
        ...say.map((content) => line({ content })),
        ...(calls.length === 0
          ? []
          : [
              line({
                tool_calls: calls.map(({ tool, json }) => ({
                  function: { name: tool, arguments: JSON.parse(json) as unknown },
                })),
              }),
            ]),
        { ...line({}), done: true, done_reason: "stop", prompt_eval_count: 10, eval_count: 7 },
      ]
        .map((each) => `${JSON.stringify(each)}\n`)
        .join("");
    }
  }
}

const words = fc.constantFrom("", " ", "hello", "ünd 🙂", '{"a":1}', "\ud800");
const id = fc.constantFrom("a", "b", "x".repeat(200), "ключ");
/** Conversations as they are kept, which no provider takes as they are. */
export const histories: fc.Arbitrary<readonly ModelMessage[]> = fc.array(
  fc.oneof(
    fc.record({ role: fc.constant("system" as const), text: words, cache: fc.boolean() }),
    fc.record({
      role: fc.constant("user" as const),
      parts: fc.array(
        fc.oneof(
          fc.record({ type: fc.constant("text" as const), text: words }),
          fc.constant({ type: "image" as const, media_type: "image/png", base64: "AAAA" }),
        ),
        { maxLength: 2 },
      ),
      cache: fc.boolean(),
    }),
    fc.record({
      role: fc.constant("assistant" as const),
      parts: fc.array(
        fc.oneof(
          fc.record({ type: fc.constant("text" as const), text: words }),
          fc.record({ type: fc.constant("reasoning" as const), text: words }),
          fc.record({
            type: fc.constant("tool_call" as const),
            call: id,
            tool: fc.constantFrom("files/read", "files/list", "gone"),
            arguments: fc.constantFrom({}, { path: "a" }, "text", null),
          }),
        ),
        { maxLength: 3 },
      ),
      cache: fc.boolean(),
    }),
    fc.record({
      role: fc.constant("tool" as const),
      parts: fc.array(fc.record({ type: fc.constant("tool_result" as const), call: id, text: words }), {
        maxLength: 3,
      }),
    }),
  ),
  { maxLength: 8 },
);
