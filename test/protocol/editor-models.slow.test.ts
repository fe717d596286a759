/** The language models of an editor: a client that offers them answers `lares/models/generate`. */
import { noModels } from "../support/no-models.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Ask } from "../../kernel/src/base/vocabulary/ask.ts";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

const AGENT = "test.asker";
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    ask: async ({ prompt, schema }, ctx) => {
      try {
        if (schema) return { object: await ctx.ai.object({ prompt, schema }) };
        const { text, model, usage, finish } = await ctx.ai.generate(prompt);
        return { text, model, usage, finish };
      } catch (error) {
        return { code: error.code, facts: error.facts, message: error.message };
      }
    },
  },
});
`;
const capabilities = { experimental: { lares: { languageModels: true } } };

type Message = Parameters<Client["reply"]>[0];

interface Params {
  readonly model: string;
  readonly messages: readonly { role: string; parts: readonly { text: string }[] }[];
  readonly partialResultToken: string;
}
interface Outcome {
  readonly text?: string;
  readonly message?: string;
  readonly facts?: { readonly class?: string };
  readonly [field: string]: unknown;
}

let bench: Bench;
let editor: Client;
let environment: NodeJS.ProcessEnv;
let offered = [{ id: "gpt", context_tokens: 8000 }];
/** The editor's answer to a request; undefined leaves it open. */
let play: (params: Params, request: Message) => unknown;

const say = (client: Client, { partialResultToken: token }: Params, ...values: object[]): void => {
  for (const value of values) client.notify("$/progress", { token, value });
};
const ask = (prompt: string, more: object = {}): Promise<Outcome> =>
  tool<Outcome>(editor, AGENT, "ask", { prompt, ...more });

beforeAll(async () => {
  bench = await Bench.create({
    extensions: [
      {
        id: AGENT,
        program: PROGRAM,
        manifest: {
          tools: [{ name: "ask", description: "Asks", handler: "ask", parameters: { type: "object" } }],
          permissions: { use_models: [{ category: "chat" }] },
        },
      },
    ],
  });
  const config = join(bench.base, "config");
  await mkdir(config, { recursive: true });
  environment = {
    XDG_CONFIG_HOME: config,
    ...noModels,
  };
  editor = await bench.open({ capabilities, environment });
  editor.answer = (request) => {
    if (request.method === "lares/models/offered") return { models: offered };
    return request.method === "lares/models/generate" ? play(request.params as Params, request) : null;
  };
});
afterAll(() => bench[Symbol.asyncDispose]());
beforeEach(() => {
  play = () => {
    throw new Error("Nothing should be asked.");
  };
});

test("with nothing configured, the editor's models are found, and used once a person allows it", async () => {
  expect(await editor.request("lares/models/list")).toMatchObject({
    providers: [{ id: "editor", api: "editor", state: "ready", local: false }],
    models: [{ id: "editor/default" }, { id: "editor/gpt", context_tokens: 8000 }],
    routes: { default: "editor/default" },
  });
  const heard: Params[] = [];
  play = (params) => {
    heard.push(params);
    say(editor, params, { text: "Hello, " }, { text: "Ada." });
    return { finish: "stop", usage: { input_tokens: 7, output_tokens: 3 } };
  };
  const asking = ask("Who is it?");
  const question = await until("a question", async () => {
    const [first] = await editor.request<Ask[]>("lares/asks/list", { state: "Pending" });
    return first;
  });
  expect(question.reason).toContain("The editor decides where it sends what agents write");
  expect(heard).toEqual([]);
  await editor.request("lares/asks/answer", { id: question.id, digest: question.digest, allow: true });
  expect(await asking).toEqual({
    text: "Hello, Ada.",
    model: "editor/default",
    finish: "stop",
    usage: { inputTokens: 7, outputTokens: 3 },
  });
  expect(heard).toMatchObject([
    { model: "default", messages: [{ role: "user", parts: [{ type: "text", text: "Who is it?" }] }] },
  ]);
  expect(await editor.request("lares/usage", { group_by: "model" })).toMatchObject({
    groups: [{ key: "editor/default", requests: 1, input_tokens: 7, output_tokens: 3 }],
  });
});

test("an object is requested in words, and has to match", async () => {
  play = (params) => {
    expect(params.messages[0]).toMatchObject({ role: "system" });
    expect(params.messages[0]?.parts[0]?.text).toContain('"required":["city"]');
    say(editor, params, { text: '```json\n{"city":"Nice"}\n```' });
    return { finish: "stop" };
  };
  const schema = { type: "object", required: ["city"] };
  expect(await ask("Where?", { schema })).toEqual({ object: { city: "Nice" } });
});

test.each([
  [
    "a tool that was not offered",
    { tool_call: { call: "1", tool: "shell", arguments: {} } },
    "InvalidRequest",
  ],
  ["what has no form", { txt: "?" }, "Network"],
])("%s ends the attempt with a class", async (_name, value, failure) => {
  play = (params) => {
    say(editor, params, value);
    return undefined;
  };
  expect(await ask("hello")).toMatchObject({ code: "ModelError", facts: { class: failure } });
});

test.each([
  ["of a known class", { class: "Unauthorized", retryable: true }, "Unauthorized"],
  ["of a class that there is not", { class: "Root" }, "Network"],
])("an error %s reaches the agent", async (_name, data, failure) => {
  play = (_params, request) => {
    editor.reply(request, { error: { code: -33016, message: "No consent.", data } as never });
    return undefined;
  };
  expect(await ask("hello")).toMatchObject({
    facts: { class: failure },
    message: expect.stringContaining("No consent.") as string,
  });
});

test("text for another token, or after the end, is ignored", async () => {
  play = (params) => {
    say(editor, { ...params, partialResultToken: "lares-generate-other" }, { text: "stolen" });
    say(editor, params, { text: "mine" });
    return { finish: "stop" };
  };
  expect(await ask("hello")).toMatchObject({ text: "mine" });
});

test("a flood of deltas arrives whole and in order", async () => {
  const words = Array.from({ length: 20_000 }, (_, n) => `${n} `);
  play = (params) => {
    say(editor, params, ...words.map((text) => ({ text })));
    return { finish: "length" };
  };
  expect(await ask("hello")).toMatchObject({ text: words.join(""), finish: "length" });
});

test("a request that is cancelled is cancelled at the editor", async () => {
  const asked = Promise.withResolvers<Message>();
  play = (params, request) => {
    say(editor, params, { text: "so far" });
    asked.resolve(request);
    return undefined;
  };
  const id = "given up";
  const params = { agent: AGENT, name: "ask", arguments: { prompt: "hello" } };
  const answered = editor.answerTo(id, "the call", () =>
    editor.write(frame({ jsonrpc: "2.0", id, method: "lares/tools/call", params })),
  );
  const request = await asked.promise;
  editor.notify("$/cancelRequest", { id });
  await answered;
  await editor.notification<{ id: unknown }>("$/cancelRequest", (told) => told.id === request.id);
});

test("an editor without a model now is not found", async () => {
  offered = [];
  expect(await editor.request("lares/models/list")).toMatchObject({ providers: [], models: [] });
  expect(await ask("hello")).toMatchObject({ facts: { class: "NoModel" } });
  offered = [{ id: "gpt", context_tokens: 8000 }];
});

test("an untrusted client that offers models is never asked, and of two trusted ones the later one is", async () => {
  const never = (): never => {
    throw new Error("The wrong client was asked.");
  };
  const stranger = await bench.connect({ trusted: false, capabilities, environment });
  stranger.answer = never;
  const second = await bench.connect({ trusted: true, capabilities, environment });
  second.answer = ({ method, params }) => {
    if (method === "lares/models/offered") return { models: offered };
    if (method !== "lares/models/generate") return null;
    say(second, params as Params, { text: "from the second" });
    return { finish: "stop" };
  };
  // The front answers "initialize" before the kernel knows the client.
  for (const client of [stranger, second]) await client.request("lares/status");
  expect(await ask("hello")).toMatchObject({ text: "from the second" });
  // It fails before any text: the next attempt goes to the other client.
  second.answer = ({ method }) => {
    if (method === "lares/models/offered") return { models: offered };
    if (method === "lares/models/generate") second.process.kill("SIGKILL");
    return undefined;
  };
  play = (params) => {
    say(editor, params, { text: "from the first" });
    return { finish: "stop" };
  };
  expect(await ask("hello")).toMatchObject({ text: "from the first" });
});

function frame(message: object): string {
  const text = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}
