/**
 * Questions that calls wait for, against a real kernel: a model without a configuration, and one without a known price.
 */
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Ask } from "../../kernel/src/base/vocabulary/ask.ts";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { noModels } from "../support/no-models.ts";
import { until } from "../support/until.ts";

const AGENT = "test.asker";
const OTHER = "test.other";
const CALLER = "test.caller";
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    ask: async ({ prompt }, ctx) => {
      try {
        return { text: (await ctx.ai.generate(prompt)).text };
      } catch (error) {
        return { code: error.code, facts: error.facts, message: error.message };
      }
    },
  },
});
`;
const extension = (id: string) => ({
  id,
  program: PROGRAM,
  manifest: {
    tools: [{ name: "ask", description: "Asks", handler: "ask", parameters: { type: "object" } }],
    permissions: { use_models: [{ category: "chat" }] },
  },
});

/** Has the other agent ask. */
const caller = {
  id: CALLER,
  program: `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: { relay: (args, ctx) => ctx.tools.call("${OTHER}/ask", args) },
});
`,
  manifest: {
    tools: [{ name: "relay", description: "Relays", handler: "relay", parameters: { type: "object" } }],
    permissions: { call_tools: [`${OTHER}/*`], use_models: [{ category: "chat" }] },
  },
};

interface Outcome {
  readonly text?: string;
  readonly code?: string;
  readonly facts?: { readonly class?: string };
  readonly message?: string;
}

/** A provider on the network, reachable only through the proxy. */
const lab: RequestListener = (request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = (more: object): string =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "x", ...more })}\n\n`;
    response.write(chunk({ choices: [{ index: 0, delta: { content: "ready" } }] }));
    response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
    response.end("data: [DONE]\n\n");
  });
};
const proxied: string[] = [];
/** Answers as the provider; everything else is unreachable, whatever network this machine has. */
const proxy = createServer((request, response) => {
  proxied.push(request.url ?? "");
  if (URL.parse(request.url ?? "")?.hostname === "lab.internal") lab(request, response);
  else response.writeHead(502).end();
}).on("connect", (request, socket) => {
  proxied.push(request.url ?? "");
  socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
});

async function openBench(models: object): Promise<Bench> {
  const bench = await Bench.create({ extensions: [extension(AGENT), extension(OTHER), caller] });
  const path = join(bench.base, "config", "lares", "lares.yaml");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(
    path,
    JSON.stringify({
      version: 1,
      models,
      egress: {
        proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
        private_hosts: ["lab.internal"],
      },
    }),
  );
  return bench;
}

const environment = (bench: Bench) => ({
  XDG_CONFIG_HOME: join(bench.base, "config"),
  ...noModels,
  ANTHROPIC_API_KEY: "sk-ant-of-this-test-alone",
});

const pending = (client: Client): Promise<Ask[]> => client.request("lares/asks/list", { state: "Pending" });
const theQuestion = (client: Client): Promise<Ask> =>
  until("a question", async () => {
    const [ask, ...more] = await pending(client);
    expect(more).toEqual([]);
    return ask;
  });
const answer = (client: Client, { id, digest }: Ask, more: object): Promise<Ask> =>
  client.request("lares/asks/answer", { id, digest, ...more });

beforeAll(async () => {
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
});
afterAll(() => void proxy.close());

describe("a model that was found by a key in the environment", () => {
  let bench: Bench;
  let client: Client;
  beforeAll(async () => {
    bench = await openBench({});
    client = await bench.open({ environment: environment(bench) });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  test("is listed, and the person is asked before anything leaves the machine", async () => {
    expect(await client.request("lares/models/list")).toMatchObject({
      providers: [{ id: "anthropic", state: "unknown", local: false }],
      routes: { default: "anthropic/claude-sonnet-5" },
    });
    const asking = tool<Outcome>(client, AGENT, "ask", { prompt: "hello" });
    const ask = await theQuestion(client);
    expect(ask).toMatchObject({
      agent: AGENT,
      kind: "model",
      title:
        'May agents in this workspace use "anthropic/claude-sonnet-5", found by the key in ANTHROPIC_API_KEY?',
      facts: { host: "api.anthropic.com" },
      scopes: ["always", "once"],
    });
    expect(JSON.stringify(ask)).not.toContain("sk-ant-of-this-test");
    expect(client.notifications<Ask>("lares/asks/changed")).toEqual([ask]);
    expect(proxied).toEqual([]);
    expect(await answer(client, ask, { allow: true })).toMatchObject({ state: "Allowed" });
    // The proxy of this machine refuses the connection.
    expect(await asking).toMatchObject({ code: "ModelError", facts: { class: "Network" } });
    expect(proxied).toContain("api.anthropic.com:443");
  });

  test("causes no further question in this workspace until the answer is revoked", async () => {
    expect(await tool<Outcome>(client, OTHER, "ask", { prompt: "hello" })).toMatchObject({
      facts: { class: "Network" },
    });
    const { items } = await client.request<{ items: { id: string; title: string; rules: unknown[] }[] }>(
      "lares/decisions/list",
    );
    expect(items).toMatchObject([
      {
        title:
          'Allow the language models that were found: "anthropic, found by the key in ANTHROPIC_API_KEY" for any agent',
        rules: [],
      },
    ]);
    await client.request("lares/decisions/revoke", { id: items[0]?.id });

    // A client without views sees which answer is remembered.
    const plain = await bench.connect({
      trusted: true,
      approvals: "showMessageRequest",
      environment: environment(bench),
    });
    const shown: unknown[] = [];
    plain.answer = ({ method, params }) => {
      if (method !== "window/showMessageRequest") return null;
      return shown.push(params) === 1 ? { title: "Allow once" } : null;
    };
    expect(await tool<Outcome>(client, OTHER, "ask", { prompt: "hello" })).toMatchObject({
      facts: { class: "Network" },
    });
    expect(shown).toMatchObject([
      { actions: [{ title: "Allow always" }, { title: "Allow once" }, { title: "Deny" }] },
    ]);
    const asking = tool<Outcome>(client, OTHER, "ask", { prompt: "hello" });
    await answer(client, await theQuestion(client), { allow: false, remember: "once" });
    expect(await asking).toMatchObject({ code: "ModelError", facts: { class: "NoModel" } });
  });
});

describe("a model whose price is not known, under a budget in dollars", () => {
  let bench: Bench;
  let client: Client;
  beforeAll(async () => {
    bench = await openBench({
      providers: { lab: { api: "openai-compatible", base_url: "http://lab.internal/v1" } },
      routes: { default: "lab/x" },
      budgets: { per_day_usd: 1 },
    });
    client = await bench.open({ environment: environment(bench) });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  test("answers once it is allowed, and a one-time permission leads to a new question", async () => {
    for (const _ of [1, 2]) {
      const asking = tool<Outcome>(client, AGENT, "ask", { prompt: "hello" });
      const ask = await theQuestion(client);
      expect(ask).toMatchObject({ kind: "budget", facts: { model: "lab/x" }, scopes: ["once", "always"] });
      await answer(client, ask, { allow: true });
      expect(await asking).toEqual({ text: "ready" });
    }
  });

  test("a question names the agents whose calls led to it, in its message too", async () => {
    const plain = await bench.connect({
      trusted: true,
      approvals: "showMessageRequest",
      environment: environment(bench),
    });
    const shown: string[] = [];
    plain.answer = ({ method, params }) => {
      if (method === "window/showMessageRequest") shown.push((params as { message: string }).message);
      return null;
    };
    const asking = tool<Outcome>(client, CALLER, "relay", { prompt: "hello" });
    const ask = await theQuestion(client);
    expect(ask).toMatchObject({
      agent: OTHER,
      on_behalf_of: [{ kind: "agent", id: CALLER }, { kind: "person" }],
    });
    await until("the message", () => shown.length > 0);
    expect(shown[0]).toContain(`Requested by ${CALLER}, on behalf of a person.`);
    await answer(client, ask, { allow: true });
    expect(await asking).toEqual({ text: "ready" });
    await plain[Symbol.asyncDispose]();
  });

  test("a question is answered once, as it was shown, and stays readable", async () => {
    const asking = tool<Outcome>(client, AGENT, "ask", { prompt: "hello" });
    const ask = await theQuestion(client);
    await expect(
      client.request("lares/asks/answer", { id: ask.id, digest: `sha256:${"0".repeat(64)}`, allow: true }),
    ).rejects.toMatchObject({ code: -33005 });
    await answer(client, ask, { allow: false });
    expect(await asking).toMatchObject({ code: "BudgetExceeded" });
    await expect(answer(client, ask, { allow: true })).rejects.toMatchObject({
      data: { code: "IllegalTransition", state: "Denied" },
    });
    expect(await client.request<Ask[]>("lares/asks/list", { state: "Denied" })).toMatchObject([
      { id: ask.id },
    ]);
  });

  test("an agent that was denied cannot ask again", async () => {
    expect(await tool<Outcome>(client, AGENT, "ask", { prompt: "hello" })).toMatchObject({
      code: "BudgetExceeded",
    });
    expect(await pending(client)).toEqual([]);
  });

  test("a call that its client cancels withdraws its question", async () => {
    const id = "given up";
    const params = { agent: OTHER, name: "ask", arguments: { prompt: "hello" } };
    const answered = client.answerTo(id, "the call", () =>
      client.write(frame({ jsonrpc: "2.0", id, method: "lares/tools/call", params })),
    );
    const ask = await theQuestion(client);
    client.notify("$/cancelRequest", { id });
    await answered;
    await until("it is withdrawn", async () => (await pending(client)).length === 0);
    expect(client.notifications<Ask>("lares/asks/changed").at(-1)).toMatchObject({
      id: ask.id,
      state: "Expired",
    });
  });

  test("a client without views is asked by a message, with the kernel's text", async () => {
    const plain = await bench.connect({
      trusted: true,
      approvals: "showMessageRequest",
      environment: environment(bench),
    });
    const shown: unknown[] = [];
    plain.answer = ({ method, params }) => {
      if (method !== "window/showMessageRequest") return null;
      shown.push(params);
      return { title: "Allow always" };
    };
    expect(await tool<Outcome>(client, OTHER, "ask", { prompt: "hello" })).toEqual({ text: "ready" });
    expect(shown).toMatchObject([
      {
        message: expect.stringContaining('May test.other use "lab/x", whose price is not known?') as string,
        actions: [{ title: "Allow" }, { title: "Allow always" }, { title: "Deny" }],
      },
    ]);
    expect(await tool<Outcome>(client, OTHER, "ask", { prompt: "hello" })).toEqual({ text: "ready" });
    expect(shown).toHaveLength(1);
  });

  test("an untrusted client neither sees nor answers", async () => {
    const stranger = await bench.connect({ trusted: false, environment: environment(bench) });
    await expect(stranger.request("lares/asks/list")).rejects.toMatchObject({ data: { code: "Untrusted" } });
  });
});

function frame(message: object): string {
  const text = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}
