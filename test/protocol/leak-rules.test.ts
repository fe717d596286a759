/** Secrets of a person's own kinds, and secrets in what models answer, against a real kernel. */
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";

const AGENT = "test.asker";
const KEY = `acme_${"a1b2c3d4e5".repeat(2)}`;
const TOKEN = `ghp_${"a1B2c3D4".repeat(4)}e5F6`;

const PROGRAM = `
import { defineAgent } from "@lares/sdk";

const attempt = async (work) => {
  try {
    return { value: await work() };
  } catch (error) {
    return { error: { code: error.code, message: error.message, facts: error.facts } };
  }
};
export default defineAgent({
  tools: {
    ask: ({ request }, ctx) => attempt(async () => (await ctx.ai.generate(request)).text),
    object: ({ request }, ctx) => attempt(() => ctx.ai.object(request)),
    get: ({ url, init }, ctx) => attempt(async () => (await ctx.fetch(url, init)).text()),
    note: ({ text }, ctx) => ctx.trace.info(text),
  },
});
`;
const tools = ["ask", "object", "get", "note"].map((name) => ({
  name,
  description: name,
  handler: name,
  parameters: { type: "object" },
}));

interface Outcome {
  readonly value?: unknown;
  readonly error?: { readonly code: string; readonly facts: Record<string, unknown> };
}

const bodies: string[] = [];
/** Answers with what it was told to say, cut after every third character. */
let toSay = "";
const answer: RequestListener = (request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    bodies.push(Buffer.concat(pieces).toString("utf8"));
    if (request.url !== "/v1/chat/completions") return void response.end("ok");
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = (delta: object, reason: string | null): string =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "small", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    for (const [content] of toSay.matchAll(/[^]{1,3}/g)) response.write(chunk({ content }, null));
    response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
  });
};
const server = createServer(answer);
/** The provider's own: no agent may reach its address. */
const lab = createServer(answer);

let bench: Bench;
let client: Client;
let origin = "";

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  origin = `http://${host}`;
  lab.listen(0, "127.0.0.1");
  await once(lab, "listening");
  const labHost = `127.0.0.1:${(lab.address() as AddressInfo).port}`;
  bench = await Bench.create({
    extensions: [
      {
        id: AGENT,
        program: PROGRAM,
        manifest: {
          tools,
          permissions: { use_models: [{ category: "chat" }] },
          resources: { allowed_hosts: [host] },
        },
      },
    ],
  });
  const folder = join(bench.base, "config", "lares");
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, "lares.yaml"),
    JSON.stringify({
      version: 1,
      models: {
        providers: { lab: { api: "openai-compatible", base_url: `http://${labHost}/v1` } },
        routes: { default: "lab/small" },
      },
      egress: {
        private_hosts: [host],
        leak_rules: [
          { name: "broken rule", keywords: ["acme_"], pattern: "acme_(" },
          { name: "acme key", keywords: ["acme_"], pattern: "acme_[a-z0-9]{20}" },
        ],
      },
    }),
  );
  client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  server.close();
  lab.close();
});

const ask = (name: string, args: object): Promise<Outcome> => tool<Outcome>(client, AGENT, name, args);

test("a request of an agent with such a secret is refused, and a broken rule stops nothing", async () => {
  const url = `${origin}/plain`;
  for (const [where, init] of [
    ["header", { headers: { "x-note": KEY } }],
    ["body", { method: "POST", body: `the key is ${KEY}` }],
  ] as const)
    expect(await ask("get", { url, init })).toMatchObject({
      error: { code: "LeakBlocked", facts: { rule: "acme key", where } },
    });
  expect(await ask("get", { url: `${url}?k=${KEY}` })).toMatchObject({
    error: { code: "LeakBlocked", facts: { rule: "acme key", where: "url" } },
  });
  expect(bodies).toEqual([]);
  expect(await ask("get", { url })).toEqual({ value: "ok" });
});

test("such a secret is marked on the way to a model and in its answer, however that is cut", async () => {
  bodies.length = 0;
  toSay = `Your key ${KEY} and ${TOKEN} are safe.`;
  expect(await ask("ask", { request: `Keep ${KEY} for me.` })).toEqual({
    value: "Your key [secret: acme key] and [secret: github token] are safe.",
  });
  expect(bodies[0]).toContain("Keep [secret: acme key] for me.");
  expect(bodies[0]).not.toContain(KEY);
});

test("an object that fits a schema stays as the model made it", async () => {
  toSay = JSON.stringify({ key: TOKEN });
  const schema = { type: "object", required: ["key"], properties: { key: { type: "string" } } };
  expect(await ask("object", { request: { prompt: "Which key?", schema } })).toEqual({
    value: { key: TOKEN },
  });
});

test("such a secret is redacted in traces", async () => {
  await ask("note", { text: `took ${KEY} along` });
  const found = await client.request<{ message: string }[]>("lares/traces/query", {
    agent: AGENT,
    text: "along",
  });
  expect(found.map(({ message }) => message)).toEqual(["took [redacted: acme key] along"]);
});
