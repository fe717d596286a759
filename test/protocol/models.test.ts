/** Models, usage, secrets and requests to the outside, against a real kernel. */
import { once } from "node:events";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";

const AGENT = "test.asker";
const LOCAL = "test.local";
const OTHER = "test.other";
const SECRET = 'topsecret-value/+"&=~ 0123456789';

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
    ask: ({ request }, ctx) => attempt(() => ctx.ai.generate(request)),
    object: ({ request }, ctx) => attempt(() => ctx.ai.object(request)),
    has: ({ category }, ctx) => attempt(() => ctx.ai.hasModel(category)),
    token: ({ name }, ctx) => attempt(() => ctx.credentials.get(name)),
    through: ({ agent, url, init }, ctx) => attempt(() => ctx.tools.call(agent + "/get", { url, init })),
    bytes: ({ url, sent }, ctx) =>
      attempt(async () => {
        const answer = await ctx.fetch(url, { method: "POST", body: Uint8Array.from(sent), maxBytes: 4_000_000 });
        const bytes = await answer.bytes();
        return { size: bytes.length, first: [...bytes.subarray(0, 8)], last: [...bytes.subarray(-3)] };
      }),
    get: ({ url, init }, ctx) =>
      attempt(async () => {
        const { status, ok, headers, size, truncated, text } = await ctx.fetch(url, init);
        return { status, ok, headers, size, truncated, text: text() };
      }),
  },
});
`;
const anything = { type: "object" };
const tools = ["ask", "object", "has", "token", "through", "bytes", "get"].map((name) => ({
  name,
  description: name,
  handler: name,
  parameters: anything,
}));

interface Outcome {
  readonly value?: unknown;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly facts: Record<string, unknown>;
  };
}

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const received: Received[] = [];
let isRefusing = false;
/** OpenAI's Chat Completions, as small servers speak it. */
function chat(body: string, response: ServerResponse): void {
  if (isRefusing) return void response.writeHead(401).end('{"error":{"message":"bad key"}}');
  const { messages } = JSON.parse(body) as { messages: { content: unknown }[] };
  response.writeHead(200, { "content-type": "text/event-stream" });
  const say = (value: object | string): void =>
    void response.write(`data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);
  const chunk = (more: object): object => ({
    id: "1",
    object: "chat.completion.chunk",
    model: "small",
    ...more,
  });
  for (const content of ["You ", "said: ", JSON.stringify(messages.at(-1)?.content)])
    say(chunk({ choices: [{ index: 0, delta: { content } }] }));
  say(chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
  say(chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } }));
  say("[DONE]");
  response.end();
}
const answer: RequestListener = (request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const bytes = Buffer.concat(pieces);
    const body = bytes.toString("utf8");
    received.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
    if (request.url === "/v1/models")
      response.end(JSON.stringify({ data: [{ id: "small" }, { id: "large" }] }));
    else if (request.url === "/v1/chat/completions") chat(body, response);
    else if (request.url === "/away") response.writeHead(302, { location: "http://10.0.0.1/" }).end();
    else if (request.url === "/echo")
      response.writeHead(201, { "x-seen": "1" }).end(`got ${body} ${request.headers.authorization}`);
    else if (request.url === "/key")
      response.writeHead(302, { location: `https://${String(request.headers["x-key"])}.example/` }).end();
    else if (request.url === "/echoes") response.end(`${request.headers.authorization} `.repeat(20));
    else if (request.url === "/twice")
      response.end(Buffer.concat([bytes, Buffer.alloc(3_000_000, 0xff), bytes]));
    else if (request.url === "/binary") response.end(Buffer.from([0xff, 0xfe, 0x00]));
    else response.end("x".repeat(1000));
  });
};
const server = createServer(answer);
/** The provider: its address is reachable only for requests of that provider. */
const lab = createServer(answer);

let bench: Bench;
let client: Client;
let origin = "";
let host = "";
let labHost = "";

const script = `
turns:
  - { when: hello, say: "Hi there, Ada", usage: { input_tokens: 10, output_tokens: 4 } }
  - { when: weather, say: '{ "city": "Nice", "degrees": 24 }' }
  - { when: broken, say: "no JSON at all" }
  - { when: unfit, say: '{ "city": 7 }' }
  - { when: incomplete, say: '{ "degrees": 7 }' }
  - { when: busy, error: { class: RateLimited, retry_after_ms: 90000 } }
  - { when: ready, say: ready, repeat: true }
`;

async function writeUser(relative: string, text: string): Promise<void> {
  const path = join(bench.base, "config", "lares", relative);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const schema = {
  type: "object",
  required: ["city"],
  properties: { city: { type: "string" }, degrees: { type: "number" } },
};

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  origin = `http://${host}`;
  lab.listen(0, "127.0.0.1");
  await once(lab, "listening");
  labHost = `127.0.0.1:${(lab.address() as AddressInfo).port}`;
  const manifest = (category: string, more: Record<string, unknown> = {}) => ({
    tools,
    permissions: { use_models: [{ category, ...more }, { category: "lab" }], use_credentials: ["weather"] },
    resources: { allowed_hosts: [host, labHost] },
  });
  bench = await Bench.create({
    extensions: [
      { id: AGENT, program: PROGRAM, manifest: manifest("chat") },
      { id: LOCAL, program: PROGRAM, manifest: manifest("far", { local_only: true }) },
      {
        id: OTHER,
        program: PROGRAM,
        manifest: {
          tools,
          permissions: { call_tools: [`${AGENT}/*`] },
          resources: { allowed_hosts: [host] },
        },
      },
    ],
  });
  await writeUser(
    "lares.yaml",
    JSON.stringify({
      version: 1,
      models: {
        providers: {
          rehearsal: { api: "scripted", script: "./rehearsal.yaml" },
          far: { api: "anthropic", key: { secret: "anthropic" } },
          lab: { api: "openai-compatible", base_url: `http://${labHost}/v1`, key: { secret: "lab" } },
        },
        routes: { default: "rehearsal/script", far: "far/claude-sonnet-4-5", lab: "lab/small" },
        budgets: { per_agent_per_day_usd: 1, per_day_tokens: 1_000_000 },
      },
      egress: { private_hosts: [host, labHost] },
    }),
  );
  await writeUser("rehearsal.yaml", script);
  client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  server.close();
  lab.close();
});

const ask = (agent: string, name: string, args: object): Promise<Outcome> =>
  tool<Outcome>(client, agent, name, args);

test("binary bytes, more than fit a message, are sent to a host and returned unchanged", async () => {
  const url = `${origin}/twice`;
  expect(await ask(AGENT, "bytes", { url, sent: [0, 255, 254, 7] })).toEqual({
    value: { size: 3_000_008, first: [0, 255, 254, 7, 255, 255, 255, 255], last: [255, 254, 7] },
  });
});

test("an agent uses a model from the person's settings, for text and for an object", async () => {
  expect(await ask(AGENT, "has", {})).toEqual({ value: true });
  expect(await ask(AGENT, "ask", { request: "hello" })).toEqual({
    value: {
      text: "Hi there, Ada",
      model: "rehearsal/script",
      finish: "stop",
      usage: { inputTokens: 10, outputTokens: 4 },
    },
  });
  expect(await ask(AGENT, "object", { request: { prompt: "weather", schema } })).toEqual({
    value: { city: "Nice", degrees: 24 },
  });
  // Refused before anything is sent: the script has no turn for it.
  for (const [bad, message] of [
    [{ type: "objekt" }, '"schema" is not a valid JSON Schema: '],
    [{ type: "array" }, '"schema" must have type: "object" at its top.'],
    [{ required: ["city"] }, '"schema" must have type: "object" at its top.'],
  ] as const)
    expect(await ask(AGENT, "object", { request: { prompt: "never", schema: bad } })).toMatchObject({
      error: {
        code: "InvalidParams",
        message: expect.stringContaining(message) as string,
        facts: { path: "schema" },
      },
    });
  for (const prompt of ["broken", "unfit"])
    expect(await ask(AGENT, "object", { request: { prompt, schema } })).toMatchObject({
      error: { code: "ModelError", facts: { class: "EmptyAnswer", model: "rehearsal/script" } },
    });
  expect(await ask(AGENT, "object", { request: { prompt: "incomplete", schema } })).toMatchObject({
    error: {
      message:
        'The answer of rehearsal/script does not fit the schema: it must have required property "city".',
    },
  });
});

test("a refusal by a model, a missing route, and a missing permission are distinct errors", async () => {
  expect(await ask(AGENT, "ask", { request: "busy" })).toMatchObject({
    error: { code: "ModelError", facts: { class: "RateLimited", provider: "rehearsal", retryable: true } },
  });
  // A consumed turn of the script is not used again.
  expect(await ask(AGENT, "ask", { request: "hello" })).toMatchObject({
    error: { code: "ModelError", facts: { class: "InvalidRequest", retryable: false } },
  });
  expect(await ask(AGENT, "ask", { request: { prompt: "hello", category: "far" } })).toMatchObject({
    error: { code: "PermissionDenied" },
  });
  expect(await ask(LOCAL, "ask", { request: { prompt: "hello", category: "far" } })).toMatchObject({
    error: { code: "ModelError", facts: { class: "NoModel" } },
  });
  expect(await ask(LOCAL, "has", { category: "far" })).toEqual({ value: false });
  expect(await ask(OTHER, "ask", { request: "hello" })).toMatchObject({
    error: { code: "PermissionDenied" },
  });
  for (const request of [{}, { prompt: "a", messages: [{ role: "user", text: "b" }] }])
    expect(await ask(AGENT, "ask", { request })).toMatchObject({ error: { code: "InvalidParams" } });
});

test("clients list providers, models and routes, test a model, and read the usage", async () => {
  const listed = await client.request<{ providers: { id: string }[]; models: { id: string }[] }>(
    "lares/models/list",
  );
  expect(listed).toMatchObject({
    providers: [
      { id: "rehearsal", api: "scripted", state: "ready", local: true },
      { id: "far", api: "anthropic", state: "no_key", local: false },
      { id: "lab", api: "openai-compatible", state: "no_key", local: true },
    ],
    routes: { default: "rehearsal/script", far: "far/claude-sonnet-4-5", lab: "lab/small" },
  });
  expect(listed.models.map(({ id }) => id)).toContain("rehearsal/script");
  expect(listed.models).toContainEqual(
    expect.objectContaining({
      id: "far/claude-sonnet-4-5",
      input_usd_per_mtok: expect.any(Number) as number,
    }),
  );
  expect(await client.request("lares/models/test", { model: "rehearsal/script" })).toEqual({
    ok: true,
    first_token_ms: expect.any(Number) as number,
  });
  expect(await client.request("lares/models/test", { model: "far/claude-sonnet-4-5" })).toMatchObject({
    ok: false,
    error: { class: "NoKey", message: expect.stringContaining("lares secrets set anthropic") as string },
  });
  expect(await client.request("lares/models/test", { model: "nowhere/model" })).toMatchObject({
    ok: false,
    error: { class: "UnknownModel" },
  });
  const { groups } = await client.request<{ groups: Record<string, unknown>[] }>("lares/usage", {
    group_by: "agent",
  });
  const ofAgent = groups.find(({ key }) => key === AGENT);
  expect(ofAgent?.["requests"]).toBeGreaterThanOrEqual(2);
  expect(await client.request("lares/usage", { since: "1d", group_by: "model" })).toMatchObject({
    groups: [{ key: "rehearsal/script", usd: 0 }],
  });
  await expect(client.request("lares/usage", { since: "yesterday-ish" })).rejects.toMatchObject({
    data: { code: "InvalidParams" },
  });
});

test("a secret is set, listed without its value, sent only in its place to its hosts, and removed", async () => {
  expect(await client.request("lares/secrets/list")).toEqual({ items: [] });
  expect(await ask(AGENT, "token", { name: "weather" })).toMatchObject({ error: { code: "NotFound" } });
  const item = { name: "weather", hosts: [host], in: "header" };
  expect(
    await client.request("lares/secrets/set", { name: "weather", value: SECRET, hosts: [host] }),
  ).toMatchObject({ ...item, source: "store" });
  expect(await client.request("lares/secrets/list")).toMatchObject({ items: [item] });

  const { value: token } = (await ask(AGENT, "token", { name: "weather" })) as { value: string };
  expect(token).not.toContain(SECRET);
  expect(await ask(OTHER, "token", { name: "weather" })).toMatchObject({
    error: { code: "PermissionDenied" },
  });
  const init = {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "x-note": token },
    body: `body ${token}`,
  };
  received.length = 0;
  expect(await ask(AGENT, "get", { url: `${origin}/echo`, init })).toMatchObject({
    value: {
      status: 201,
      headers: { "x-seen": "1" },
      // The server echoed the value, which the agent never gets.
      text: `got body ${token} Bearer [secret: weather]`,
    },
  });
  expect(received).toMatchObject([
    { headers: { authorization: `Bearer ${SECRET}`, "x-note": token }, body: `body ${token}` },
  ]);
  // A placeholder where no value is inserted leaves as it is, and the trace names the secret.
  await ask(AGENT, "get", { url: `${origin}/plain`, init: { headers: { "x-note": token } } });
  expect(received.at(-1)?.headers).toMatchObject({ "x-note": token });
  expect(await client.request("lares/traces/query", { agent: AGENT, level: "warn", text: "/plain" })).toEqual(
    [
      expect.objectContaining({
        message: expect.stringContaining('without the value of "weather"') as string,
        fields: expect.objectContaining({ unfilled: ["weather"] }) as object,
      }),
    ],
  );
  // Whatever part of the answer is requested, it contains no part of the value.
  for (let maxBytes = 12; maxBytes < 12 + SECRET.length; maxBytes++) {
    const cut = await ask(AGENT, "get", { url: `${origin}/echo`, init: { ...init, body: "", maxBytes } });
    expect((cut.value as { text: string }).text.slice(12)).toBe("[secret: weather]".slice(0, maxBytes - 12));
  }
  // The same if the replacements of many values are shorter than the values, so that the end of the answer moves.
  for (let maxBytes = 300; maxBytes < 340; maxBytes++) {
    const cut = await ask(AGENT, "get", { url: `${origin}/echoes`, init: { ...init, body: "", maxBytes } });
    expect((cut.value as { text: string }).text).not.toContain(SECRET.slice(0, 3));
  }
  // The same for the error about a redirect whose host name contains the value.
  await client.request("lares/secrets/set", {
    name: "weather",
    value: "0123456789ABCDEF0123",
    hosts: [host],
    in: "header:x-key",
  });
  const { error } = await ask(AGENT, "get", { url: `${origin}/key`, init: { headers: { "x-key": token } } });
  expect(error).toMatchObject({ code: "LeakBlocked", facts: { where: "url" } });
  expect(JSON.stringify(error)).not.toContain("0123456789");
  const told = await client.request("lares/traces/query", { agent: AGENT, limit: 1000 });
  expect(JSON.stringify(told).toLowerCase()).not.toContain("0123456789abcdef");
  // If the request comes from an agent that may not use the secret, it is not sent either.
  received.length = 0;
  expect(await ask(OTHER, "through", { agent: AGENT, url: `${origin}/echo`, init })).toMatchObject({
    value: { error: { code: "PermissionDenied" } },
  });
  expect(received).toHaveLength(0);
  // Another agent's placeholder has no effect, and looks like any other token.
  expect(await ask(LOCAL, "get", { url: `${origin}/echo`, init })).toMatchObject({
    error: { code: "LeakBlocked" },
  });
  expect(received).toHaveLength(0);

  await client.request("lares/secrets/remove", { name: "weather" });
  await expect(client.request("lares/secrets/remove", { name: "weather" })).rejects.toMatchObject({
    data: { code: "NotFound" },
  });
});

test("a provider on the network gets its key in a header; secrets in the text are masked on the way", async () => {
  const question = {
    prompt: `My key is ghp_${"a1B2c3D4".repeat(4)}e5F6, and this is ${SECRET}.`,
    category: "lab",
  };
  expect(await ask(AGENT, "ask", { request: question })).toMatchObject({
    error: { facts: { class: "NoKey", model: "lab/small" } },
  });
  await client.request("lares/secrets/set", { name: "lab", value: SECRET, hosts: ["elsewhere.example"] });
  expect(await ask(AGENT, "ask", { request: question })).toMatchObject({
    error: { facts: { class: "NoKey" }, message: expect.stringContaining("elsewhere.example") as string },
  });
  await client.request("lares/secrets/set", { name: "lab", value: SECRET, hosts: [labHost] });
  received.length = 0;
  expect(await ask(AGENT, "ask", { request: question })).toMatchObject({
    value: {
      text: 'You said: "My key is [secret: github token], and this is [secret: stored secret]."',
      model: "lab/small",
      finish: "stop",
      usage: { inputTokens: 7, outputTokens: 5 },
    },
  });
  expect(received).toMatchObject([
    { url: "/v1/chat/completions", headers: { authorization: `Bearer ${SECRET}` } },
  ]);
  expect(await client.request("lares/models/list", { refresh: true })).toMatchObject({
    providers: expect.arrayContaining([expect.objectContaining({ id: "lab", state: "ready" })]) as object,
    models: expect.arrayContaining([expect.objectContaining({ id: "lab/large" })]) as object,
  });
  isRefusing = true;
  expect(await client.request("lares/models/test", { model: "lab/small" })).toMatchObject({
    ok: false,
    error: { class: "Unauthorized" },
  });
  isRefusing = false;
  // An agent may not reach the provider's address, although its manifest and the person's private hosts list it.
  expect(await ask(AGENT, "get", { url: `http://${labHost}/plain` })).toMatchObject({
    error: { code: "EgressDenied" },
  });
  await client.request("lares/secrets/remove", { name: "lab" });
});

test("requests reach only hosts in the manifest, contain no secrets, and are traced", async () => {
  expect(await ask(AGENT, "get", { url: `${origin}/plain`, init: { maxBytes: 100 } })).toMatchObject({
    value: { status: 200, ok: true, size: 100, truncated: true, text: "x".repeat(100) },
  });
  for (const [url, code] of [
    ["https://example.com/", "EgressDenied"],
    ["http://127.0.0.1:1/", "EgressDenied"],
    ["http://localhost/", "EgressDenied"],
    [`http://user:pass@${host}/`, "EgressDenied"],
    ["file:///etc/passwd", "EgressDenied"],
    [`${origin}/away`, "EgressDenied"],
  ] as const)
    expect([url, await ask(AGENT, "get", { url })]).toMatchObject([url, { error: { code } }]);
  expect(await ask(OTHER, "get", { url: `http://${labHost}/plain` })).toMatchObject({
    error: { code: "EgressDenied" },
  });
  expect(await ask(AGENT, "get", { url: `${origin}/binary` })).toMatchObject({
    error: { message: expect.stringContaining("not text") as string },
  });

  const before = received.length;
  const key = `ghp_${"a1B2c3D4".repeat(4)}e5F6`;
  for (const [where, init] of [
    ["header", { headers: { authorization: `Bearer ${key}` } }],
    ["body", { method: "POST", body: JSON.stringify({ note: key }) }],
  ] as const)
    expect(await ask(AGENT, "get", { url: `${origin}/plain`, init })).toMatchObject({
      error: { code: "LeakBlocked", facts: { where } },
    });
  expect(await ask(AGENT, "get", { url: `${origin}/plain?k=${key}` })).toMatchObject({
    error: { code: "LeakBlocked", facts: { where: "url" } },
  });
  expect(received).toHaveLength(before);

  const traces = await client.request<{ message: string; fields?: Record<string, unknown> }[]>(
    "lares/traces/query",
    { agent: AGENT, text: "/plain", limit: 100 },
  );
  expect(traces).toContainEqual(
    expect.objectContaining({
      message: `GET ${new URL(origin).host}/plain: 200`,
      fields: expect.objectContaining({
        received_bytes: expect.any(Number) as number,
        status: 200,
        host: new URL(origin).host,
      }) as object,
    }),
  );
});

test("no file of the session contains the secret, and only the user can read the encrypted one", async () => {
  const forms = [SECRET, encodeURIComponent(SECRET), Buffer.from(SECRET).toString("hex")];
  for (const folder of [bench.home, join(bench.base, "config"), bench.root])
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const bytes = await readFile(path);
      for (const form of forms) expect(bytes.includes(form), path).toBe(false);
    }
  expect((await stat(join(bench.base, "config", "lares", "secrets.key"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(bench.home, "user.sqlite"))).mode & 0o777).toBe(0o600);
});
