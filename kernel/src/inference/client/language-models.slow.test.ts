import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, onTestFinished, test } from "vitest";
import { neverAborted } from "../../base/abort.ts";
import { silentLog } from "../../base/log.ts";
import type { ModelEvent, ModelMessage, ModelRequest, ModelTool } from "../../base/vocabulary/model.ts";
import { systemClock } from "../../platform/clock.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { until } from "../../../../test/support/until.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import { instructModel } from "../testing/instruct-model.ts";
import { tinyLlama, tinyWords } from "../testing/tiny-llama.ts";
import { LanguageModelClient } from "./language-models.ts";

function opened(files: readonly string[] = []): LanguageModelClient {
  const packagesOf = new URL("../../../../test/models/llama/package.json", import.meta.url).href;
  const client = new LanguageModelClient({
    clock: systemClock,
    log: silentLog,
    packagesOf,
    files: () => files,
  });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

async function tinyFile(bytes = tinyLlama()): Promise<string> {
  const file = join(await temporaryFolder(), "tiny.gguf");
  await writeFile(file, bytes);
  return file;
}

const user = (text: string): ModelMessage => ({ role: "user", parts: [{ type: "text", text }] });

function asked(
  client: LanguageModelClient,
  file: string,
  more: Partial<ModelRequest> = {},
  signal = neverAborted,
): AsyncGenerator<ModelEvent, void> {
  return client.stream(
    {
      model: { files: [file], place: "models.providers.local.models.tiny.path" },
      contextTokens: null,
      request: { model: "local/tiny", messages: [user("Hello")], max_output_tokens: 40, ...more },
    },
    signal,
  );
}

async function collected(events: AsyncIterable<ModelEvent>): Promise<readonly ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

type Done = Extract<ModelEvent, { readonly type: "done" }>;

/** Returns the last event, after checking the order of all. */
async function done(events: AsyncIterable<ModelEvent>): Promise<Done> {
  const all = await collected(events);
  const last = all.at(-1);
  expect(all[0]).toEqual({ type: "sent" });
  expect(all.filter(({ type }) => ["sent", "done", "failed"].includes(type))).toHaveLength(2);
  if (last?.type !== "done") expect.unreachable(JSON.stringify(last));
  // What was shown early is what was answered.
  const shown = (type: "text" | "tool_call"): string =>
    all.map((event) => (event.type === type ? event.text : "")).join("");
  expect(shown("text")).toBe(last.parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
  if (last.finish === "tool_calls")
    expect(JSON.parse(shown("tool_call"))).toEqual(
      last.parts.flatMap((part) => (part.type === "tool_call" ? [part.arguments] : []))[0],
    );
  return last;
}

const tools: readonly ModelTool[] = [
  {
    name: "files_read",
    description: "Reads a file.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, maxLength: 16 },
        lines: { type: "integer", minimum: 1, maximum: 500 },
        mode: { enum: ["text", "bytes"] },
      },
      required: ["path"],
      additionalProperties: false,
    },
  },
  {
    name: "files_find",
    description: "Finds files.",
    parameters: {
      type: "object",
      properties: {
        where: { type: "array", items: { type: "string", maxLength: 6 }, minItems: 1, maxItems: 3 },
        limit: { type: ["integer", "null"], minimum: 0 },
        deep: { type: "boolean" },
      },
      required: ["where", "limit"],
      additionalProperties: false,
    },
  },
];
const validators = new Map(tools.map(({ name, parameters }) => [name, new Ajv2020().compile(parameters)]));

/** Returns how many of the answers are exactly one call that fits its tool's schema. */
async function validCalls(count: number, ask: (at: number) => AsyncIterable<ModelEvent>): Promise<number> {
  let valid = 0;
  for (let at = 0; at < count; at++) {
    const { parts, finish, usage } = await done(ask(at));
    const [call] = parts.filter((part) => part.type === "tool_call");
    expect(usage.output_tokens).toBeGreaterThan(0);
    if (finish === "tool_calls" && call !== undefined && validators.get(call.tool)?.(call.arguments) === true)
      valid++;
  }
  return valid;
}

test("a model with random weights writes twenty calls of twenty that fit their tools' schemas", async () => {
  const client = opened();
  const file = await tinyFile();
  expect(await validCalls(20, () => asked(client, file, { tools, max_output_tokens: 400 }))).toBe(20);
});

test("a model with random weights writes twenty objects of twenty that fit a schema", async () => {
  const client = opened();
  const file = await tinyFile();
  const schema = {
    type: "object",
    properties: {
      city: { type: "string", maxLength: 8 },
      people: { type: "integer", minimum: 0 },
      parts: { type: "array", items: { anyOf: [{ type: "boolean" }, { enum: ["a", 1] }] }, maxItems: 3 },
    },
    required: ["city", "parts"],
    additionalProperties: false,
  };
  const isValid = new Ajv2020().compile(schema);
  for (let at = 0; at < 20; at++) {
    const { parts, finish } = await done(asked(client, file, { schema, max_output_tokens: 400 }));
    const [text] = parts.map((part) => (part.type === "text" ? part.text : ""));
    expect([finish, isValid(JSON.parse(text ?? ""))]).toEqual(["stop", true]);
  }
});

test("a small model of the registry calls a tool twenty times of twenty, and answers in words and by a schema", async ({
  skip,
}) => {
  const found = await instructModel();
  if ("reason" in found) return skip(found.reason);
  const client = opened();
  const turn = (path: string, text: string): readonly ModelMessage[] => [
    user(`Read ${path}`),
    {
      role: "assistant",
      parts: [{ type: "tool_call", call: path, tool: "files_read", arguments: { path } }],
    },
    { role: "tool", parts: [{ type: "tool_result", call: path, text }] },
    { role: "assistant", parts: [{ type: "text", text }] },
  ];
  const before = [
    ...turn("notes.md", "Buy milk."),
    ...turn("todo.txt", "Call Ann."),
    ...turn("plan.md", "Go north."),
  ];
  const ask = (at: number): AsyncIterable<ModelEvent> =>
    asked(client, found.path, {
      tools: tools.slice(0, 1),
      messages: [...before, user(`Read page${at}.txt`)],
      max_output_tokens: 80,
    });
  expect(await validCalls(20, ask)).toBe(20);
  const { usage, parts } = await done(
    asked(client, found.path, {
      messages: [user("What is the capital of France?")],
      max_output_tokens: 24,
      temperature: 0,
    }),
  );
  expect(JSON.stringify(parts)).toContain("Paris");
  expect(usage.input_tokens + (usage.cache_read_tokens ?? 0)).toBeGreaterThan(10);
  // What a question shares with the one before it is not read again.
  await done(ask(21));
  const { usage: next } = await done(ask(22));
  expect(next.cache_read_tokens).toBeGreaterThan(10 * next.input_tokens);
});

test("crash: a host that is killed ends each answer once, and the next question has another", async () => {
  const [file, other] = [await tinyFile(), await tinyFile()];
  const client = opened([file, other]);
  const first: ModelEvent[] = [];
  const reading = (async () => {
    for await (const event of asked(client, other, { max_output_tokens: 2000 })) first.push(event);
  })();
  await until("the first answer begins", () => first.length > 3);
  const second: ModelEvent[] = [];
  for await (const event of asked(client, file, { max_output_tokens: 2000 })) {
    second.push(event);
    if (second.length === 3 && client.pid !== null) process.kill(client.pid, "SIGKILL");
  }
  await reading;
  for (const events of [first, second])
    expect(events.filter(({ type }) => type === "done" || type === "failed")).toHaveLength(1);
  expect(second.at(-1)).toMatchObject({ type: "failed", failure: { class: "Network" } });
  expect((await done(asked(client, file))).usage.output_tokens).toBe(40);
});

test("a cancelled answer ends at once, and the model is free for the next question", async () => {
  const client = opened();
  const file = await tinyFile();
  const abort = new AbortController();
  const events: ModelEvent[] = [];
  for await (const event of asked(client, file, { max_output_tokens: 2000 }, abort.signal)) {
    events.push(event);
    if (events.length === 5) abort.abort();
  }
  expect(events.at(-1)).toMatchObject({ type: "failed", failure: { class: "Cancelled" } });
  expect((await done(asked(client, file))).finish).toBe("length");
  await until("the host is done with both", () => client.openRuns === 0);
});

test("an answer that nobody reads waits, and arrives whole", async () => {
  const [file, other] = [await tinyFile(), await tinyFile()];
  const client = opened([file, other]);
  const events = asked(client, file, { max_output_tokens: 1000 });
  const all: ModelEvent[] = [];
  for (let at = 0; at < 3; at++) {
    const { value } = await events.next();
    if (value !== undefined) all.push(value);
  }
  // Another model answers meanwhile, in the same process.
  await done(asked(client, other));
  expect(client.openRuns).toBe(1);
  for await (const event of events) all.push(event);
  const last = all.at(-1);
  expect([last?.type, last?.type === "done" && last.usage.output_tokens]).toEqual(["done", 1000]);
  expect(all.length).toBeGreaterThan(bounds.windowEvents);
});

test("a request that is too long is told in the kernel's words, and the next one is answered", async () => {
  const client = opened();
  const file = await tinyFile(tinyLlama({ contextTokens: 512 }));
  const long = await collected(asked(client, file, { messages: [user("a long text ".repeat(100))] }));
  expect(long.at(-1)).toMatchObject({
    type: "failed",
    failure: {
      class: "ContextOverflow",
      message: expect.stringMatching(
        /too long for the model "local\/tiny": it has \d+ tokens, and 512 fit/,
      ) as string,
    },
  });
  expect((await done(asked(client, file, { max_output_tokens: 5000 }))).finish).toBe("length");
});

test("a GGUF file that llama.cpp refuses is named, and the next model is answered", async () => {
  const client = opened();
  const odd = await tinyFile(tinyLlama({ architecture: "nobodys" }));
  expect((await collected(asked(client, odd))).at(-1)).toMatchObject({
    type: "failed",
    failure: {
      class: "NoModel",
      message: expect.stringMatching(
        /is not a model that llama\.cpp can load: .*models\.providers\.local/,
      ) as string,
    },
  });
  await done(asked(client, await tinyFile()));
});

test("crash: a GGUF file for which native code ends the process is named, and the next model is answered", async () => {
  // llama.cpp looks for the word of a line's end, and does not expect that there is none.
  const value = tinyWords.map((word) => (word.startsWith("<0x") ? `[${word}]` : word));
  const file = await tinyFile(tinyLlama({ fields: { "tokenizer.ggml.tokens": { type: "texts", value } } }));
  const client = opened();
  expect((await collected(asked(client, file))).at(-1)).toMatchObject({
    type: "failed",
    failure: {
      class: "NoModel",
      message: expect.stringMatching(
        /ended by SIG\w+ while it loaded .*tiny\.gguf\. .*Replace it, or correct models\.providers/,
      ) as string,
    },
  });
  await done(asked(client, await tinyFile()));
});

test("more models than are kept loaded are answered one after the other", async () => {
  const files = await Promise.all(Array.from({ length: bounds.maxLanguageModels + 2 }, () => tinyFile()));
  const client = opened(files);
  const answers = await Promise.all([...files, ...files].map((file) => done(asked(client, file))));
  expect(answers.map(({ usage }) => usage.output_tokens)).toEqual(answers.map(() => 40));
});
