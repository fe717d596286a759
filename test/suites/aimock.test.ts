/** Every provider's adapter against aimock, a server that others wrote to imitate the providers. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Ajv } from "ajv";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { neverAborted } from "../../kernel/src/base/abort.ts";
import type { ModelEvent, ModelMessage, ModelRequest } from "../../kernel/src/base/vocabulary/model.ts";
import { streamModel } from "../../kernel/src/egress/host/providers/stream-model.ts";
import { shapes } from "../../kernel/src/egress/host/providers/testing/shapes.ts";
import {
  requestOf,
  testKey,
  user,
  type WireApi,
  wireApis,
} from "../../kernel/src/egress/host/providers/testing/wire.ts";
import { answer, type AnswerEvent } from "../../kernel/src/models/answer.ts";
import { dialects } from "../../kernel/src/models/dialect.ts";

/** The part of aimock that is used here: this checkout does not have its types. */
interface Mock {
  readonly url: string;
  start(): Promise<string>;
  stop(): Promise<void>;
  on(match: object, response: object, options?: object): Mock;
  nextRequestError(status: number, body?: object): Mock;
  setChaos(rates: object): Mock;
  clearChaos(): Mock;
  reset(): Mock;
}

const folder = new URL("providers/", import.meta.url);
const isInstalled = existsSync(new URL("node_modules/@copilotkit/aimock", folder));

/** Where aimock has each API. */
const paths: Readonly<Record<WireApi, string>> = {
  anthropic: "/v1",
  openai: "/v1",
  "openai-chat": "/v1",
  google: "/v1beta",
  "openai-compatible": "/v1",
  ollama: "",
};
const tools = ["files/read", "files/list"].map((name) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: { path: { type: "string" } } },
}));
const ajv = new Ajv({ strict: true, allowUnionTypes: true });
const fits = Object.fromEntries(wireApis.map((api) => [api, ajv.compile(shapes[api])] as const));

describe.skipIf(!isInstalled)(
  isInstalled ? "against aimock" : "aimock is not installed: run npm run suites:fetch",
  () => {
    let mock: Mock;
    beforeAll(async () => {
      const entry = createRequire(new URL("package.json", folder)).resolve("@copilotkit/aimock");
      const { LLMock } = (await import(pathToFileURL(entry).href)) as {
        LLMock: new (options: object) => Mock;
      };
      mock = new LLMock({ port: 0, host: "127.0.0.1" });
      await mock.start();
    });
    beforeEach(() => {
      mock.reset();
      mock.clearChaos();
    });
    afterAll(() => mock.stop());

    /** Sends what the adapter wrote, byte by byte, after checking its shape. */
    const checking = (api: WireApi, sent: string[]): typeof globalThis.fetch => {
      return async (input, init) => {
        const text = typeof init?.body === "string" ? init.body : "";
        fits[api]?.(JSON.parse(text));
        expect([fits[api]?.errors ?? [], text]).toEqual([[], text]);
        sent.push(text);
        return await fetch(input, init);
      };
    };
    const attempt = (api: WireApi, request: ModelRequest, sent: string[], signal = neverAborted) =>
      streamModel(
        { provider: { id: "lab", api, baseUrl: `${mock.url}${paths[api]}` }, key: testKey, request },
        checking(api, sent),
        signal,
      );
    const eventsOf = async (
      api: WireApi,
      request: Partial<ModelRequest>,
      sent: string[] = [],
    ): Promise<readonly ModelEvent[]> =>
      await Array.fromAsync(attempt(api, requestOf(api, { tools, ...request }), sent));
    const failureOf = async (api: WireApi, request: Partial<ModelRequest> = {}) => {
      const last = (await eventsOf(api, request)).at(-1);
      return last?.type === "failed" ? last.failure : last;
    };

    for (const api of wireApis) {
      test(`${api}: a text arrives in pieces, and whole`, async () => {
        const content = "Hello there, ünd 🙂 again. ".repeat(20).trim();
        mock.on({ userMessage: "hello" }, { content });
        const events = await eventsOf(api, { messages: [user("hello")] });
        const shown = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
        expect(shown.length).toBeGreaterThan(1);
        expect(shown.join("")).toBe(content);
        expect(events.at(-1)).toMatchObject({
          type: "done",
          finish: "stop",
          // A model of OpenAI's has thought besides.
          parts: expect.arrayContaining([{ type: "text", text: content }]) as unknown,
        });
      });

      test(`${api}: parallel calls are called, and their results are understood`, async () => {
        const id = "x".repeat(200);
        mock.on(
          { userMessage: "look", hasToolResult: false },
          {
            toolCalls: [
              { name: "files_read", arguments: '{"path":"a"}', id },
              { name: "files_list", arguments: '{"path":"b"}', id: "b" },
            ],
          },
        );
        mock.on({ userMessage: "look", hasToolResult: true }, { content: "Seen." });
        const question: readonly ModelMessage[] = [{ role: "system", text: "Be brief." }, user("look")];
        const done = (await eventsOf(api, { messages: question })).at(-1);
        if (done?.type !== "done") throw new Error(JSON.stringify(done));
        const calls = done.parts.flatMap((part) => (part.type === "tool_call" ? [part] : []));
        expect(calls).toMatchObject([
          { tool: "files_read", arguments: { path: "a" } },
          { tool: "files_list", arguments: { path: "b" } },
        ]);
        const sent: string[] = [];
        const answered = await eventsOf(
          api,
          {
            messages: [
              ...question,
              { role: "assistant", parts: done.parts },
              {
                role: "tool",
                parts: calls.map(({ call }) => ({ type: "tool_result", call, text: `of ${call.length}` })),
              },
            ],
          },
          sent,
        );
        expect(answered.at(-1)).toMatchObject({
          type: "done",
          parts: expect.arrayContaining([{ type: "text", text: "Seen." }]) as unknown,
        });
        expect(sent[0]).not.toContain(id);
      });

      test(`${api}: errors that it injects have their classes`, async () => {
        for (const [status, failureClass, body] of [
          [429, "RateLimited", { message: "Rate limit exceeded", type: "rate_limit_error" }],
          [500, "Overloaded", { message: "Oh", type: "server_error" }],
          [503, "Overloaded", { message: "Later", type: "overloaded_error" }],
          [529, "Overloaded", { message: "Overloaded", type: "overloaded_error" }],
          [401, "Unauthorized", { message: "No key", type: "authentication_error" }],
          [400, "ContextOverflow", { message: "prompt is too long", code: "context_length_exceeded" }],
        ] as const) {
          mock.nextRequestError(status, body);
          expect([status, await failureOf(api)]).toMatchObject([status, { class: failureClass }]);
        }
      });

      test(`${api}: answers that it drops, garbles or cuts have their classes`, async () => {
        mock.on({ userMessage: "hello" }, { content: "one two three four five six seven ".repeat(20) });
        const messages = [user("hello")];
        mock.setChaos({ dropRate: 1 });
        expect(await failureOf(api, { messages })).toMatchObject({ class: "Overloaded" });
        mock.setChaos({ disconnectRate: 1 });
        expect(await failureOf(api, { messages })).toMatchObject({ class: "Network" });
        mock.setChaos({ malformedRate: 1 });
        expect(["Network", "InvalidRequest"]).toContain(
          ((await failureOf(api, { messages })) as { class: string }).class,
        );
        mock.clearChaos();
        mock.reset();
        mock.on(
          { userMessage: "hello" },
          { content: "one two three four five six seven ".repeat(20) },
          { truncateAfterChunks: 3, chunkSize: 10 },
        );
        expect(await failureOf(api, { messages })).toMatchObject({ class: "Network" });
      });

      test(`${api}: a refused attempt is followed by a new, counted one; a cut answer by none`, async () => {
        const sent: string[] = [];
        const run = async (text: string): Promise<readonly AnswerEvent[]> => {
          const ports = {
            stream: (request: ModelRequest, signal: AbortSignal) => attempt(api, request, sent, signal),
            describe: () => ({ dialect: dialects[api], mayHideReasoning: false }),
            reserve: async () => ({
              settle: async () => ({ microUsd: null, recorded: Promise.resolve() }),
              release: async () => undefined,
            }),
            wait: async () => undefined,
            random: () => 0,
            monotonic: () => 0,
            settlesStopped: true,
          };
          const { model } = requestOf(api);
          return await Array.fromAsync(
            answer({ messages: [user(text)] }, { models: [model] }, ports, neverAborted),
          );
        };
        mock.on({ userMessage: "hello" }, { content: "Hi." });
        mock.nextRequestError(503, { message: "Later" });
        const events = await run("hello");
        expect(events.flatMap((event) => (event.type === "attempt" ? [event.attempt] : []))).toEqual([1, 2]);
        expect(events.at(-1)).toMatchObject({ type: "done" });
        expect(sent).toHaveLength(2);
        mock.on(
          { userMessage: "cut" },
          { content: "one two three four five six seven ".repeat(20) },
          // With time between the pieces, so that those before the cut are sent.
          { truncateAfterChunks: 12, chunkSize: 10, latency: 5 },
        );
        expect((await run("cut")).at(-1)).toMatchObject({
          type: "failed",
          isPartial: true,
          failure: { class: "Network" },
        });
        expect(sent).toHaveLength(3);
      });
    }

    test("anthropic: thinking is returned with its signature, byte by byte", async () => {
      mock.on(
        { userMessage: "think" },
        { content: "So.", reasoning: "Hm, let me see.", reasoningSignature: "sig+/==" },
      );
      const done = (await eventsOf("anthropic", { messages: [user("think")] })).at(-1);
      if (done?.type !== "done") throw new Error(JSON.stringify(done));
      expect(done.parts).toMatchObject([{ type: "reasoning", text: "Hm, let me see." }, { type: "text" }]);
      mock.on({ userMessage: "and now" }, { content: "Yes." });
      const sent: string[] = [];
      await eventsOf(
        "anthropic",
        { messages: [user("think"), { role: "assistant", parts: done.parts }, user("and now")] },
        sent,
      );
      const { messages } = JSON.parse(sent[0] ?? "") as { messages: { content: unknown[] }[] };
      expect(messages[1]?.content[0]).toMatchObject({ type: "thinking", thinking: "Hm, let me see." });
      expect(messages[1]?.content[0]).toHaveProperty("signature", "sig+/==");
    });
  },
);
