import { expect, test } from "vitest";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import { madeHandler } from "../base/vocabulary/made-schedule.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { until } from "../../../test/support/until.ts";
import { MadeSchedules } from "./made-schedules.ts";
import { agent, MindBench, person } from "./testing/mind-bench.ts";

/** Has the channel make one call of the tool, and returns the conversation and the result. */
async function scheduled(
  bench: MindBench,
  args: Record<string, unknown>,
  conversation?: string,
): Promise<{ id: string; result: ToolResult }> {
  const id = conversation ?? (await bench.open()).id;
  let isAsked = false;
  bench.model = () => {
    if (isAsked) return { say: "Done." };
    isAsked = true;
    return { call: [{ tool: "schedule", arguments: args }] };
  };
  await bench.send(id, "Please.");
  const entries = await bench.rested(id);
  const last = entries.findLast((entry) => entry.kind === "tool_result");
  if (last?.kind !== "tool_result") throw new Error("The tool was not called.");
  return { id, result: last.result };
}

const valueOf = (result: ToolResult): Record<string, unknown> => {
  if (result.status !== "success") throw new Error(JSON.stringify(result));
  return result.value as Record<string, unknown>;
};
const morning = { op: "add", prompt: "What changed?", cron: "0 8 * * *", timezone: "Europe/Berlin" };
const definitions = [
  { id: agent, mind: {}, hooks: [] },
  { id: "other", hooks: [] },
] as unknown as AgentDefinition[];

function hooksOf(schedules: MadeSchedules): { hooks: string[]; apply: () => Promise<void> } {
  const seen = { hooks: [] as string[] };
  const runner = schedules.before({
    apply: async (given) => {
      seen.hooks = (given ?? []).flatMap(({ hooks }) => hooks.map(({ handler }) => handler));
    },
  });
  return {
    get hooks() {
      return seen.hooks;
    },
    apply: () => runner.apply(definitions),
  };
}

test("a schedule is a proposal: the turn continues at once, and it is a hook only after a person accepted it", async () => {
  const bench = await MindBench.open();
  const seen = hooksOf(bench.schedules!);
  await seen.apply();
  const { result } = await scheduled(bench, { ...morning, active_hours: "08:00-20:00" });
  const { id } = valueOf(result) as { id: string };
  expect(valueOf(result)).toEqual({
    id,
    prompt: "What changed?",
    cron: "0 8 * * *",
    timezone: "Europe/Berlin",
    active_hours: "08:00-20:00",
    state: "waits for the person",
    next: "2030-01-01T00:00:00.000Z",
  });
  expect(bench.storedSchedules.get(id)?.state).toBe("proposed");
  expect(seen.hooks).toEqual([]);
  bench.acceptance.get(id)?.(true);
  await until("it is a hook", () => seen.hooks.length > 0);
  expect(seen.hooks).toEqual([madeHandler({ id })]);
  expect(bench.storedSchedules.get(id)?.state).toBe("accepted");
});

test("a schedule that a person declined is gone", async () => {
  const bench = await MindBench.open();
  const { result } = await scheduled(bench, morning);
  const { id } = valueOf(result) as { id: string };
  bench.acceptance.get(id)?.(false);
  await until("it is forgotten", () => bench.storedSchedules.size === 0);
  expect(valueOf((await scheduled(bench, { op: "list" })).result)).toEqual([]);
});

test("kernels that end before the answer: the next one asks again, once; an accepted one is not asked about", async () => {
  const bench = await MindBench.open();
  const { result } = await scheduled(bench, morning);
  const { id } = valueOf(result) as { id: string };
  await bench.restart();
  expect(bench.askedSchedules).toEqual([id, id]);
  bench.schedules!.start();
  expect(bench.askedSchedules).toEqual([id, id]);
  bench.acceptance.get(id)?.(true);
  await until("it is accepted", () => bench.storedSchedules.get(id)?.state === "accepted");
  await bench.restart();
  expect(bench.askedSchedules).toEqual([id, id]);
  const seen = hooksOf(bench.schedules!);
  await seen.apply();
  expect(seen.hooks).toEqual([madeHandler({ id })]);
});

test("stopping a conversation withdraws what it proposed, and not what was accepted", async () => {
  const bench = await MindBench.open();
  const { id: conversation, result } = await scheduled(bench, morning);
  const { id: accepted } = valueOf(result) as { id: string };
  bench.acceptance.get(accepted)?.(true);
  await until("it is accepted", () => bench.storedSchedules.get(accepted)?.state === "accepted");
  await scheduled(bench, { ...morning, prompt: "Another one" }, conversation);
  expect(bench.storedSchedules.size).toBe(2);
  await bench.service.cancel(person, conversation);
  expect([...bench.storedSchedules.keys()]).toEqual([accepted]);
});

test("an accepted schedule is removed by the mind, in another conversation too", async () => {
  const bench = await MindBench.open();
  const seen = hooksOf(bench.schedules!);
  const { result } = await scheduled(bench, morning);
  const { id } = valueOf(result) as { id: string };
  bench.acceptance.get(id)?.(true);
  await until("it is a hook", () => bench.storedSchedules.get(id)?.state === "accepted");
  await seen.apply();
  expect(valueOf((await scheduled(bench, { op: "remove", id })).result)).toEqual({ id, state: "removed" });
  expect(seen.hooks).toEqual([]);
  expect((await scheduled(bench, { op: "remove", id })).result).toMatchObject({ status: "error" });
});

test("a conversation that read foreign text removes no schedule, and a proposal of it names the sources", async () => {
  const bench = await MindBench.open();
  bench.isScripted = true;
  const { result } = await scheduled(bench, morning);
  const { id } = valueOf(result) as { id: string };
  expect(bench.storedSchedules.get(id)?.sources).not.toEqual([]);
  expect((await scheduled(bench, { op: "remove", id })).result).toMatchObject({
    status: "error",
    message: expect.stringContaining("removes no schedule"),
  });
  expect(bench.storedSchedules.size).toBe(1);
});

test("a schedule for one time ends with its run; one that is removed while the answer comes stays removed", async () => {
  const bench = await MindBench.open();
  const at = new Date(Date.now() + 60_000).toISOString();
  const { result } = await scheduled(bench, { op: "add", prompt: "Look.", at });
  const { id } = valueOf(result) as { id: string };
  expect(valueOf(result)).toMatchObject({ at, next: at });
  bench.acceptance.get(id)?.(true);
  await bench.schedules!.remove(agent, id);
  await until("nothing is stored", () => bench.storedSchedules.size === 0);
  const again = valueOf((await scheduled(bench, { op: "add", prompt: "Look.", at })).result) as {
    id: string;
  };
  bench.acceptance.get(again.id)?.(true);
  await until("it is accepted", () => bench.storedSchedules.get(again.id)?.state === "accepted");
  await bench.schedules!.ran(madeHandler(again));
  expect(bench.storedSchedules.size).toBe(0);
});

test.each([
  [{ op: "add", prompt: "x" }, 'either "cron" or "at"'],
  [{ op: "add", prompt: "x", cron: "* * * * *", at: "2030-01-01T00:00:00Z" }, 'either "cron" or "at"'],
  [{ op: "add", prompt: "x", at: "2030-01-01T00:00:00" }, "offset"],
  [{ op: "add", prompt: "x", at: "2030-13-01T00:00:00Z" }, "offset"],
  [{ op: "add", prompt: "x", at: "2020-01-01T00:00:00Z" }, "is over"],
  [{ op: "add", prompt: "x", cron: "never" }, "five fields"],
  [{ op: "add", prompt: "x", cron: "* * * * * *" }, "five fields"],
  [{ op: "add", prompt: "x", cron: 5 }, "must be a text"],
  [{ op: "add", prompt: "x", cron: "0 8 * * *", timezone: 5 }, "must be a text"],
  [{ op: "add", prompt: "x", cron: "0 8 * * *", active_hours: "8-20" }, "08:00-20:00"],
  [{ op: "add", prompt: " ", cron: "0 8 * * *" }, '"prompt"'],
  [{ op: "remove" }, '"id"'],
  [{ op: "remove", id: "none" }, "no schedule"],
  [{ op: "run" }, '"add", "list" or "remove"'],
])("%j is refused in a sentence", async (args, words) => {
  const bench = await MindBench.open();
  expect((await scheduled(bench, args)).result).toMatchObject({
    status: "error",
    message: expect.stringContaining(words),
  });
  expect(bench.storedSchedules.size).toBe(0);
});

test("a prompt that is too long for a person to read is refused", async () => {
  const bench = await MindBench.open();
  expect((await scheduled(bench, { ...morning, prompt: "x".repeat(3_001) })).result).toMatchObject({
    status: "error",
    message: expect.stringContaining("at most 3000"),
  });
});

test("the same call again proposes nothing new; the thirty-third schedule is refused", async () => {
  const bench = await MindBench.open();
  const propose = (id: string) =>
    bench.schedules!.propose({
      id,
      agent,
      conversation: "c",
      prompt: id,
      when: { cron: "0 8 * * *", timezone: "UTC" },
      sources: [],
    });
  for (let index = 0; index < 32; index++) await propose(`s${index}`);
  await propose("s0");
  expect(bench.askedSchedules).toHaveLength(32);
  await expect(propose("s32")).rejects.toMatchObject({ code: "LimitExceeded" });
});
