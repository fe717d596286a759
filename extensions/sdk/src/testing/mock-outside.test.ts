import { expect, test } from "vitest";
import { mockContext } from "./mock-context.ts";

const permissions = {
  use_models: [{ category: "chat" }],
  use_credentials: ["weather"],
};

test("a test answers for models, hosts and secrets, as far as the manifest asks for them", async () => {
  const ctx = mockContext({
    permissions,
    hosts: ["api.example.com"],
    secrets: ["weather"],
    model: ({ prompt }) => (prompt.includes("JSON") ? { total: 7 } : `heard ${prompt}`),
    fetch: (url, { method }) => ({ status: 201, body: JSON.stringify({ url, method }) }),
  });
  expect(await ctx.ai.generate("hello")).toMatchObject({ text: "heard hello", finish: "stop" });
  expect(await ctx.ai.object({ prompt: "JSON", schema: { type: "object" } })).toEqual({ total: 7 });
  expect(await ctx.ai.hasModel()).toBe(true);
  const answer = await ctx.fetch("https://api.example.com/x", { method: "PUT" });
  expect([answer.ok, answer.json()]).toEqual([true, { url: "https://api.example.com/x", method: "PUT" }]);
  await expect(ctx.fetch("https://other.example/")).rejects.toMatchObject({ code: "EgressDenied" });
  await expect(ctx.ai.generate({ prompt: "x", category: "faces" })).rejects.toMatchObject({
    code: "PermissionDenied",
  });
  expect(await ctx.credentials.get("weather")).not.toBe("");
  await expect(ctx.credentials.get("bank")).rejects.toMatchObject({ code: "PermissionDenied" });
});

test("without a model, a host or a secret, calls fail as a kernel's do", async () => {
  const ctx = mockContext({ permissions, hosts: ["api.example.com"] });
  await expect(ctx.ai.generate("hello")).rejects.toMatchObject({
    code: "ModelError",
    facts: { class: "NoModel", retryable: false },
  });
  expect(await ctx.ai.hasModel()).toBe(false);
  await expect(ctx.fetch("https://api.example.com/")).rejects.toMatchObject({ code: "NetworkError" });
  await expect(ctx.credentials.get("weather")).rejects.toMatchObject({ code: "NotFound" });
});

test("bytes are sent to a mocked host and returned unchanged, in as many pieces as needed", async () => {
  const sent = Uint8Array.from({ length: 600_000 }, (_, at) => at % 251);
  const ctx = mockContext({
    hosts: ["api.example.com"],
    fetch: (_url, { body }) => ({ body: body ?? "" }),
  });
  const answer = await ctx.fetch("https://api.example.com/photo", { method: "PUT", body: sent });
  expect(answer.size).toBe(600_000);
  expect(await answer.bytes()).toEqual(sent);
  expect(() => answer.text()).toThrow(TypeError);
  const text = await ctx.fetch("https://api.example.com/", { method: "POST", body: "é" });
  expect([...(await text.bytes())]).toEqual([195, 169]);
});

test("texts become vectors under their own permission, as many as are given", async () => {
  const ctx = mockContext({ permissions: { use_models: [{ category: "embedding" }] } });
  const texts = Array.from({ length: 150 }, (_, at) => `text ${at}`);
  const { embeddings, dimensions, embedder } = await ctx.ai.embed(texts);
  expect([embeddings.length, dimensions, embedder]).toEqual([150, 8, "mock/8"]);
  expect(embeddings[7]).toEqual((await ctx.ai.embed(["text 7"])).embeddings[0]);
  expect(Math.hypot(...(embeddings[0] ?? []))).toBeCloseTo(1);
  expect(await ctx.ai.hasModel("embedding")).toBe(true);
  await expect(ctx.ai.embed(["good", " "])).rejects.toMatchObject({ code: "InvalidParams" });
  await expect(mockContext({ permissions }).ai.embed(["text"])).rejects.toMatchObject({
    code: "PermissionDenied",
  });
  const own = mockContext({
    permissions: { use_models: [{ category: "embedding" }] },
    embed: (text) => [text.length, 0],
  });
  expect((await own.ai.embed(["four"])).embeddings).toEqual([[4, 0]]);
});

test("what a test names needs no permissions of its own, and a model may answer with JSON", async () => {
  const ctx = mockContext({
    secrets: ["weather"],
    model: ({ prompt }) => (prompt === "good" ? '{"total":7}' : "seven"),
  });
  const schema = { type: "object" };
  expect(await ctx.ai.object({ prompt: "good", schema })).toEqual({ total: 7 });
  await expect(ctx.ai.object({ prompt: "bad", schema })).rejects.toMatchObject({
    code: "ModelError",
    facts: { class: "EmptyAnswer" },
  });
  await expect(ctx.ai.object({ prompt: "good", schema: { type: "array" } })).rejects.toMatchObject({
    code: "InvalidParams",
    facts: { path: "schema" },
  });
  expect(await ctx.credentials.get("weather")).not.toBe("");
  await expect(mockContext().ai.generate("hello")).rejects.toMatchObject({ code: "PermissionDenied" });
});

test("a model of the extension answers as the test says, with numbers of every type, small and large", async () => {
  const ctx = mockContext({
    models: ["faces"],
    infer: ({ model, inputs }) => [
      ...inputs.map((input) => ({ ...input, name: `${model} ${input.name}` })),
      { name: "count", dims: [], data: Int32Array.of(inputs.length) },
    ],
  });
  const inputs = [
    { name: "image", dims: [1, 200_000], data: new Float32Array(200_000).fill(0.5) },
    { name: "ids", dims: [2], data: BigInt64Array.of(2n ** 60n, -1n) },
    { name: "mask", type: "bool", dims: [2], data: Uint8Array.of(1, 0) },
    { name: "part", dims: [2], data: Float64Array.of(0, 1, 2, 3).subarray(1, 3) },
  ] as const;
  expect(ctx.ai.models).toEqual([{ name: "faces", sha256: "0".repeat(64) }]);
  const { outputs } = await ctx.ai.infer({ model: "faces", inputs });
  expect(outputs.map(({ name, type }) => [name, type])).toEqual([
    ["faces image", "float32"],
    ["faces ids", "int64"],
    ["faces mask", "bool"],
    ["faces part", "float64"],
    ["count", "int32"],
  ]);
  for (const [at, { data }] of inputs.entries()) expect(outputs[at]?.data).toEqual(data.slice());
  await expect(ctx.ai.infer({ model: "other", inputs: [] })).rejects.toMatchObject({
    code: "PermissionDenied",
  });
  await expect(
    ctx.ai.infer({ model: "faces", inputs: [{ name: "x", dims: [3], data: Float32Array.of(1) }] }),
  ).rejects.toMatchObject({ code: "InvalidParams" });
  await expect(
    mockContext({ models: ["faces"] }).ai.infer({ model: "faces", inputs: [] }),
  ).rejects.toMatchObject({ code: "ModelError", facts: { class: "NoModel" } });
});
