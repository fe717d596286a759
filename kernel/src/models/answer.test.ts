import { expect, test } from "vitest";
import type { ModelEvent, ModelFailureClass, ModelRequest } from "../base/vocabulary/model.ts";
import { answer, type AnswerEvent, type AnswerPorts } from "./answer.ts";
import { dialects } from "./dialect.ts";

const usage = { input_tokens: 3, output_tokens: 2 };
const text = (value: string): ModelEvent => ({ type: "text", text: value });
const sent: ModelEvent = { type: "sent" };
const done: ModelEvent = { type: "done", parts: [{ type: "text", text: "hi" }], finish: "stop", usage };
const failed = (name: ModelFailureClass, retryAfterMs?: number): ModelEvent => ({
  type: "failed",
  failure: {
    class: name,
    message: name,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
  },
});

/** Answers each attempt with the next script, and records the requests. */
function bed(...scripts: readonly (readonly ModelEvent[])[]) {
  const asked: ModelRequest[] = [];
  const waits: number[] = [];
  const money: string[] = [];
  const ports: AnswerPorts = {
    async *stream(request) {
      asked.push(request);
      yield* scripts[asked.length - 1] ?? [];
    },
    describe: () => ({ dialect: dialects.anthropic, maxOutputTokens: 1000, mayHideReasoning: true }),
    reserve: async (_, { outputTokens }) => {
      money.push(`reserve ${outputTokens}`);
      return {
        settle: async ({ output_tokens: tokens }) => {
          money.push(`settle ${tokens}`);
          return { microUsd: tokens, recorded: Promise.resolve() };
        },
        release: async () => void money.push("release"),
      };
    },
    wait: async (ms) => void waits.push(ms),
    random: () => 0,
    settlesStopped: true,
    monotonic: () => 0,
  };
  return { ports, asked, waits, money };
}

async function run(
  { ports }: { readonly ports: AnswerPorts },
  models: readonly [string, ...string[]] = ["a/one"],
  signal = new AbortController().signal,
  messages: ModelRequest["messages"] = [],
): Promise<readonly AnswerEvent[]> {
  const events: AnswerEvent[] = [];
  for await (const event of answer({ messages }, { models }, ports, signal)) events.push(event);
  return events;
}

test("an answer is passed on, and its cost is settled", async () => {
  const here = bed([sent, text("h"), text("i"), done]);
  expect((await run(here)).map(({ type }) => type)).toEqual(["attempt", "text", "text", "done"]);
  expect(here.money).toEqual(["reserve 1000", "settle 2"]);
});

test.each(["RateLimited", "Overloaded", "Network", "Timeout"] as const)(
  "%s before the first delta is retried, and each attempt is counted",
  async (name) => {
    const here = bed([sent, failed(name)], [sent, failed(name)], [sent, done]);
    const events = await run(here);
    expect(events.filter(({ type }) => type === "attempt")).toMatchObject([
      { attempt: 1 },
      { attempt: 2 },
      { attempt: 3 },
    ]);
    expect(events.at(-1)?.type).toBe("done");
    expect(here.waits).toEqual([250, 500]);
  },
);

test.each([
  "ContextOverflow",
  "Unauthorized",
  "InvalidRequest",
  "Filtered",
  "UnknownModel",
  "NoKey",
  "Cancelled",
] as const)("%s ends the answer at once, for every model of the chain", async (name) => {
  const here = bed([sent, failed(name)], [sent, done]);
  expect((await run(here, ["a/one", "b/two"])).at(-1)).toMatchObject({
    type: "failed",
    failure: { class: name },
  });
  expect(here.asked).toHaveLength(1);
});

test("after three attempts the next model is asked, and after the last one the answer fails", async () => {
  const no = [sent, failed("Overloaded")];
  const here = bed(no, no, no, no, no, no);
  const events = await run(here, ["a/one", "b/two"]);
  expect(here.asked.map(({ model }) => model)).toEqual([
    ...Array(3).fill("a/one"),
    ...Array(3).fill("b/two"),
  ]);
  expect(events.at(-1)).toMatchObject({ type: "failed", model: "b/two", isPartial: false });
});

test("a request that is refused with its pictures is made once more without them, and no further", async () => {
  const messages: ModelRequest["messages"] = [
    { role: "user", parts: [{ type: "image", media_type: "image/png", base64: "AAAA" }] },
  ];
  const refused = [sent, failed("InvalidRequest")];
  const here = bed(refused, [sent, done]);
  const events = await run(here, ["a/one"], undefined, messages);
  expect(events.map(({ type }) => type)).toEqual(["attempt", "attempt_failed", "attempt", "done"]);
  expect(here.asked.map((request) => JSON.stringify(request).includes("AAAA"))).toEqual([true, false]);
  expect(here.asked[1]?.messages[0]).toMatchObject({
    parts: [{ text: "[picture, image/png, 3 bytes: this model takes no pictures]" }],
  });
  // The refused one cost nothing.
  expect(here.money).toEqual(["reserve 1000", "settle 0", "reserve 1000", "settle 2"]);

  const twice = bed(refused, refused, [sent, done]);
  expect((await run(twice, ["a/one"], undefined, messages)).at(-1)).toMatchObject({
    type: "failed",
    failure: { class: "InvalidRequest" },
  });
  expect(twice.asked).toHaveLength(2);
});

test("after the first delta there is no further attempt", async () => {
  const here = bed([sent, text("h"), failed("Network")], [sent, done]);
  expect((await run(here, ["a/one", "b/two"])).at(-1)).toMatchObject({ type: "failed", isPartial: true });
  expect(here.asked).toHaveLength(1);
});

test("a stream without a final event is a broken connection", async () => {
  const here = bed([sent, text("h")]);
  expect((await run(here)).at(-1)).toMatchObject({ failure: { class: "Network" }, isPartial: true });
});

test("a provider's retry delay is respected, unless it is too long", async () => {
  const short = bed([sent, failed("RateLimited", 2_000)], [sent, done]);
  await run(short);
  expect(short.waits).toEqual([2_250]);
  const long = bed([sent, failed("RateLimited", 3_600_000)], [sent, done]);
  const events = await run(long, ["a/one", "b/two"]);
  expect(long.asked.map(({ model }) => model)).toEqual(["a/one", "b/two"]);
  expect(events.at(-1)).toMatchObject({ type: "done", model: "b/two" });
});

test.each([
  "RateLimited",
  "Overloaded",
  "Unauthorized",
  "InvalidRequest",
  "ContextOverflow",
  "UnknownModel",
] as const)(
  "a request that is refused with %s is counted and costs nothing; broken off, it counts in full",
  async (name) => {
    const refused = bed([sent, failed(name)]);
    await run(refused, ["a/one"]);
    expect(refused.money.slice(0, 2)).toEqual(["reserve 1000", "settle 0"]);
    const partial = bed([sent, text("h"), failed(name)]);
    await run(partial);
    expect(partial.money).toEqual(["reserve 1000"]);
  },
);

test("an unsent request costs nothing; one that may have been sent counts until it is settled", async () => {
  const unsent = bed([failed("Unauthorized")]);
  await run(unsent);
  expect(unsent.money).toEqual(["reserve 1000", "release"]);
  const lost = bed([sent, text("h"), failed("Network")]);
  await run(lost);
  expect(lost.money).toEqual(["reserve 1000"]);
});

test("a request that is cancelled while it waits is not sent again", async () => {
  const here = bed([sent, failed("Overloaded")], [sent, done]);
  const controller = new AbortController();
  const ports = { ...here.ports, wait: async () => controller.abort() };
  expect((await run({ ports }, ["a/one"], controller.signal)).at(-1)).toMatchObject({
    failure: { class: "Cancelled" },
  });
  expect(here.asked).toHaveLength(1);
});

test.each([Number.MAX_VALUE, Number.POSITIVE_INFINITY, Number.NaN, -5, 1.5])(
  "usage of %s tokens is counted as far as it can be true",
  async (said) => {
    const lie = { ...done, usage: { input_tokens: said, output_tokens: said, cache_read_tokens: said } };
    const last = (await run(bed([sent, lie]))).at(-1);
    const counts = last?.type === "done" ? Object.values(last.usage) : [];
    expect(counts).toHaveLength(3);
    for (const count of counts) expect(Number.isInteger(count) && count >= 0 && count <= 1e9).toBe(true);
  },
);

test.each<[readonly ModelEvent[], number]>([
  // At most one token for each word's first letter and each two further ones.
  [[sent, text("Hello"), text(" you")], 5],
  [[sent, { type: "reasoning", text: "Hm" }], 2],
  // Never more than was reserved.
  [[sent, text("1".repeat(5_000))], 1000],
])("an answer that its caller stopped costs what it had streamed", async (pieces, most) => {
  const here = bed();
  const controller = new AbortController();
  const ports: AnswerPorts = {
    ...here.ports,
    async *stream() {
      yield* pieces;
      controller.abort();
      yield failed("Cancelled");
    },
  };
  expect((await run({ ports }, ["a/one"], controller.signal)).at(-1)).toMatchObject({
    failure: { class: "Cancelled" },
    isPartial: true,
  });
  expect(here.money).toHaveLength(2);
  const settled = Number(here.money[1]?.replace("settle ", ""));
  expect(settled).toBeGreaterThan(0);
  expect(settled).toBeLessThanOrEqual(most);
});

test.each([
  ["before its first piece", [300, 0, 0], true, 300],
  ["between pieces", [0, 400, 0], true, 400],
  ["before it was stopped", [0, 0, 500], true, 500],
  ["for longer than its answer may be", [9_000, 0, 0], true, 1_000],
  ["as pieces that stream are silent", [100, 100, 100], true, 0],
  ["and shows all that it reasons", [300, 400, 500], false, 0],
])(
  "an answer that its caller stopped also costs what a model that was silent %s may have reasoned",
  async (_when, silences, mayHideReasoning, hidden) => {
    const here = bed();
    const controller = new AbortController();
    let now = 1_000;
    const ports: AnswerPorts = {
      ...here.ports,
      describe: () => ({ dialect: dialects.anthropic, maxOutputTokens: 1000, mayHideReasoning }),
      monotonic: () => now,
      async *stream() {
        yield sent;
        for (const [at, silence] of silences.entries()) {
          now += silence;
          if (at < 2) yield text("a");
        }
        controller.abort();
        yield failed("Cancelled");
      },
    };
    await run({ ports }, ["a/one"], controller.signal);
    const settled = Number(here.money[1]?.replace("settle ", ""));
    expect(settled).toBeGreaterThanOrEqual(Math.min(1_000, hidden + 1));
    expect(settled).toBeLessThanOrEqual(Math.min(1_000, hidden + 2));
  },
);

test("an answer that a program stopped counts in full: its model may have computed more than it showed", async () => {
  const here = bed();
  const controller = new AbortController();
  const ports: AnswerPorts = {
    ...here.ports,
    settlesStopped: false,
    async *stream() {
      yield sent;
      yield text("Hello");
      controller.abort();
      yield failed("Cancelled");
    },
  };
  await run({ ports }, ["a/one"], controller.signal);
  expect(here.money).toEqual(["reserve 1000"]);
});

test("an answer that its caller stopped before its first piece counts in full", async () => {
  const here = bed();
  const controller = new AbortController();
  const ports: AnswerPorts = {
    ...here.ports,
    async *stream() {
      yield sent;
      controller.abort();
      yield failed("Cancelled");
    },
  };
  await run({ ports }, ["a/one"], controller.signal);
  expect(here.money).toEqual(["reserve 1000"]);
});

test("a reader that stops early closes the stream and keeps the reservation", async () => {
  let isClosed = false;
  const here = bed();
  const ports: AnswerPorts = {
    ...here.ports,
    async *stream() {
      try {
        yield sent;
        yield text("h");
        yield text("i");
      } finally {
        isClosed = true;
      }
    },
  };
  for await (const event of answer(
    { messages: [] },
    { models: ["a/one"] },
    ports,
    new AbortController().signal,
  ))
    if (event.type === "text") break;
  expect(isClosed).toBe(true);
  expect(here.money).toEqual(["reserve 1000"]);
});

test("tools of an answer have the names they were offered under", async () => {
  const here = bed([
    sent,
    { type: "tool_call", call: "1", tool: "files_read", text: "{}" },
    {
      type: "done",
      parts: [{ type: "tool_call", call: "1", tool: "files_read", arguments: {} }],
      finish: "tool_calls",
      usage,
    },
  ]);
  const tools = [{ name: "files/read", description: "", parameters: { type: "object" } }];
  const events: AnswerEvent[] = [];
  const never = new AbortController().signal;
  for await (const event of answer({ messages: [], tools }, { models: ["a/one"] }, here.ports, never))
    events.push(event);
  expect(events).toMatchObject([
    { type: "attempt" },
    { type: "tool_call", tool: "files/read" },
    { type: "done", parts: [{ tool: "files/read" }] },
  ]);
  expect(here.asked[0]?.tools?.[0]?.name).toBe("files_read");
});

test("an answer is passed on before its cost is counted; the stream ends once it is, and fails if that fails", async () => {
  const here = bed([sent, done]);
  const counted = Promise.withResolvers<void>();
  const ports: AnswerPorts = {
    ...here.ports,
    reserve: async () => ({
      settle: async () => ({ microUsd: 7, recorded: counted.promise }),
      release: async () => undefined,
    }),
  };
  const events = answer({ messages: [] }, { models: ["a/one"] }, ports, new AbortController().signal);
  let last: AnswerEvent | undefined;
  while (last?.type !== "done") last = (await events.next()).value ?? expect.unreachable();
  expect(last).toMatchObject({ microUsd: 7 });
  const end = events.next();
  counted.reject(new Error("The disk is full."));
  await expect(end).rejects.toThrow("The disk is full.");
});
