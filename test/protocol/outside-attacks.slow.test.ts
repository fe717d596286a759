/** Attacks with placeholders of secrets, and two kernels that share a budget, against servers on loopback. */
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";

const OWNER = "test.owner";
const THIEF = "test.thief";
const VALUE = "value/of+the=secret 1f2e3d4c";
const BUDGET = 20_000;
const tokensOfAnswer = 1_000;
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
const attempt = async (work) => {
  try { return { value: await work() }; } catch (error) { return { error: error.code }; }
};
export default defineAgent({
  tools: {
    token: ({ name }, ctx) => attempt(() => ctx.credentials.get(name)),
    get: ({ url, init }, ctx) => attempt(async () => (await ctx.fetch(url, init)).text()),
    ask: (_args, ctx) => attempt(async () => (await ctx.ai.generate({ prompt: "x", maxOutputTokens: 1000 })).text),
  },
});
`;
const toolsNamed = ["token", "get", "ask"].map((name) => ({
  name,
  description: name,
  handler: name,
  parameters: { type: "object" },
}));

/** What each server got: its path, the headers that may hold a secret, and the body. */
const received = { bound: [] as string[], other: [] as string[] };
let answers = 0;
const seenBy =
  (seen: string[]): RequestListener =>
  (request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
    request.on("end", () => {
      const { authorization = "", "x-key": key = "" } = request.headers;
      seen.push([decodeURIComponent(request.url ?? ""), authorization, String(key), body].join("\n"));
      if (request.url === "/away")
        return void response.writeHead(302, { location: `http://${hosts.other}/landed` }).end();
      response.end("ok");
    });
  };
const servers: Record<"bound" | "other" | "lab", Server> = {
  bound: createServer(seenBy(received.bound)),
  other: createServer(seenBy(received.other)),
  lab: createServer((request, response) => {
    request.resume().on("end", () => {
      answers++;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const chunk = (delta: object, more: object = {}): void =>
        void response.write(
          `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`,
        );
      chunk({ content: "spent" });
      const usage = { prompt_tokens: 500, completion_tokens: 500, total_tokens: tokensOfAnswer };
      response.write(
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage })}\n\n`,
      );
      response.end("data: [DONE]\n\n");
    });
  }),
};
const hosts = { bound: "", other: "", lab: "" };
let environment: NodeJS.ProcessEnv;
let benches: Bench[] = [];
let clients: Client[] = [];

beforeAll(async () => {
  for (const name of ["bound", "other", "lab"] as const) {
    servers[name].listen(0, "127.0.0.1");
    await once(servers[name], "listening");
    hosts[name] = `127.0.0.1:${(servers[name].address() as AddressInfo).port}`;
  }
  const reaching = { allowed_hosts: [hosts.bound, hosts.other] };
  const extension = (id: string, permissions: object) => ({
    id,
    program: PROGRAM,
    manifest: { tools: toolsNamed, resources: reaching, permissions },
  });
  const models = { use_models: [{ category: "chat" }] };
  const extensions = [
    extension(OWNER, { use_credentials: ["weather"], ...models }),
    extension(THIEF, { use_credentials: ["other"] }),
  ];
  benches = [await Bench.create({ extensions }), await Bench.create({ extensions })];
  const [first] = benches;
  if (first === undefined) return;
  const config = join(first.base, "config", "lares");
  await mkdir(config, { recursive: true });
  await writeFile(
    join(config, "lares.yaml"),
    JSON.stringify({
      version: 1,
      models: {
        providers: { lab: { api: "openai-compatible", base_url: `http://${hosts.lab}/v1` } },
        routes: { default: "lab/m" },
        budgets: { per_day_tokens: BUDGET },
      },
      egress: { private_hosts: Object.values(hosts) },
    }),
  );
  // The two kernels serve two workspaces of one person.
  environment = { LARES_HOME: first.home, XDG_CONFIG_HOME: join(first.base, "config") };
  clients = await Promise.all(benches.map((bench) => bench.open({ environment })));
  await clients[0]?.request("lares/secrets/set", { name: "weather", value: VALUE, hosts: [hosts.bound] });
});
afterAll(async () => {
  for (const bench of benches) await bench[Symbol.asyncDispose]();
  for (const server of Object.values(servers)) server.close();
});

const call = <Value>(agent: string, name: string, args: object): Promise<Value> => {
  const [client] = clients;
  if (client === undefined) throw new Error("There is no client.");
  return tool<Value>(client, agent, name, args);
};
const tokenOf = async (agent: string, name = "weather"): Promise<string> =>
  (await call<{ value?: string; error?: string }>(agent, "token", { name })).value ?? "";
const get = (agent: string, url: string, init: object): Promise<{ error?: string }> =>
  call(agent, "get", { url, init });
const bearer = (token: string): object => ({ headers: { authorization: `Bearer ${token}` } });

test("a placeholder becomes its value in its place, for the hosts of the secret alone", async () => {
  const token = await tokenOf(OWNER);
  expect(token).not.toContain(VALUE);
  expect(await get(OWNER, `http://${hosts.bound}/`, bearer(token))).toEqual({ value: "ok" });
  expect(received.bound.at(-1)).toContain(`Bearer ${VALUE}`);
  const before = received.bound.length;
  await get(OWNER, `http://${hosts.other}/`, bearer(token));
  await get(OWNER, `http://${hosts.other}/?key=${token}`, { method: "POST", body: token });
  await get(OWNER, `http://${hosts.bound}/?key=${token}`, {
    method: "POST",
    body: token,
    headers: { "x-key": token },
  });
  for (const seen of [...received.other, ...received.bound.slice(before)]) {
    expect(seen).not.toContain(VALUE);
    expect(seen).not.toContain(encodeURIComponent(VALUE));
  }
});

test("a redirect to an allowed host takes no secret along", async () => {
  const before = received.other.length;
  await get(OWNER, `http://${hosts.bound}/away`, bearer(await tokenOf(OWNER)));
  expect(received.bound.at(-1)).toContain(`Bearer ${VALUE}`);
  for (const seen of received.other.slice(before)) expect(seen).toBe("/landed\n\n\n");
});

test("a placeholder is worth nothing to another agent, and none is given without the permission", async () => {
  expect(await call(THIEF, "token", { name: "weather" })).toEqual({ error: "PermissionDenied" });
  const before = received.bound.length;
  const stolen = await get(THIEF, `http://${hosts.bound}/stolen`, bearer(await tokenOf(OWNER)));
  expect(stolen).toEqual({ error: "LeakBlocked" });
  expect(received.bound.slice(before)).toEqual([]);
});

test("two kernels of one person that ask at once do not spend more than the budget together", async () => {
  const asked = clients.flatMap((client) =>
    Array.from({ length: 20 }, () => tool<{ value?: string; error?: string }>(client, OWNER, "ask", {})),
  );
  const ended = await Promise.all(asked);
  expect(ended.filter(({ value }) => value === "spent").length).toBe(answers);
  expect(answers).toBeGreaterThan(0);
  expect(answers * tokensOfAnswer).toBeLessThanOrEqual(BUDGET);
  for (const { value, error } of ended) if (value === undefined) expect(error).toBe("BudgetExceeded");
});
