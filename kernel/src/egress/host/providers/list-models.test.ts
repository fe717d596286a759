import { expect, test } from "vitest";
import { neverAborted } from "../../../base/abort.ts";
import { ModelFault } from "./failures.ts";
import { listModels } from "./list-models.ts";
import { providerOf, recorded, testKey, type WireApi, wireApis } from "./testing/wire.ts";

const lists: Readonly<Record<WireApi, object>> = {
  anthropic: {
    data: [{ type: "model", id: "claude-a", max_input_tokens: 200_000 }, { id: "claude-b" }],
    has_more: false,
  },
  openai: { object: "list", data: [{ id: "claude-a", context_window: 200_000 }, { id: "claude-b" }] },
  "openai-chat": { object: "list", data: [{ id: "claude-a", context_length: 200_000 }, { id: "claude-b" }] },
  "openai-compatible": {
    data: [
      { id: "claude-a", max_model_len: 200_000 },
      { id: "claude-b", max_model_len: "many" },
    ],
  },
  google: {
    models: [
      { name: "models/claude-a", inputTokenLimit: 200_000, supportedGenerationMethods: ["generateContent"] },
      { name: "models/embedding", inputTokenLimit: 1, supportedGenerationMethods: ["embedContent"] },
      { name: "models/claude-b" },
    ],
  },
  ollama: { models: [{ name: "claude-a", model: "claude-a" }, { name: "claude-b" }] },
};

for (const api of wireApis) {
  test(`${api}: its models are listed at its own address, with the key in one header`, async () => {
    const { fetch, sent } = recorded(() => Response.json(lists[api]));
    const models = await listModels(providerOf(api), testKey, fetch, neverAborted);
    expect(models).toEqual([
      api === "ollama" ? { id: "claude-a" } : { id: "claude-a", context_tokens: 200_000 },
      { id: "claude-b" },
    ]);
    const [{ url, headers } = { url: "", headers: new Headers() }] = sent;
    expect(url.startsWith(`http://127.0.0.1:1/base/${api === "ollama" ? "api/tags" : "models"}`)).toBe(true);
    expect([url, ...[...headers].flat()].join("\n").split(testKey)).toHaveLength(2);
    await listModels(providerOf(api), null, fetch, neverAborted);
    expect([...(sent[1]?.headers ?? [])]).toEqual([["accept", "application/json"]]);
  });

  test(`${api}: an invalid list is a failure with a class`, async () => {
    for (const [response, failureClass] of [
      [new Response("no", { status: 401 }), "Unauthorized"],
      [new Response("no", { status: 503 }), "Overloaded"],
      [new Response("<html>"), "InvalidRequest"],
      [Response.json(null), "InvalidRequest"],
      [Response.json({ data: {}, models: 1 }), "InvalidRequest"],
    ] as const) {
      const listed = listModels(providerOf(api), testKey, recorded(() => response).fetch, neverAborted);
      await expect(listed).rejects.toMatchObject({ failure: { class: failureClass } });
    }
    const odd = { data: [null, 1, {}, { id: "" }, { id: 5 }], models: [null, {}, { name: "" }] };
    const fetch = recorded(() => Response.json(odd)).fetch;
    expect((await listModels(providerOf(api), null, fetch, neverAborted)).every(({ id }) => id !== "")).toBe(
      true,
    );
    const failing = () => Promise.reject(new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") }));
    await expect(listModels(providerOf(api), null, failing, neverAborted)).rejects.toMatchObject({
      failure: { class: "Network" },
    });
    await expect(listModels(providerOf(api), null, failing, AbortSignal.abort())).rejects.toBeInstanceOf(
      ModelFault,
    );
  });
}

test("a list without end is not read to its end", async () => {
  let bytes = 0;
  const chunk = new Uint8Array(1024 * 1024).fill(0x20);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      bytes += chunk.length;
      controller.enqueue(chunk);
    },
  });
  const { fetch } = recorded(() => new Response(body));
  const listed = listModels(providerOf("openai"), testKey, fetch, neverAborted);
  await expect(listed).rejects.toMatchObject({ failure: { class: "InvalidRequest" } });
  expect(bytes).toBeLessThan(16 * 1024 * 1024);
});

test("a model that Ollama runs elsewhere is told apart", async () => {
  const models = [
    { name: "qwen3", size: 5_000_000_000 },
    { name: "mine", remote_host: "https://ollama.com:443", remote_model: "gpt-oss:120b" },
    { name: "old", remote_host: "" },
  ];
  const { fetch } = recorded(() => Response.json({ models }));
  expect(await listModels(providerOf("ollama"), null, fetch, neverAborted)).toEqual([
    { id: "qwen3" },
    { id: "mine", isElsewhere: true },
    { id: "old" },
  ]);
});

test("what a list says about output, tools, pictures and reasoning is taken, if its type is right", async () => {
  const listed = async (api: WireApi, item: object) =>
    (
      await listModels(
        providerOf(api),
        null,
        recorded(() => Response.json({ data: [item], models: [item] })).fetch,
        neverAborted,
      )
    )[0];
  expect(await listed("anthropic", { id: "a", max_input_tokens: 200_000, max_tokens: 64_000 })).toEqual({
    id: "a",
    context_tokens: 200_000,
    max_output_tokens: 64_000,
  });
  expect(
    await listed("google", { name: "models/a", inputTokenLimit: 9, outputTokenLimit: 8, thinking: true }),
  ).toEqual({ id: "a", context_tokens: 9, max_output_tokens: 8, reasoning: true });
  expect(
    await listed("openai-compatible", {
      id: "a",
      context_length: 9,
      top_provider: { max_completion_tokens: 8 },
      architecture: { input_modalities: ["text", "image"] },
      supported_parameters: ["tools", "temperature"],
    }),
  ).toEqual({
    id: "a",
    context_tokens: 9,
    max_output_tokens: 8,
    tools: true,
    images: true,
    reasoning: false,
  });
  expect(
    await listed("openai", {
      id: "a",
      top_provider: 5,
      max_completion_tokens: 7,
      architecture: null,
      supported_parameters: "tools",
    }),
  ).toEqual({ id: "a", max_output_tokens: 7 });
  expect(await listed("google", { name: "a", outputTokenLimit: -1, thinking: "yes" })).toEqual({ id: "a" });
});
