import { afterAll, expect, test } from "vitest";
import { LaresError } from "../base/errors.ts";
import { ArgumentChecker } from "./argument-checker.ts";
import { openToolCalls, openToolCallsPerAgent, ToolRegistry } from "./registry.ts";

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

const checker = new ArgumentChecker();
afterAll(() => checker[Symbol.asyncDispose]());

function open(invoke: (args: unknown, caller: string) => Promise<unknown>): ToolRegistry {
  const ports = {
    owners: () => [owner],
    invoke: (_agent: string, _handler: string, args: unknown, caller: string) => invoke(args, caller),
  };
  return new ToolRegistry(ports, checker);
}

test("a call with arguments that fit reaches the agent, any other does not", async () => {
  const handed: unknown[] = [];
  const tools = open(async (args, caller) => {
    handed.push([args, caller]);
    return { status: "success", value: 1 };
  });
  expect(await tools.call("a", "t", { n: 1 }, "user")).toEqual({ status: "success", value: 1 });
  expect(await tools.call("a", "t", undefined, "b")).toEqual({ status: "success", value: 1 });
  await expect(tools.call("a", "t", { n: "x" }, "user")).rejects.toMatchObject({ code: "ToolError" });
  await expect(tools.call("a", "u", {}, "user")).rejects.toMatchObject({ code: "NotFound" });
  expect(handed).toEqual([
    [{ n: 1 }, "user"],
    [{}, "b"],
  ]);
});

test("one agent has a share of the open calls, and what is left is for others, a person first of all; ended ones count no more", async () => {
  const end = Promise.withResolvers<unknown>();
  const tools = open(() => end.promise);
  const openCalls = (caller: string, count: number): Promise<unknown>[] =>
    Array.from({ length: count }, () => tools.call("a", "t", {}, caller).catch((error: unknown) => error));
  const all = openCalls("evil", openToolCallsPerAgent);
  await expect(tools.call("a", "t", {}, "evil")).rejects.toMatchObject({
    code: "LimitExceeded",
    facts: { limit: "open_tool_calls_per_agent", value: openToolCallsPerAgent },
  });
  all.push(...openCalls("user", openToolCalls - openToolCallsPerAgent));
  await expect(tools.call("a", "t", {}, "late")).rejects.toMatchObject({
    facts: { limit: "open_tool_calls" },
  });
  end.resolve({ status: "success", value: null });
  expect((await Promise.all(all)).filter((answer) => answer instanceof LaresError)).toEqual([]);
  expect(await tools.call("a", "t", {}, "evil")).toEqual({ status: "success", value: null });
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
  expect(await tools.call("a", "t", {}, "user")).toEqual(result);
});

test.each([null, 1, {}, { status: "needs_approval" }])("%j is no tool result", async (answer) => {
  const tools = open(async () => answer);
  await expect(tools.call("a", "t", {}, "user")).rejects.toMatchObject({ code: "AgentError" });
});
