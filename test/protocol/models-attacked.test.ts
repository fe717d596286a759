/** What a language model's server, and an agent that asks it, try to get out of the kernel. */
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";

const AGENT = "test.asker";
const KEY = "Sk-0123456789abcdef/XYZ+end";
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    ask: async ({ request }, ctx) => {
      try {
        if (request.schema) return { object: await ctx.ai.object(request) };
        return { text: (await ctx.ai.generate(request)).text };
      } catch (error) {
        return { code: error.code, facts: error.facts, message: error.message };
      }
    },
  },
});
`;

interface Outcome {
  readonly text?: string;
  readonly code?: string;
  readonly message?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** What the server says, by the question. */
const answers: Record<string, (key: string) => readonly string[]> = {
  key: (key) => ["I was sent ", key.slice(0, 9), key.slice(9), `, ${Buffer.from(key).toString("base64")}`],
  breaks: () => ["```json", "\n".repeat(200_000), "x"],
};
const received: string[] = [];
const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
  request.on("end", () => {
    received.push(body);
    const question = /"content":"(\w+)/.exec(body)?.[1] ?? "";
    const { authorization = "" } = request.headers;
    if (question === "refused")
      return void response
        .writeHead(400)
        .end(
          JSON.stringify({ error: { message: `Bad header: ${Buffer.from(authorization).toString("hex")}` } }),
        );
    response.writeHead(200, { "content-type": "text/event-stream" });
    const say = (delta: object, finish: string | null = null): void =>
      void response.write(
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      );
    for (const content of answers[question]?.(authorization.replace("Bearer ", "")) ?? ["ready"])
      say({ content });
    say({}, "stop");
    response.end("data: [DONE]\n\n");
  });
});

let bench: Bench;
let client: Client;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  bench = await Bench.create({
    extensions: [
      {
        id: AGENT,
        program: PROGRAM,
        manifest: {
          tools: [{ name: "ask", description: "Asks", handler: "ask", parameters: { type: "object" } }],
          permissions: { use_models: [{ category: "chat" }, { category: "editor" }] },
        },
      },
    ],
  });
  const document = join(bench.base, "config", "lares", "lares.yaml");
  await mkdir(dirname(document), { recursive: true });
  await writeFile(
    document,
    JSON.stringify({
      version: 1,
      models: {
        providers: {
          lab: { api: "openai-compatible", base_url: `http://${host}/v1`, key: { secret: "lab" } },
          editor: { api: "editor" },
        },
        routes: { default: "lab/m", editor: "editor/default" },
      },
    }),
  );
  client = await bench.open({
    capabilities: { experimental: { lares: { languageModels: true } } },
    environment: { XDG_CONFIG_HOME: join(bench.base, "config") },
  });
  await client.request("lares/secrets/set", { name: "lab", value: KEY, hosts: [host] });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  server.close();
});

const ask = (request: object): Promise<Outcome> => tool<Outcome>(client, AGENT, "ask", { request });

test("a server that repeats its key in an answer or an error does not tell it the agent", async () => {
  expect(await ask({ prompt: "key" })).toEqual({
    text: expect.stringMatching(/^I was sent \[secret: lab\], \[secret: lab\]/) as string,
  });
  const refused = await ask({ prompt: "refused" });
  expect(refused).toMatchObject({ code: "ModelError", facts: { class: "InvalidRequest" } });
  expect(refused.message).toContain("[secret: lab]");
  expect(refused.message).not.toContain(Buffer.from(KEY).toString("hex"));
});

test("an answer of line breaks does not stop the kernel", async () => {
  expect(await ask({ prompt: "breaks", schema: { type: "object" } })).toMatchObject({
    code: "ModelError",
    facts: { class: "EmptyAnswer" },
  });
});

test("a secret in the schema of an answer is masked on the way", async () => {
  const secret = `ghp_${"a1B2c3D4".repeat(4)}e5F6`;
  received.length = 0;
  await ask({
    prompt: "hello",
    schema: { type: "object", description: secret, properties: { [secret]: {} } },
  });
  expect(received).toHaveLength(1);
  expect(received[0]).toContain("[secret: github token]");
  expect(received[0]).not.toContain(secret);
});

test("a secret in a prompt for an editor's models is masked on the way", async () => {
  const secret = `ghp_${"a1B2c3D4".repeat(4)}e5F6`;
  let heard = "";
  client.answer = ({ method, params }) => {
    if (method === "lares/models/offered") return { models: [{ id: "gpt" }] };
    if (method !== "lares/models/generate") return null;
    const { messages, partialResultToken: token } = params as {
      messages: object;
      partialResultToken: string;
    };
    heard = JSON.stringify(messages);
    client.notify("$/progress", { token, value: { text: "Seen." } });
    return { finish: "stop" };
  };
  expect(await ask({ prompt: `My key is ${secret}, and ${KEY}.`, category: "editor" })).toEqual({
    text: "Seen.",
  });
  expect(heard).toContain("My key is [secret: github token], and [secret: stored secret].");
});
