/** Agents' texts as vectors, by the embedder of their memory, against a real kernel. */
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

const HASH = "test.hash";
const SERVICE = "test.service";
const HERE = "test.here";
const AWAY = "test.away";
const PLAIN = "test.plain";

const PROGRAM = `
import { defineAgent } from "@lares/sdk";

const attempt = async (work) => {
  try {
    return { value: await work() };
  } catch (error) {
    return { error: { code: error.code, message: error.message, facts: error.facts } };
  }
};
const aborter = new AbortController();
export default defineAgent({
  tools: {
    embed: ({ texts, count, length }, ctx) =>
      attempt(async () => {
        const many = Array.from({ length: count ?? 0 }, (_, at) => ("text " + at + " ").padEnd(length ?? 0, "word "));
        const { embeddings, dimensions, embedder } = await ctx.ai.embed([...(texts ?? []), ...many]);
        const lengths = embeddings.map((vector) => Math.hypot(...vector));
        return { count: embeddings.length, first: embeddings[0], last: embeddings.at(-1), lengths, dimensions, embedder };
      }),
    has: ({ category }, ctx) => attempt(() => ctx.ai.hasModel(category)),
    through: ({ agent, texts }, ctx) => attempt(() => ctx.tools.call(agent + "/embed", { texts })),
    generate: ({ category }, ctx) => attempt(() => ctx.ai.generate({ prompt: "hello", category })),
    // Runs until \`leave\` is called beside it.
    stay: ({ texts }, ctx) => attempt(() => ctx.ai.embed(texts, { signal: aborter.signal })),
    leave: () => aborter.abort(),
  },
});
`;
const tools = ["embed", "has", "through", "generate", "stay", "leave"].map((name) => ({
  name,
  description: name,
  handler: name,
  parameters: { type: "object" },
}));

interface Outcome {
  readonly value?: {
    readonly first: readonly number[];
    readonly lengths: readonly number[];
  };
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly facts: Record<string, unknown>;
  };
}

const asked: { readonly input: readonly string[] }[] = [];
let closed = 0;
/** OpenAI's embeddings, of 3,000 dimensions, as far as the text is not to be refused. */
const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const { input } = JSON.parse(Buffer.concat(pieces).toString("utf8")) as { input: string[] };
    asked.push({ input });
    if (input.includes("stall")) return void response.on("close", () => closed++);
    if (input.includes("busy")) return void response.writeHead(503).end();
    const vector = (text: string): number[] =>
      Array.from({ length: 3000 }, (_, at) => (at === text.length ? 2 : 0));
    response.end(JSON.stringify({ data: input.map((text) => ({ embedding: vector(text) })) }));
  });
});

let bench: Bench;
let client: Client;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agent = (id: string, use?: object, more: object = {}) => ({
    id,
    program: PROGRAM,
    manifest: {
      tools,
      permissions: {
        ...(use === undefined ? {} : { use_models: [use] }),
        call_tools: [`${HASH}/*`],
        ...more,
      },
    },
  });
  bench = await Bench.create({
    extensions: [
      agent(HASH, { category: "embedding" }),
      agent(SERVICE, { category: "embedding" }),
      agent(HERE, { category: "embedding", local_only: true }),
      agent(AWAY, { category: "embedding", local_only: true }),
      agent(PLAIN, { category: "chat" }),
    ],
  });
  const folder = join(bench.base, "config", "lares");
  await mkdir(folder, { recursive: true });
  const service = { kind: "openai-compatible", url, model: "small" };
  await writeFile(
    join(folder, "lares.yaml"),
    JSON.stringify({
      version: 1,
      memory: {
        extensions: {
          [SERVICE]: { embedder: service },
          [HERE]: { embedder: service },
          [AWAY]: { embedder: { ...service, url: "https://embedder.example" } },
        },
      },
    }),
  );
  client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  server.close();
});

const ask = (agent: string, name: string, args: object): Promise<Outcome> =>
  tool<Outcome>(client, agent, name, args);

test("texts become unit vectors by the built-in embedder, as many as the agent has", async () => {
  const texts = [
    "Ada wrote the first program.",
    "The first program was written by Ada.",
    "Rain is expected.",
  ];
  const { value } = await ask(HASH, "embed", { texts, count: 150 });
  expect(value?.lengths).toHaveLength(153);
  expect(value).toMatchObject({ count: 153, dimensions: 384, embedder: "hash/1/384" });
  for (const length of value?.lengths ?? []) expect(length).toBeCloseTo(1, 5);
  expect(await ask(HASH, "has", { category: "embedding" })).toEqual({ value: true });
});

test("texts go to the service that the person's document names, in the agent's name, without secrets", async () => {
  const key = `ghp_${"a1B2c3D4".repeat(4)}e5F6`;
  const { value } = await ask(SERVICE, "embed", { texts: ["four", `my key is ${key}`] });
  expect(value).toMatchObject({
    dimensions: 3000,
    embedder: expect.stringMatching(/\/small\/3000$/) as string,
  });
  expect(value?.first.slice(3, 6)).toEqual([0, 1, 0]);
  expect(asked.at(-1)?.input).toEqual(["four", "my key is [secret: github token]"]);
  const traces = await client.request<object[]>("lares/traces/query", {
    agent: SERVICE,
    text: "/v1/embeddings",
  });
  expect(traces).toContainEqual(
    expect.objectContaining({
      message: expect.stringMatching(/^POST 127\.0\.0\.1:\d+\/v1\/embeddings: 200$/) as string,
    }),
  );
});

test("vectors that do not fit one message come in several", async () => {
  asked.length = 0;
  const { value } = await ask(SERVICE, "embed", { count: 60 });
  expect(value).toMatchObject({ count: 60 });
  // 80,000 numbers a message: 26 vectors of 3,000.
  expect(asked.map(({ input }) => input.length)).toEqual([26, 26, 8]);
});

test("what has to stay on this machine stays there", async () => {
  expect(await ask(HERE, "embed", { texts: ["one"] })).toMatchObject({ value: { dimensions: 3000 } });
  expect(await ask(AWAY, "embed", { texts: ["one"] })).toMatchObject({
    error: { code: "ModelError", facts: { class: "NoModel", retryable: false } },
  });
  expect(await ask(AWAY, "has", { category: "embedding" })).toEqual({ value: false });
  expect(await ask(HERE, "has", { category: "embedding" })).toEqual({ value: true });
});

test("without the category, or for an agent without it, nothing is embedded", async () => {
  expect(await ask(PLAIN, "embed", { texts: ["one"] })).toMatchObject({
    error: { code: "PermissionDenied" },
  });
  expect(await ask(PLAIN, "through", { agent: HASH, texts: ["one"] })).toMatchObject({
    value: { error: { code: "PermissionDenied" } },
  });
  expect(await ask(AWAY, "through", { agent: HASH, texts: ["one"] })).toMatchObject({
    value: { value: { embedder: "hash/1/384" } },
  });
  // The category does not lead to a model that answers.
  expect(await ask(HASH, "generate", { category: "embedding" })).toMatchObject({
    error: { code: "InvalidParams" },
  });
});

test("a blank text, a service that is busy and a call that is cancelled each end as they should", async () => {
  expect(await ask(SERVICE, "embed", { texts: ["good", " \n"] })).toMatchObject({
    error: { code: "InvalidParams", message: expect.stringContaining("Text 2 of 2") as string },
  });
  expect(await ask(HASH, "embed", { texts: [] })).toMatchObject({ error: { code: "InvalidParams" } });
  const busy = await ask(SERVICE, "embed", { texts: ["busy"] });
  expect(busy).toMatchObject({
    error: { code: "ModelError", facts: { class: "Overloaded", retryable: true } },
  });
  // Where the service is, the person reads in the traces; the agent is not told.
  expect(busy.error?.message).not.toContain("127.0.0.1");
  expect(await client.request("lares/traces/query", { agent: SERVICE, text: "503" })).not.toEqual([]);
  const stayed = ask(SERVICE, "stay", { texts: ["stall"] });
  await until("the service to be asked", () => asked.some(({ input }) => input.includes("stall")));
  await tool(client, SERVICE, "leave", {});
  expect(await stayed).toMatchObject({ error: { code: "RequestCancelled" } });
  await until("the connection to be closed", () => closed === 1);
});

test("long texts are charged to the agent, and end with its processor time", async () => {
  const { value } = await ask(HASH, "embed", { count: 4, length: 20_000 });
  expect(value).toMatchObject({ count: 4 });
});
