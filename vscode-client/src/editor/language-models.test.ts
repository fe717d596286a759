import { beforeEach, expect, test } from "vitest";
import type { GenerateParams, GeneratedPart } from "../protocol.ts";
import {
  LanguageModelError,
  LanguageModelTextPart,
  LanguageModelToolCallPart,
  lm,
} from "../testing/vscode.ts";
import { editorModels } from "./language-models.ts";

const params: GenerateParams = {
  model: "default",
  messages: [{ role: "user", parts: [{ type: "text", text: "hello" }] }],
  partialResultToken: "t",
};
const token = {} as never;
const sent: { messages: unknown; options: Record<string, unknown> }[] = [];

function model(id: string, stream: () => AsyncIterable<unknown>) {
  return {
    id,
    family: `${id}-family`,
    maxInputTokens: 1000,
    sendRequest: async (messages: unknown, options: Record<string, unknown>) => {
      sent.push({ messages, options });
      return { stream: stream() };
    },
  };
}
async function* says(...parts: unknown[]): AsyncGenerator {
  yield* parts;
}
async function* fails(error: Error): AsyncGenerator {
  yield new LanguageModelTextPart("half");
  throw error;
}

async function asked(
  more: Partial<GenerateParams> = {},
): Promise<{ heard: GeneratedPart[]; result: unknown }> {
  const heard: GeneratedPart[] = [];
  const result = await editorModels.generate({ ...params, ...more }, (part) => heard.push(part), token);
  return { heard, result };
}

beforeEach(() => {
  lm.models = [];
  sent.length = 0;
});

test("the model's text is passed on as it arrives; parts of other kinds are left out", async () => {
  lm.models = [
    model("one", () =>
      says(
        new LanguageModelTextPart("Hi "),
        { thinking: "hm" },
        new LanguageModelToolCallPart("1", "read", { path: "a" }),
      ),
    ),
  ];
  const tools = [{ name: "read", description: "Reads", parameters: { type: "object" } }];
  expect(await asked({ tools, max_output_tokens: 9, temperature: 0 })).toEqual({
    heard: [{ text: "Hi " }, { tool_call: { call: "1", tool: "read", arguments: { path: "a" } } }],
    result: { finish: "stop" },
  });
  expect(sent[0]?.options).toMatchObject({
    tools: [{ name: "read", inputSchema: { type: "object" } }],
    modelOptions: { max_tokens: 9, temperature: 0 },
  });
});

test("a conversation is converted to the editor's messages: calls, results, and instructions first", async () => {
  lm.models = [model("one", () => says(new LanguageModelTextPart("ok")))];
  await asked({
    messages: [
      { role: "system", parts: [{ type: "text", text: "Be brief." }] },
      { role: "assistant", parts: [{ type: "tool_call", call: "1", tool: "read", arguments: {} }] },
      { role: "user", parts: [{ type: "tool_result", call: "1", text: "found" }] },
    ],
  });
  expect(sent[0]?.messages).toMatchObject([
    { role: "user", content: [{ value: "Be brief." }] },
    { role: "assistant", content: [{ callId: "1", name: "read" }] },
    { role: "user", content: [{ callId: "1", content: [{ value: "found" }] }] },
  ]);
});

test.each([
  ["one", "one"],
  ["two-family", "two"],
  ["default", "one"],
])("%s is answered by %s", async (name, answered) => {
  lm.models = ["one", "two"].map((id) => model(id, () => says(new LanguageModelTextPart(id))));
  expect((await asked({ model: name })).heard).toEqual([{ text: answered }]);
});

test.each([
  [new LanguageModelError("NoPermissions", "no"), "Unauthorized"],
  [new LanguageModelError("Blocked", "quota"), "RateLimited"],
  [new LanguageModelError("NotFound", "gone"), "UnknownModel"],
  [new LanguageModelError("unknown", "?"), "Network"],
  [new Error("socket"), "Network"],
])("%o is a failure of the class %s", async (error, failure) => {
  lm.models = [model("one", () => fails(error))];
  await expect(asked()).rejects.toMatchObject({ class: failure });
});

test("without models, or without the named one, the error says what to do", async () => {
  await expect(asked()).rejects.toMatchObject({
    class: "NoModel",
    message: expect.stringContaining("Install") as string,
  });
  lm.models = [model("one", () => says())];
  await expect(asked({ model: "x" })).rejects.toMatchObject({
    class: "UnknownModel",
    message: 'This editor has no model "x". It has: one.',
  });
});

test("the current models are listed", async () => {
  expect(await editorModels.list()).toEqual({ models: [] });
  lm.models = [model("one", () => says())];
  expect(await editorModels.list()).toEqual({ models: [{ id: "one", context_tokens: 1000 }] });
});
