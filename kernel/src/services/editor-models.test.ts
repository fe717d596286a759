import { expect, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { LaresError } from "../base/errors.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { ModelEvent, ModelRequest } from "../base/vocabulary/model.ts";
import { type EditorModel, EditorModels, type EditorRequest } from "./editor-models.ts";

const request: ModelRequest = {
  model: "editor/default",
  messages: [{ role: "user", parts: [{ type: "text", text: "hello" }] }],
  tools: [{ name: "read", description: "Reads", parameters: { type: "object" } }],
};

async function eventsOf(
  generate: EditorModel["generate"],
  given: ModelRequest = request,
  signal = neverAborted,
): Promise<ModelEvent[]> {
  const models = new EditorModels(new ManualClock());
  models.add({ generate, list: async () => [] });
  const events: ModelEvent[] = [];
  for await (const event of models.stream("default", given, signal)) events.push(event);
  return events;
}

test("text and calls are passed on as they arrive, and in full at the end, with an estimate of the tokens", async () => {
  const events = await eventsOf(async (_request, told) => {
    told({ text: "I " });
    told({ text: "read." });
    told({ tool_call: { call: "1", tool: "read", arguments: { path: "a" } } });
    return { finish: "stop" };
  });
  expect(events).toMatchObject([
    { type: "sent" },
    { type: "text", text: "I " },
    { type: "text", text: "read." },
    { type: "tool_call", call: "1", tool: "read", text: '{"path":"a"}' },
    {
      type: "done",
      finish: "tool_calls",
      parts: [
        { type: "text", text: "I read." },
        { type: "tool_call", arguments: { path: "a" } },
      ],
      usage: { output_tokens: 6 },
    },
  ]);
});

test.each([
  [0, 25],
  [24, 25],
  [40, 40],
])(
  "a client that reports %i tokens for a hundred characters is counted with %i",
  async (reported, counted) => {
    const events = await eventsOf(async (_request, told) => {
      told({ text: "word ".repeat(20) });
      return { finish: "stop", usage: { input_tokens: 7, output_tokens: reported } };
    });
    expect(events.at(-1)).toMatchObject({ usage: { input_tokens: 7, output_tokens: counted } });
  },
);

test("text before a failure is kept, and text after it is ignored", async () => {
  let say: (part: { readonly text: string }) => void = () => undefined;
  const events = await eventsOf(async (_request, told) => {
    say = told;
    told({ text: "half" });
    throw new LaresError("ModelError", "Quota is used up.", { class: "RateLimited" });
  });
  say({ text: "more" });
  expect(events).toEqual([
    { type: "sent" },
    { type: "text", text: "half" },
    {
      type: "failed",
      failure: {
        class: "RateLimited",
        message: "The editor's model did not answer: Quota is used up.",
      },
    },
  ]);
});

test.each([
  ["an empty answer", async () => ({ finish: "stop" as const }), "EmptyAnswer"],
  ["an error of no class", () => Promise.reject(new Error("gone")), "Network"],
  [
    "an endless answer",
    async (_request: EditorRequest, told: (part: { text: string }) => void) => {
      for (let n = 0; n < 20; n++) told({ text: "x".repeat(1_000_000) });
      return { finish: "stop" as const };
    },
    "InvalidRequest",
  ],
  [
    "a call of a tool that was not offered",
    async (_request: EditorRequest, told: Parameters<EditorModel["generate"]>[1]) => {
      told({ tool_call: { call: "1", tool: "shell", arguments: {} } });
      return { finish: "stop" as const };
    },
    "InvalidRequest",
  ],
])("%s ends as a failure of a class", async (_name, generate, failure) => {
  expect((await eventsOf(generate)).at(-1)).toMatchObject({ type: "failed", failure: { class: failure } });
});

test("an editor that never answers is abandoned and notified when the request is cancelled", async () => {
  const aborter = new AbortController();
  const told = Promise.withResolvers<void>();
  const events = eventsOf(
    (_request, _told, signal) => {
      signal.addEventListener("abort", () => told.resolve());
      setImmediate(() => aborter.abort());
      return new Promise(() => undefined);
    },
    request,
    aborter.signal,
  );
  expect((await events).at(-1)).toMatchObject({ failure: { class: "Cancelled" } });
  await told.promise;
});

test("the last editor that offers its models is asked; without one there is a sentence", async () => {
  const models = new EditorModels(new ManualClock());
  const of = (name: string): EditorModel => ({
    list: async () => [{ id: name }],
    generate: async (_request, told) => {
      told({ text: name });
      return { finish: "stop" };
    },
  });
  const asked = async (): Promise<ModelEvent | undefined> => {
    const events: ModelEvent[] = [];
    for await (const event of models.stream("x", request, neverAborted)) events.push(event);
    return events.at(-1);
  };
  const first = models.add(of("first"));
  const second = models.add(of("second"));
  expect(await models.list()).toEqual([{ id: "second" }]);
  expect(await asked()).toMatchObject({ parts: [{ text: "second" }] });
  second[Symbol.dispose]();
  second[Symbol.dispose]();
  expect(await asked()).toMatchObject({ parts: [{ text: "first" }] });
  first[Symbol.dispose]();
  expect(await models.list()).toEqual([]);
  expect(await asked()).toMatchObject({ failure: { class: "NoModel" } });
});

test("an editor gets text, calls and results, and neither thoughts nor pictures; a schema as words", async () => {
  let got: EditorRequest | undefined;
  await eventsOf(
    async (asked, told) => {
      got = asked;
      told({ text: "{}" });
      return { finish: "stop" };
    },
    {
      ...request,
      tool_choice: "none",
      schema: { type: "object" },
      messages: [
        { role: "user", parts: [{ type: "image", media_type: "image/png", base64: "" }] },
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "hm" },
            { type: "tool_call", call: "1", tool: "read", arguments: {} },
          ],
        },
        { role: "tool", parts: [{ type: "tool_result", call: "1", text: "found" }] },
      ],
    },
  );
  expect(got?.tools).toBeUndefined();
  expect(got?.messages).toMatchObject([
    { role: "system", parts: [{ text: expect.stringContaining('{"type":"object"}') as string }] },
    { role: "user", parts: [] },
    { role: "assistant", parts: [{ type: "tool_call", tool: "read" }] },
    { role: "user", parts: [{ type: "tool_result", call: "1", text: "found" }] },
  ]);
});

test("an editor is waited for only as long as it keeps sending parts", async () => {
  const clock = new ManualClock();
  const models = new EditorModels(clock);
  let say: (part: { readonly text: string }) => void = () => undefined;
  let isEnded = false;
  models.add({
    generate: (_request, told, signal) => {
      say = told;
      signal.addEventListener("abort", () => (isEnded = true));
      return new Promise(() => undefined);
    },
    list: async () => [],
  });
  const events = models.stream("default", request, neverAborted);
  expect((await events.next()).value).toEqual({ type: "sent" });
  for (const text of ["still ", "here"]) {
    const next = events.next();
    clock.advance(4 * 60_000);
    say({ text });
    expect((await next).value).toEqual({ type: "text", text });
  }
  const last = events.next();
  clock.advance(5 * 60_000);
  expect((await last).value).toMatchObject({ type: "failed", failure: { class: "Timeout" } });
  expect((await events.next()).done).toBe(true);
  expect(isEnded).toBe(true);
  expect(clock.pendingTimers).toBe(0);
});
