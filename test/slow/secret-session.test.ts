/**
 * A session in which secrets are set, used, echoed and misused: afterwards no file, log, message, command line or
 * environment holds a value in any encoding, but where the person put it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandLineOf, environmentOf, familyOf } from "../fault/support/processes.ts";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { lares } from "../support/command-line.ts";
import { encodingsIn, encodingsOf } from "../support/encodings.ts";
import { until } from "../support/until.ts";

const AGENT = "test.courier";
const executable = fileURLToPath(new URL("../../kernel/bin/lares.js", import.meta.url));
/** One for each way in. Characters that every encoding changes. */
const secrets = {
  /** From standard input of the command line: the key of a provider. */
  lab: 'lab-Ünits/+"&=~ 7d1f0a9c3b',
  /** From the client, by `lares/secrets/set`. */
  weather: "weather<>%?\\ 5e8b2c4d6f",
  /** From the environment. */
  outside: "outside-^`{|} 9a7c5e3f1b",
} as const;

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
    token: ({ name }, ctx) => attempt(() => ctx.credentials.get(name)),
    ask: ({ prompt }, ctx) => attempt(() => ctx.ai.generate({ prompt })),
    get: ({ url, init }, ctx) =>
      attempt(async () => {
        const answer = await ctx.fetch(url, init);
        const text = answer.text();
        const seen = { status: answer.status, headers: answer.headers, text };
        // Whatever an agent can do with a text.
        ctx.trace.info("got " + text, seen);
        await ctx.memory.knowledge.add("note", seen, { text });
        const path = "notes/" + Math.floor(Math.random() * 1e9) + ".md";
        await ctx.actions.propose([{ kind: "file.write", path, content: text, expected: null }], {
          title: "Keep what came",
          reason: "got " + text.slice(0, 100),
        });
        return seen;
      }),
  },
});
`;

const received: string[] = [];
/** Answers with the credentials that it was sent, in every encoding, or says them in an error. */
const answer: RequestListener = (request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
  request.on("end", () => {
    const sent = [request.headers.authorization, request.headers["x-key"], body].map(String).join(" ");
    received.push(sent);
    const values = Object.values(secrets).filter((value) => sent.includes(value));
    const echoes = values.flatMap((value) => [...encodingsOf(value).values()]);
    if (request.url?.endsWith("/models") === true)
      return void response.writeHead(401).end(JSON.stringify({ error: { message: `bad key ${sent}` } }));
    if (request.url?.endsWith("/chat/completions") === true)
      return void response
        .writeHead(401, { "x-echo": encodeURIComponent(sent) })
        .end(JSON.stringify({ error: { message: `Incorrect API key provided: ${values.join()}` } }));
    if (request.url === "/away")
      return void response
        .writeHead(302, { location: `http://127.0.0.1:1/${encodeURIComponent(values.join())}` })
        .end();
    if (request.url === "/hang") return;
    response.writeHead(200, { "x-echo": encodeURIComponent(sent) }).end(echoes.join("\n"));
  });
};
const server = createServer(answer);
/** The provider's own: its address is open to that provider only. */
const lab = createServer(answer);

let bench: Bench;
let client: Client;
let host = "";
let labHost = "";
let environment: NodeJS.ProcessEnv;
/** What the client's pipe carried, and what the command line printed. */
const said: Buffer[] = [];

async function cli(args: readonly string[], input: string | null = null): Promise<number | null> {
  if (input === null) {
    const { code, stdout, stderr } = await lares(bench, args, environment);
    said.push(Buffer.from(stdout + stderr));
    return code;
  }
  const child = spawn(process.execPath, [executable, ...args], {
    cwd: bench.root,
    env: { ...process.env, LARES_HOME: bench.home, NO_COLOR: "1", ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => said.push(piece));
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  return code;
}

beforeAll(async () => {
  for (const each of [server, lab]) {
    each.listen(0, "127.0.0.1");
    await once(each, "listening");
  }
  [host, labHost] = [server, lab].map((each) => `127.0.0.1:${(each.address() as AddressInfo).port}`) as [
    string,
    string,
  ];
  bench = await Bench.create({
    extensions: [
      {
        id: AGENT,
        program: PROGRAM,
        manifest: {
          tools: ["token", "ask", "get"].map((name) => ({
            name,
            description: name,
            handler: name,
            parameters: { type: "object" },
          })),
          permissions: {
            use_models: [{ category: "chat" }],
            use_credentials: ["weather", "outside"],
            propose_actions: ["file.write"],
          },
          resources: { allowed_hosts: [host] },
        },
      },
    ],
  });
  const config = join(bench.base, "config", "lares");
  await mkdir(config, { recursive: true });
  await writeFile(
    join(config, "lares.yaml"),
    JSON.stringify({
      version: 1,
      models: {
        providers: {
          lab: { api: "openai-compatible", base_url: `http://${labHost}/v1`, key: { secret: "lab" } },
        },
        routes: { default: "lab/small" },
      },
      egress: { private_hosts: [host] },
    }),
  );
  environment = {
    XDG_CONFIG_HOME: join(bench.base, "config"),
    LARES_LOG: "debug",
    LARES_SECRET_OUTSIDE: secrets.outside,
  };
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  for (const each of [server, lab]) {
    each.closeAllConnections();
    each.close();
  }
});

const call = (name: string, args: object): Promise<{ value?: unknown; error?: { code: string } }> =>
  tool(client, AGENT, name, args);
const findings = (what: string, bytes: Buffer, except: readonly string[] = []): readonly string[] =>
  Object.entries(secrets).flatMap(([name, value]) =>
    except.includes(name) ? [] : encodingsIn(bytes, value).map((form) => `${what} has ${name} (${form})`),
  );

test.skipIf(process.platform !== "linux")(
  "a whole session with secrets leaves none of them anywhere",
  { timeout: 240_000 },
  async () => {
    expect(await cli(["secrets", "set", "lab", "--host", labHost], `${secrets.lab}\n`)).toBe(0);
    client = await bench.open({ environment });
    client.process.stdout.on("data", (piece: Buffer) => said.push(piece));
    client.process.stderr.on("data", (piece: Buffer) => said.push(piece));
    await client.request("lares/secrets/set", { name: "weather", value: secrets.weather, hosts: [host] });
    await client.request("lares/traces/follow", {});

    // Used where they may be, echoed by the server, and said in errors.
    const wanted = ["weather", "outside"] as const;
    for (const name of wanted) {
      if (name === "outside")
        await client.request("lares/secrets/set", { name, value: "unused value", hosts: [host] });
      const { value: token } = (await call("token", { name })) as { value: string };
      const init = { headers: { authorization: `Bearer ${token}` } };
      const before = received.length;
      expect(await call("get", { url: `http://${host}/echo`, init })).toMatchObject({
        value: { status: 200 },
      });
      expect(received.slice(before).join()).toContain(secrets[name]);
      expect(await call("get", { url: `http://${host}/away`, init })).toMatchObject({
        error: { code: "LeakBlocked" },
      });
      // Where it may not stand.
      await call("get", { url: `http://${host}/?key=${token}`, init: { method: "POST", body: token } });
    }
    // An agent that knows a value all the same does not get it out.
    expect(
      await call("get", { url: `http://${host}/`, init: { method: "POST", body: secrets.weather } }),
    ).toMatchObject({
      error: { code: "LeakBlocked" },
    });
    expect(await call("ask", { prompt: "hello" })).toMatchObject({ error: { code: "ModelError" } });
    expect(received.join("\n")).toContain(secrets.lab);
    await client.request("lares/models/test", { model: "lab/small" });
    await client.request("lares/models/list", { refresh: true });
    await client.request("lares/secrets/list");
    await client.request("lares/usage", {});
    await client.request("lares/traces/query", { limit: 1000 });
    await client.request("lares/actions/list", {});

    // While a request hangs, and when the egress host dies with it.
    const { value: token } = (await call("token", { name: "weather" })) as { value: string };
    const before = received.length;
    const hanging = call("get", {
      url: `http://${host}/hang`,
      init: { headers: { "x-key": token, authorization: token } },
    });
    await until("the request to hang", () => received.length > before);
    const { pid } = await bench.status(client);
    const family = familyOf(pid);
    const egress = family.find((member) => commandLineOf(member).includes("egress/host/host-process"));
    expect(egress).toBeDefined();
    const front = client.process.pid ?? 0;
    for (const member of [...family, front]) {
      const command = commandLineOf(member);
      expect(findings(`the command line ${command}`, Buffer.from(command, "latin1"))).toEqual([]);
      // The person put this one into the environment of the front and of the kernel; no child gets it from them.
      const given = member === pid || member === front ? ["outside"] : [];
      const variables = Buffer.from(environmentOf(member), "latin1");
      expect(findings(`the environment of ${command}`, variables, given)).toEqual([]);
    }
    process.kill(egress ?? 0, "SIGSEGV");
    expect(await hanging).toMatchObject({ error: { code: "NetworkError" } });

    // At the command line, also where a person writes a value where none belongs.
    for (const args of [
      ["secrets", "list", "--json"],
      ["secrets", "set", "lab", secrets.lab, "--host", host],
      ["secrets", "set", secrets.lab, "--host", host],
      ["secrets", "set", "lab", "--host", secrets.lab],
      ["models"],
      ["models", "test", "lab/small"],
      ["usage", "--json"],
      ["traces", "--json"],
      ["doctor"],
      ["memory", "export", AGENT, join(bench.base, "export.lares")],
    ])
      await cli(args);
    expect(existsSync(join(bench.base, "export.lares"))).toBe(true);
    await client.request("lares/secrets/remove", { name: "weather" });
    await client.shutdown();
    await until("the kernel to end", () => familyOf(pid).length === 0);

    const messages = Buffer.concat(said);
    expect(messages.length).toBeGreaterThan(1000);
    expect(findings("a message", messages)).toEqual([]);
    let files = 0;
    for (const entry of await readdir(bench.base, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      files++;
      const path = join(entry.parentPath, entry.name);
      expect(findings(path, await readFile(path))).toEqual([]);
    }
    expect(files).toBeGreaterThan(20);
  },
);

test("the scan finds a value in each encoding", () => {
  for (const value of Object.values(secrets))
    for (const [name, form] of encodingsOf(value))
      expect([name, encodingsIn(Buffer.from(`a${form}b`), value)]).toEqual([
        name,
        expect.arrayContaining([name]),
      ]);
});
