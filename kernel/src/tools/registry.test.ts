import { afterAll, expect, test, vi } from "vitest";
import { LaresError } from "../base/errors.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { ArgumentChecker } from "./argument-checker.ts";
import {
  type Lineage,
  type Principal,
  maxCallDepth,
  maxChainAgents,
  ownAccord,
  personAt,
} from "../base/vocabulary/principal.ts";
import {
  type InvokeOptions,
  openToolCalls,
  openToolCallsPerAgent,
  type ToolPorts,
  ToolRegistry,
} from "./registry.ts";

const owner = {
  id: "a",
  tools: [
    {
      name: "t",
      description: "d",
      handler: "h",
      parameters: { type: "object", properties: { n: { type: "integer" } } },
    },
  ],
};

const person: Principal = personAt();
const agent = (id: string, lineage: Lineage = ownAccord): Principal => ({ kind: "agent", id, lineage });

const clock = new ManualClock();
const checker = new ArgumentChecker();
afterAll(() => checker[Symbol.asyncDispose]());

function open(
  invoke: (args: unknown, caller: Principal, options: InvokeOptions) => Promise<unknown>,
  keyed: ToolPorts["keyed"] = { run: () => Promise.reject(new Error("No call of this test has a key.")) },
): ToolRegistry {
  const ports: ToolPorts = {
    clock,
    owners: () => [owner],
    invoke: (_agent, _handler, args, caller, options) => invoke(args, caller, options),
    keyed,
  };
  return new ToolRegistry(ports, checker);
}

test("a call with arguments that fit reaches the agent, any other does not", async () => {
  const handed: unknown[] = [];
  const tools = open(async (args, caller) => {
    handed.push([args, caller]);
    return { status: "success", value: 1 };
  });
  expect(await tools.call("a", "t", { n: 1 }, person)).toEqual({ status: "success", value: 1 });
  expect(await tools.call("a", "t", undefined, agent("b"))).toEqual({ status: "success", value: 1 });
  await expect(tools.call("a", "t", { n: "x" }, person)).rejects.toMatchObject({ code: "ToolError" });
  await expect(tools.call("a", "u", {}, person)).rejects.toMatchObject({
    code: "NotFound",
    message: 'There is no tool "a/u"; did you mean "a/t"?',
  });
  await expect(tools.call("a", "other", {}, person)).rejects.toMatchObject({
    code: "NotFound",
    message: 'There is no tool "a/other".',
  });
  expect(handed).toEqual([
    [{ n: 1 }, person],
    [{}, agent("b")],
  ]);
});

test("one agent has a share of the open calls, the rest is for others, and ended calls do not count", async () => {
  const end = Promise.withResolvers<unknown>();
  const tools = open(() => end.promise);
  const openCalls = (caller: Principal, count: number): Promise<unknown>[] =>
    Array.from({ length: count }, () => tools.call("a", "t", {}, caller).catch((error: unknown) => error));
  const all = openCalls(agent("evil"), openToolCallsPerAgent);
  await expect(tools.call("a", "t", {}, agent("evil"))).rejects.toMatchObject({
    code: "LimitExceeded",
    facts: { limit: "open_tool_calls_per_agent", value: openToolCallsPerAgent },
  });
  all.push(...openCalls(person, openToolCalls - openToolCallsPerAgent));
  await expect(tools.call("a", "t", {}, agent("late"))).rejects.toMatchObject({
    facts: { limit: "open_tool_calls" },
  });
  end.resolve({ status: "success", value: null });
  expect((await Promise.all(all)).filter((answer) => answer instanceof LaresError)).toEqual([]);
  expect(await tools.call("a", "t", {}, agent("evil"))).toEqual({ status: "success", value: null });
});

test.each<[unknown, object]>([
  [{ status: "success" }, { status: "success", value: null }],
  [{ status: "error" }, { status: "error", message: "The tool failed.", recoverable: false }],
  [
    { status: "needs_approval", action: { id: "x" }, reason: "r" },
    { status: "needs_approval", action: "x", reason: "r" },
  ],
])("%j is decoded", async (answer, result) => {
  const tools = open(async () => answer);
  expect(await tools.call("a", "t", {}, person)).toEqual(result);
});

test.each([null, 1, {}, { status: "needs_approval" }])("%j is not a tool result", async (answer) => {
  const tools = open(async () => answer);
  await expect(tools.call("a", "t", {}, person)).rejects.toMatchObject({ code: "AgentError" });
});

test("an agent in a chain of calls is not called again in it; calling itself is not a circle", async () => {
  const tools = open(async () => ({ status: "success" }));
  const by = (id: string, ...onBehalfOf: string[]): Principal =>
    agent(id, {
      onBehalfOf: onBehalfOf.map((one) => ({ kind: "agent", id: one })),
      depth: onBehalfOf.length,
    });
  await expect(tools.call("a", "t", {}, by("b", "a"))).rejects.toMatchObject({
    code: "LimitExceeded",
    facts: { limit: "tool_call_cycle" },
  });
  await expect(tools.call("a", "t", {}, by("c", "b", "a"))).rejects.toMatchObject({ code: "LimitExceeded" });
  expect(await tools.call("a", "t", {}, by("a", "a"))).toEqual({ status: "success", value: null });
});

test("a mind's process and a schedule count as their agent, in circles and in the number of open calls", async () => {
  const end = Promise.withResolvers<unknown>();
  const tools = open(() => end.promise);
  const process = (of: string, ...onBehalfOf: string[]): Principal => ({
    kind: "process",
    process: "worker",
    agent: of,
    conversation: "c",
    lineage: { onBehalfOf: onBehalfOf.map((id) => ({ kind: "agent", id })), depth: onBehalfOf.length },
  });
  const schedule: Principal = { kind: "schedule", agent: "b", schedule: "daily", lineage: ownAccord };
  await expect(tools.call("a", "t", {}, process("b", "a"))).rejects.toMatchObject({
    facts: { limit: "tool_call_cycle" },
  });
  const calls = Array.from({ length: openToolCallsPerAgent }, (_, at) =>
    tools.call("a", "t", {}, at % 2 === 0 ? process("b") : agent("b")),
  );
  await expect(tools.call("a", "t", {}, schedule)).rejects.toMatchObject({
    facts: { limit: "open_tool_calls_per_agent" },
  });
  end.resolve({ status: "success" });
  await Promise.all(calls);
});

test(`at most ${maxCallDepth} nested calls, including those of an agent to itself`, async () => {
  const tools = open(async () => ({ status: "success" }));
  const at = (depth: number): Principal => agent("a", { onBehalfOf: [{ kind: "agent", id: "a" }], depth });
  await expect(tools.call("a", "t", {}, at(maxCallDepth))).rejects.toMatchObject({
    code: "LimitExceeded",
    facts: { limit: "tool_call_depth", value: maxCallDepth },
  });
  expect(await tools.call("a", "t", {}, at(maxCallDepth - 1))).toEqual({ status: "success", value: null });
});

test(`at most ${maxChainAgents} agents take part in a chain of calls, the first and the last included`, async () => {
  const tools = open(async () => ({ status: "success" }));
  const after = (others: number): Principal =>
    agent("b", {
      onBehalfOf: Array.from({ length: others }, (_, at) => ({ kind: "agent", id: `other${at}` })),
      depth: 1,
    });
  expect(await tools.call("a", "t", {}, after(maxChainAgents - 2))).toEqual({
    status: "success",
    value: null,
  });
  await expect(tools.call("a", "t", {}, after(maxChainAgents - 1))).rejects.toMatchObject({
    code: "LimitExceeded",
    facts: { limit: "tool_call_depth", value: maxChainAgents },
  });
});

test("race: a cancelled call rejects at once, and stays open until its handler has ended", async () => {
  const end = Promise.withResolvers<unknown>();
  const signals: AbortSignal[] = [];
  const tools = open((_args, _caller, { signal }) => {
    signals.push(signal);
    return end.promise;
  });
  const aborter = new AbortController();
  const calls = Array.from({ length: openToolCallsPerAgent }, () =>
    tools.call("a", "t", {}, agent("b"), { signal: aborter.signal }).catch((error: unknown) => error),
  );
  await expect.poll(() => signals.length, { timeout: 20_000 }).toBe(openToolCallsPerAgent);
  const reason = new Error("enough");
  aborter.abort(reason);
  expect(new Set(await Promise.all(calls))).toEqual(new Set([reason]));
  expect(signals.every((signal) => signal.aborted)).toBe(true);
  const another = () => tools.call("a", "t", {}, agent("b"));
  await expect(another()).rejects.toMatchObject({ facts: { limit: "open_tool_calls_per_agent" } });
  end.resolve({ status: "success" });
  await end.promise;
  await expect.poll(another, { timeout: 20_000 }).toEqual({ status: "success", value: null });
});

test("race: a call that is cancelled before its arguments were checked never reaches its agent", async () => {
  const invoked: unknown[] = [];
  const tools = open(async (args) => {
    invoked.push(args);
    return { status: "success" };
  });
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(tools.call("a", "t", {}, person, { signal })).rejects.toThrow("enough");
  expect(await tools.call("a", "t", { n: 1 }, person)).toEqual({ status: "success", value: null });
  expect(invoked).toEqual([{ n: 1 }]);
});

test("a call that is not answered before its deadline rejects with whose it was, and its handler is told", async () => {
  const handed: InvokeOptions[] = [];
  const tools = open((_args, _caller, options) => {
    handed.push(options);
    return new Promise(() => {});
  });
  const error = {
    code: "DeadlineExceeded",
    message: "The deadline of 300 ms that b set for a/t has passed.",
    facts: { deadline_ms: 300, set_by: "b", call: "a/t" },
  };
  const late = expect(tools.call("a", "t", {}, agent("b"), { deadlineMs: 300 })).rejects.toMatchObject(error);
  await clock.advanceAsync(299);
  // A wall clock that is set moves no deadline.
  clock.setNow(clock.now() + 24 * 3_600_000);
  await clock.advanceAsync(0);
  expect(handed[0]?.signal.aborted).toBe(false);
  await clock.advanceAsync(1);
  await late;
  expect(handed[0]?.signal.reason).toMatchObject(error);
  expect(handed[0]?.deadline).toMatchObject({ allowedMs: 300, setBy: "b", call: "a/t" });
  // Later calls on its behalf are not started.
  const deadline = handed[0]?.deadline;
  const begun = handed.length;
  await expect(
    tools.call("a", "t", {}, agent("c"), deadline === undefined ? {} : { deadline, deadlineMs: 9_000 }),
  ).rejects.toMatchObject(error);
  expect(handed).toHaveLength(begun);
});

test("an answer after the deadline is too late, even if no timer has ended the call yet", async () => {
  const tools = open(async () => {
    const now = vi.spyOn(clock, "monotonic");
    now.mockReturnValue(clock.monotonic() + 300);
    return { status: "success" };
  });
  try {
    await expect(tools.call("a", "t", {}, agent("b"), { deadlineMs: 300 })).rejects.toMatchObject({
      code: "DeadlineExceeded",
      facts: { deadline_ms: 300, set_by: "b", call: "a/t" },
    });
  } finally {
    vi.restoreAllMocks();
  }
});

test("a call gets the shorter of its own deadline and what is left of its caller's", async () => {
  const handed: InvokeOptions[] = [];
  const tools = open((_args, _caller, options) => {
    handed.push(options);
    return Promise.resolve({ status: "success", value: 1 });
  });
  const atMs = clock.monotonic() + 1_000;
  const deadline = { atMs, allowedMs: 5_000, setBy: "b", call: "c/t" };
  await tools.call("a", "t", {}, agent("c"), { deadline, deadlineMs: 2_000 });
  await tools.call("a", "t", {}, agent("c"), { deadline, deadlineMs: 400 });
  await tools.call("a", "t", {}, agent("c"), { deadline });
  await tools.call("a", "t", {}, agent("c"));
  expect(handed.map((options) => options.deadline)).toEqual([
    deadline,
    { atMs: clock.monotonic() + 400, allowedMs: 400, setBy: "c", call: "a/t" },
    deadline,
    undefined,
  ]);
  // Answered calls leave nothing behind.
  await clock.advanceAsync(10_000);
  expect(handed.every(({ signal }) => !signal.aborted)).toBe(true);
});
