import { expect, test } from "vitest";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { lastText, MindBench } from "./testing/mind-bench.ts";

interface Call {
  readonly tool: string;
  readonly arguments?: unknown;
}

/** Has a channel make these calls, and then rest. */
async function made(calls: readonly Call[]): Promise<{ bench: MindBench; id: string; entries: Entry[] }> {
  const bench = await MindBench.open();
  bench.model = (question) => (lastText(question) === "go" ? { call: calls } : { say: "ok" });
  const { id } = await bench.open();
  await bench.send(id, "go");
  await bench.rested(id);
  return { bench, id, entries: [...(await bench.entries(id))] };
}
const messagesOf = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) =>
    entry.kind === "tool_result" && entry.result.status === "error" ? [entry.result.message] : [],
  );

test("a text that is longer than the tool's schema allows is refused, and starts nothing", async () => {
  const long = "x".repeat(100_001);
  const { entries } = await made([
    { tool: "branch", arguments: { task: long } },
    { tool: "spawn_worker", arguments: { task: long } },
    { tool: "route", arguments: { process: "p", text: long } },
    { tool: "cancel", arguments: { process: "p".repeat(129) } },
    { tool: "block_edit", arguments: { name: "here", find: "x".repeat(20_001), replace: "" } },
  ]);
  expect(messagesOf(entries)).toEqual([
    'The argument "task" has 100001 characters; at most 100000 are taken.',
    'The argument "task" has 100001 characters; at most 100000 are taken.',
    'The argument "text" has 100001 characters; at most 100000 are taken.',
    'The argument "process" has 129 characters; at most 128 are taken.',
    'The argument "find" has 20001 characters; at most 20000 are taken.',
  ]);
  expect(entries.filter((entry) => entry.kind === "process" && entry.value.kind !== "channel")).toEqual([]);
});

test("a tool's name is kept to 400 characters, without halves of characters", async () => {
  const { bench, id, entries } = await made([
    { tool: "x".repeat(1_000_000) },
    { tool: "files/\ud800" },
    { tool: "files/\ud800" },
    { tool: "files/\ud800" },
  ]);
  const named = entries.flatMap((entry) => (entry.kind === "tool_call" ? [entry.tool] : []));
  expect(named).toEqual([`${"x".repeat(400)}…`, ...Array.from({ length: 3 }, () => "files/\ufffd")]);
  await bench.send(id, "hello");
  await bench.rested(id);
  expect((await bench.entries(id)).at(-1)).toMatchObject({
    kind: "process",
    value: { state: "WaitingForInput" },
  });
});

test("a process has a list of the skills only if it can read them", async () => {
  const bench = await MindBench.open();
  const told = new Map<string, boolean>();
  bench.model = (question, { process }) => {
    told.set(String(process), JSON.stringify(question.messages).includes("A weekly review"));
    const canRead = (question.tools ?? []).some(({ name }) => name === "read_skill");
    expect(told.get(String(process))).toBe(canRead);
    if (process !== "channel" || bench.questions.length > 1) return { say: "ok" };
    return {
      call: [
        { tool: "branch", arguments: { task: "think" } },
        { tool: "spawn_worker", arguments: { task: "work" } },
      ],
    };
  };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await bench.rested(id);
  expect(Object.fromEntries(told)).toEqual({ channel: true, branch: false, worker: true });
});
