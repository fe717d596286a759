import { Ajv } from "ajv";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelEvent, ModelMessage, ModelRequest } from "../../../base/vocabulary/model.ts";
import { neverAborted } from "../../../base/abort.ts";
import { dialects } from "../../../models/dialect.ts";
import { faultsOf } from "../../../models/testing/pairing.ts";
import { streamModel } from "./stream-model.ts";
import { shapes } from "./testing/shapes.ts";
import {
  eventsOf,
  histories,
  modelOf,
  providerOf,
  recorded,
  requestOf,
  type Sent,
  streamed,
  testKey,
  user,
  type WireApi,
  wireApis,
  written,
} from "./testing/wire.ts";

const tools = ["files/read", "files/list"].map((name) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: { path: { type: "string" } } },
}));
const [long, short] = ["x".repeat(200), "b"] as const;
const twoCalls = [
  { id: long, tool: "files_read", json: '{"path":"a"}' },
  { id: short, tool: "files_list", json: '{"path":"b"}' },
];
const lastOf = (events: readonly ModelEvent[]) => events.at(-1);
const countOf = (events: readonly ModelEvent[], ...types: readonly string[]) =>
  events.filter(({ type }) => types.includes(type)).length;
const ajv = new Ajv({ strict: true, allowUnionTypes: true });
const fitsOf = Object.fromEntries(wireApis.map((api) => [api, ajv.compile(shapes[api])] as const));

/** Sends the request and returns what left, after checking its shape. */
async function sentFor(api: WireApi, request: Partial<ModelRequest>): Promise<Sent> {
  const { fetch, sent } = recorded(() => streamed(api, written(api, { say: ["ok"] })));
  expect(lastOf(await eventsOf(requestOf(api, request), api, fetch))).toMatchObject({ type: "done" });
  const [only] = sent;
  if (only === undefined || sent.length > 1) throw new Error("not one request");
  const fits = fitsOf[api];
  fits?.(only.body);
  expect(fits?.errors ?? []).toEqual([]);
  return only;
}

/** Lets the model answer with reasoning and two calls; returns the history after the tools have run. */
async function historyOf(api: WireApi): Promise<readonly ModelMessage[]> {
  const answer = written(api, { think: "Hm. ünd\n", say: ["Look"], calls: twoCalls });
  const { fetch } = recorded(() => streamed(api, answer, 5));
  const done = lastOf(await eventsOf(requestOf(api, { tools }), api, fetch));
  if (done?.type !== "done") throw new Error(JSON.stringify(done));
  const parts = done.parts.map((part) =>
    part.type === "tool_call" ? { ...part, tool: part.tool.replace("_", "/") } : part,
  );
  return [
    { role: "system", text: "Be brief." },
    {
      role: "user",
      parts: [
        { type: "text", text: "See" },
        { type: "image", media_type: "image/png", base64: "iVBORw0KGgo=" },
      ],
    },
    { role: "assistant", parts },
    {
      role: "tool",
      parts: parts.flatMap((part) =>
        part.type === "tool_call"
          ? [
              {
                type: "tool_result" as const,
                call: part.call,
                text: part.tool,
                is_error: part.tool === "files/list",
              },
            ]
          : [],
      ),
    },
  ];
}

for (const api of wireApis) {
  test(`${api}: text arrives early and whole, in pieces of any size`, async () => {
    for (const pieceBytes of [1, 7, 0]) {
      const { fetch, sent } = recorded(() =>
        streamed(api, written(api, { say: ["Hel", "", "lo ", "🙂"] }), pieceBytes),
      );
      const events = await eventsOf(requestOf(api, { max_output_tokens: 100 }), api, fetch);
      expect(events).toMatchObject([
        { type: "sent" },
        { type: "text", text: "Hel" },
        { type: "text", text: "lo " },
        { type: "text", text: "🙂" },
        { type: "done", parts: [{ type: "text", text: "Hello 🙂" }], finish: "stop" },
      ]);
      expect(lastOf(events)).toHaveProperty("usage.input_tokens", 10);
      expect(lastOf(events)).toHaveProperty("usage.output_tokens", 7);
      expect(sent).toHaveLength(1);
      expect(sent[0]?.url).toMatch(/^http:\/\/127\.0\.0\.1:1\/base\//);
    }
  });

  test(`${api}: parallel calls come in the order of their parts`, async () => {
    const { fetch } = recorded(() => streamed(api, written(api, { calls: twoCalls }), 3));
    const events = await eventsOf(requestOf(api, { tools }), api, fetch);
    expect(lastOf(events)).toMatchObject({
      type: "done",
      finish: "tool_calls",
      parts: [
        { type: "tool_call", tool: "files_read", arguments: { path: "a" } },
        { type: "tool_call", tool: "files_list", arguments: { path: "b" } },
      ],
    });
    const shown = events.flatMap((event) => (event.type === "tool_call" ? [event.text] : [])).join("");
    for (const { json } of twoCalls) expect(shown).toContain(json);
  });

  test(`${api}: a history with results, an image and reasoning is sent whole`, async () => {
    const messages = await historyOf(api);
    expect(faultsOf(requestOf(api, { messages, tools }), pairingOf(api))).toEqual([]);
    const { text } = await sentFor(api, { messages, tools });
    // If the provider names no calls, their names are new in each run.
    const calls = requestOf(api, { messages, tools }).messages.flatMap((message) =>
      message.role === "tool" ? message.parts.map(({ call }) => call) : [],
    );
    const stable = calls.reduce((all, call, at) => all.replaceAll(`"${call}"`, `"call-${at}"`), text);
    expect(JSON.parse(stable)).toMatchSnapshot();
    expect(text).not.toContain(long);
    expect(text).toContain("iVBORw0KGgo=");
  });

  test(`${api}: reasoning returns to the model that made it, and to no other`, async () => {
    const messages = await historyOf(api);
    const same = await sentFor(api, { messages, tools });
    const other = await sentFor(api, { messages, tools, model: `${modelOf[api]}-other` });
    const marks = { anthropic: "sig+/==", openai: "enc+/==", google: "sig+/==" }[api as string] ?? "Hm. ünd";
    expect(same.text.includes(marks)).toBe(api !== "openai-chat");
    expect(other.text).not.toMatch(/Hm\.|sig\+|enc\+|call\+/);
  });

  test(`${api}: a schema is asked for, and tools are not called on "none"`, async () => {
    const schema = { type: "object", properties: { answer: { type: "string", format: "uri" } } };
    expect((await sentFor(api, { schema })).text).toContain('"answer":{"type":"string","format":"uri"}');
    const { body } = await sentFor(api, { tools, tool_choice: "none" });
    expect([body.tool_choice, body.toolConfig?.functionCallingConfig.mode, body.tools === undefined]).toEqual(
      {
        anthropic: [{ type: "none" }, undefined, false],
        openai: ["none", undefined, false],
        "openai-chat": ["none", undefined, false],
        google: [undefined, "NONE", false],
        "openai-compatible": ["none", undefined, false],
        ollama: [undefined, undefined, true],
      }[api],
    );
  });

  test(`${api}: limits and temperature are sent`, async () => {
    const { text } = await sentFor(api, {
      max_output_tokens: 123,
      temperature: 0.25,
      model: `lab/plain-model`,
    });
    expect(text).toMatch(/"(?:max_tokens|max_output_tokens|maxOutputTokens|num_predict)":123/);
    expect(text).toContain('"temperature":0.25');
  });

  test(`${api}: the key is in one header and the environment is not read`, async () => {
    for (const name of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"])
      process.env[name] = "from-the-environment";
    process.env["OPENAI_BASE_URL"] = process.env["ANTHROPIC_BASE_URL"] = "https://environment.example/v1";
    try {
      const { url, headers, text } = await sentFor(api, {});
      const all = [url, text, ...[...headers].flat()].join("\n");
      expect(all).not.toContain("environment");
      expect(all.split(testKey)).toHaveLength(2);
      const keyless = recorded(() => streamed(api, written(api, { say: ["ok"] })));
      const call = { provider: providerOf(api), key: null, request: requestOf(api) };
      const events = await Array.fromAsync(streamModel(call, keyless.fetch, neverAborted));
      const needsNone = api === "openai-compatible" || api === "ollama";
      expect(lastOf(events)).toMatchObject(
        needsNone ? { type: "done" } : { type: "failed", failure: { class: "NoKey" } },
      );
      expect(keyless.sent).toHaveLength(needsNone ? 1 : 0);
      expect(keyless.sent[0]?.headers.get("authorization") ?? null).toBeNull();
    } finally {
      for (const name of [
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "OPENAI_BASE_URL",
        "ANTHROPIC_BASE_URL",
      ])
        delete process.env[name];
    }
  });

  test(`${api}: nothing leaves before "sent" was taken`, async () => {
    const { fetch, sent } = recorded(() => streamed(api, written(api, { say: ["ok"] })));
    const call = { provider: providerOf(api), key: testKey, request: requestOf(api) };
    const events = streamModel(call, fetch, neverAborted);
    expect(await events.next()).toMatchObject({ value: { type: "sent" } });
    await Promise.resolve();
    expect(sent).toHaveLength(0);
    await events.return();
    expect(sent).toHaveLength(0);
  });

  test(`${api}: every generated history has the provider's shape`, { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (messages) => {
        const request = requestOf(api, { messages, tools });
        expect(faultsOf(request, pairingOf(api))).toEqual([]);
        await sentFor(api, { messages, tools });
      }),
      { numRuns: 40 },
    );
  });
}

const pairingOf = (api: WireApi) => ({
  alternates: dialects[api].alternates,
  declared: dialects[api].declaresCalledTools,
});

test("cache points reach Anthropic, at most four of them, with the first and the last", async () => {
  const messages: readonly ModelMessage[] = [
    { role: "system", text: "Be brief.", cache: true },
    ...[0, 1, 2, 3, 4, 5].flatMap((turn): ModelMessage[] => [
      { ...user(`question ${turn}`), cache: true },
      { role: "assistant", parts: [{ type: "text", text: `answer ${turn}` }] },
    ]),
    user("last"),
  ];
  const { text, body } = await sentFor("anthropic", { messages });
  expect(text.split('"cache_control":{"type":"ephemeral"}')).toHaveLength(5);
  expect(body.system[0].cache_control).toEqual({ type: "ephemeral" });
  expect(body.messages.at(-3).content[0].cache_control).toEqual({ type: "ephemeral" });
  for (const api of wireApis)
    if (api !== "anthropic") expect((await sentFor(api, { messages })).text).not.toContain("cache");
});

test("redacted reasoning and signatures without text return byte by byte", async () => {
  const redacted = written("anthropic", { think: "Hm.", say: ["ok"] })
    .replace(
      '{"type":"thinking","thinking":"","signature":""}',
      '{"type":"redacted_thinking","data":"red+/=="}',
    )
    .replace(/event: content_block_delta\ndata: [^\n]*(?:thinking|signature)_delta[^\n]*\n\n/g, "");
  const { fetch } = recorded(() => streamed("anthropic", redacted));
  const done = lastOf(await eventsOf(requestOf("anthropic"), "anthropic", fetch));
  if (done?.type !== "done") throw new Error(JSON.stringify(done));
  const { body } = await sentFor("anthropic", {
    messages: [user("a"), { role: "assistant", parts: done.parts }, user("b")],
  });
  expect(body.messages[1].content).toEqual([
    { type: "redacted_thinking", data: "red+/==" },
    { type: "text", text: "ok" },
  ]);
});

test("OpenAI's answers are not stored, and its summaries return with the encrypted reasoning", async () => {
  const one = written("openai", { think: "First.", say: ["ok"] });
  const part = '{"type":"response.reasoning_summary_part.done","item_id":"rs_1","summary_index":0}\n\n';
  const two = one.replace(
    part,
    `${part}data: {"type":"response.reasoning_summary_part.added","item_id":"rs_1","summary_index":1}\n\n` +
      `data: {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","summary_index":1,"delta":"Second."}\n\n` +
      `data: {"type":"response.reasoning_summary_part.done","item_id":"rs_1","summary_index":1}\n\n`,
  );
  expect(two).not.toBe(one);
  const { fetch } = recorded(() => streamed("openai", two));
  const done = lastOf(await eventsOf(requestOf("openai"), "openai", fetch));
  if (done?.type !== "done") throw new Error(JSON.stringify(done));
  const { body } = await sentFor("openai", {
    messages: [user("a"), { role: "assistant", parts: done.parts }, user("b")],
  });
  expect(body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
  expect(body.input[1]).toEqual({
    type: "reasoning",
    id: "rs_1",
    encrypted_content: "enc+/==",
    summary: ["First.", "Second."].map((text) => ({ type: "summary_text", text })),
  });
});

test("Ollama gets the window of the document, or one that holds the tools", async () => {
  const { fetch, sent } = recorded(() => streamed("ollama", written("ollama", { say: ["ok"] })));
  const request = requestOf("ollama");
  const provider = { ...providerOf("ollama"), contextTokens: 8192 };
  for (const each of [providerOf("ollama"), provider])
    await Array.fromAsync(streamModel({ provider: each, key: null, request }, fetch, neverAborted));
  expect(sent.map(({ body }) => body.options.num_ctx)).toEqual([32768, 8192]);
  expect(sent[0]?.body).toMatchObject({ truncate: false, shift: false, stream: true });
});

test("a call that was printed as text is a call, where models do that", async () => {
  const say = ['```json\n{"name": "files_read", ', '"arguments": {"path": "a"}}\n```'];
  for (const api of ["openai-compatible", "ollama", "openai-chat"] as const) {
    const { fetch } = recorded(() => streamed(api, written(api, { say })));
    const isCall = api !== "openai-chat";
    for (const request of [{ tools }, {}, { tools, tool_choice: "none" as const }])
      expect(lastOf(await eventsOf(requestOf(api, request), api, fetch))).toMatchObject(
        isCall && request.tools !== undefined && !("tool_choice" in request)
          ? {
              finish: "tool_calls",
              parts: [{ type: "tool_call", tool: "files_read", arguments: { path: "a" } }],
            }
          : { finish: "stop", parts: [{ type: "text" }] },
      );
  }
});

test("an API without a network, an address or a model is refused in a sentence", async () => {
  const never = recorded(() => new Response("never"));
  const failureOf = async (change: object, model = "lab/m") => {
    const provider = { ...providerOf("anthropic"), ...change };
    const call = { provider, key: testKey, request: { model, messages: [user("Hello")] } };
    return await Array.fromAsync(streamModel(call, never.fetch, neverAborted));
  };
  for (const api of ["llama", "editor", "scripted"])
    expect(await failureOf({ api })).toMatchObject([{ type: "failed", failure: { class: "NoModel" } }]);
  expect(await failureOf({ baseUrl: "no address" })).toMatchObject([{ failure: { class: "NoModel" } }]);
  expect(await failureOf({}, "lab")).toMatchObject([{ failure: { class: "UnknownModel" } }]);
  expect(never.sent).toEqual([]);
});

test("the answer ends once, also if a part has no beginning or comes twice", async () => {
  const text = written("openai-chat", { calls: twoCalls });
  const { fetch } = recorded(() => streamed("openai-chat", text.replaceAll('"index":1', '"index":7')));
  const events = await eventsOf(requestOf("openai-chat", { tools }), "openai-chat", fetch);
  expect(countOf(events, "done", "failed")).toBe(1);
  expect(lastOf(events)).toMatchObject({ type: "done", parts: [{ call: long }, { call: short }] });
});

test("blocks that arrive interleaved keep their order and their contents", async () => {
  const events = written("anthropic", { say: ["one"], calls: twoCalls }).split("\n\n");
  const isOf = (event: string, index: number) => event.includes(`"index":${index}`);
  const [head, rest] = [events.slice(0, 2), events.filter((event) => !/"index":/.test(event)).slice(2)];
  const blocks = [0, 1, 2].map((index) => events.filter((event) => isOf(event, index)));
  const rounds = Math.max(...blocks.map(({ length }) => length));
  const mixed = Array.from({ length: rounds }, (_, at) => blocks.flatMap((block) => block[at] ?? [])).flat();
  const { fetch } = recorded(() => streamed("anthropic", [...head, ...mixed, ...rest].join("\n\n")));
  expect(lastOf(await eventsOf(requestOf("anthropic", { tools }), "anthropic", fetch))).toMatchObject({
    type: "done",
    parts: [
      { type: "text", text: "one" },
      { call: long, arguments: { path: "a" } },
      { call: short, arguments: { path: "b" } },
    ],
  });
});

test("calls that arrive interleaved, the second one first, keep their arguments", async () => {
  const [created, ...events] = written("openai", { calls: twoCalls }).split("\n\n");
  const completed = events.splice(6);
  const mixed = [0, 3, 4, 1, 5, 2].map((at) => events[at]);
  const responses = [created, ...mixed, ...completed].join("\n\n");
  const chunks = written("openai-compatible", { calls: twoCalls }).split("\n\n");
  const starts = chunks.splice(1, 2).toReversed();
  const chat = [chunks[0], ...starts, ...chunks.slice(1)].join("\n\n");
  for (const [api, text] of [
    ["openai", responses],
    ["openai-compatible", chat],
    ["openai-chat", chat],
  ] as const) {
    const { fetch } = recorded(() => streamed(api, text));
    const done = lastOf(await eventsOf(requestOf(api, { tools }), api, fetch));
    if (done?.type !== "done") throw new Error(JSON.stringify(done));
    expect(done.parts).toHaveLength(2);
    for (const { id, tool, json } of twoCalls)
      expect(done.parts).toContainEqual(
        expect.objectContaining({ call: id, tool, arguments: JSON.parse(json) as unknown }),
      );
  }
});

test("the reason for the end is reported, and arguments that are not JSON are kept unchanged", async () => {
  const finishOf = async (api: WireApi, text: string) => {
    const { fetch } = recorded(() => streamed(api, text));
    return lastOf(await eventsOf(requestOf(api, { tools }), api, fetch));
  };
  const anthropicText = written("anthropic", { say: ["ok"] });
  expect(await finishOf("anthropic", anthropicText.replace("end_turn", "max_tokens"))).toMatchObject({
    finish: "length",
  });
  expect(await finishOf("anthropic", anthropicText.replace("end_turn", "refusal"))).toMatchObject({
    finish: "filtered",
  });
  const empty = written("google", { say: [""] }).replace('"STOP"', '"SAFETY"');
  expect(await finishOf("google", empty)).toMatchObject({ type: "failed", failure: { class: "Filtered" } });
  const ollama = written("ollama", { say: ["ok"] }).replace('"stop"', '"length"');
  expect(await finishOf("ollama", ollama)).toMatchObject({ finish: "length" });
  const thinking = written("ollama", { think: "Hm." }).replace('"stop"', '"length"');
  expect(await finishOf("ollama", thinking)).toMatchObject({ type: "done", finish: "length" });
  const malformed = written("google", { say: ["ok"] }).replace('"STOP"', '"MALFORMED_FUNCTION_CALL"');
  expect(await finishOf("google", malformed)).toMatchObject({
    type: "failed",
    failure: { class: "Overloaded", message: expect.stringContaining("MALFORMED_FUNCTION_CALL") as string },
  });
  const continued = written("google", { say: ["ok"] }).replace(
    '"STOP"',
    '"CONTINUATION","continuationToken":"t"',
  );
  expect(await finishOf("google", continued)).toMatchObject({
    type: "failed",
    failure: { class: "InvalidRequest" },
  });
  const broken = written("openai-compatible", {
    calls: [{ id: "a", tool: "files_read", json: '{"path": oops' }],
  });
  expect(await finishOf("openai-compatible", broken)).toMatchObject({
    parts: [{ arguments: '{"path": oops' }],
  });
});

test("usage that a provider leaves out or garbles is estimated", async () => {
  const text = written("ollama", { say: ["ok"] });
  const garbled = text.replace(
    '"prompt_eval_count":10,"eval_count":7',
    '"prompt_eval_count":"x","eval_count":-3',
  );
  for (const each of [text.replace(/,"prompt_eval_count":10,"eval_count":7/, ""), garbled]) {
    const { fetch } = recorded(() => streamed("ollama", each));
    const done = lastOf(await eventsOf(requestOf("ollama"), "ollama", fetch));
    if (done?.type !== "done") throw new Error(JSON.stringify(done));
    expect(done.usage.input_tokens).toBeGreaterThan(0);
    expect(done.usage.output_tokens).toBeGreaterThanOrEqual(0);
  }
});
