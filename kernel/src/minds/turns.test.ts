import { expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { lastText, MindBench, mind } from "./testing/mind-bench.ts";

test("messages that come while the channel's turn runs are taken before its next request, in order", async () => {
  const bench = await MindBench.open();
  const { promise: first, resolve: go } = Promise.withResolvers<void>();
  bench.model = async (question) => {
    if (bench.questions.length === 1) await first;
    return { say: `answer to ${lastText(question)}` };
  };
  const { id } = await bench.open();
  await bench.send(id, "one");
  await until("the first request", () => bench.questions.length === 1);
  await Promise.all([bench.send(id, "two"), bench.send(id, "three")]);
  go();
  await bench.rested(id);
  expect(await bench.said(id, "user")).toEqual(["one", "two", "three"]);
  expect(await bench.said(id)).toEqual(["answer to one", "answer to three"]);
});

test("a turn ends with a request without tools after max_turns", async () => {
  const bench = await MindBench.open();
  let calls = 0;
  bench.model = ({ tool_choice: choice }) =>
    choice === "none"
      ? { say: "that is all" }
      : { call: [{ tool: "files/read", arguments: { path: `${(calls += 1)}` } }] };
  const { id } = await bench.open();
  await bench.send(id, "read all");
  await bench.rested(id);
  expect(bench.calls).toHaveLength(mind.channel.maxTurns);
  expect((await bench.said(id)).at(-1)).toBe("that is all");
});

test("calls in an answer that must not have any get results, so that the conversation can continue", async () => {
  const bench = await MindBench.open();
  let calls = 0;
  bench.model = () => ({ call: [{ tool: "files/read", arguments: { path: `${(calls += 1)}` } }] });
  const { id } = await bench.open();
  await bench.send(id, "read all");
  const entries = await bench.rested(id);
  const called = entries.flatMap((entry) => (entry.kind === "tool_call" ? [entry.call] : []));
  const answered = entries.flatMap((entry) => (entry.kind === "tool_result" ? [entry.call] : []));
  expect(answered).toEqual(called);
  expect(bench.calls).toHaveLength(mind.channel.maxTurns);
});

test("of five hundred calls of one answer the first 128 run, in order and once, and the others get a result", async () => {
  const bench = await MindBench.open();
  const many = Array.from({ length: 500 }, (_, index) => ({
    tool: "files/read",
    arguments: { path: `f${index}` },
  }));
  bench.model = () => (bench.questions.length === 1 ? { call: many } : { say: "done" });
  const { id } = await bench.open();
  await bench.send(id, "go");
  const entries = await bench.rested(id);
  const read = entries.flatMap((entry) => (entry.kind === "tool_call" ? [entry.call] : []));
  expect(bench.calls).toEqual(read.slice(0, 128));
  expect(new Set(read).size).toBe(500);
  const answered = entries.flatMap((entry) => (entry.kind === "tool_result" ? [entry.call] : []));
  expect(answered.toSorted()).toEqual(read.toSorted());
});

test("the third identical call in a row runs only if a person allows it", async () => {
  const bench = await MindBench.open();
  bench.mayRepeat = false;
  bench.model = () =>
    bench.questions.length <= 3
      ? { call: [{ tool: "files/read", arguments: { path: "a" } }] }
      : { say: "ok" };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await bench.rested(id);
  expect(bench.calls).toHaveLength(2);
});

test("nobody is asked about a repeated call of a tool that the process does not have", async () => {
  const bench = await MindBench.open();
  bench.mayRepeat = "asks";
  bench.model = () =>
    bench.questions.length <= 4 ? { call: [{ tool: "files/nothing", arguments: {} }] } : { say: "ok" };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await bench.rested(id);
  expect((await bench.said(id)).at(-1)).toBe("ok");
});

test("arguments that no log could hold become a text, and the answer is not lost", async () => {
  const bench = await MindBench.open();
  let deep: unknown = "x";
  for (let depth = 0; depth < 6_000; depth++) deep = [deep];
  bench.model = () =>
    bench.questions.length === 1
      ? {
          say: "so",
          call: [{ deep }, { lone: "\ud800" }, { much: Number.POSITIVE_INFINITY }].map((args) => ({
            tool: "files/read",
            arguments: args,
          })),
        }
      : { say: "done" };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await bench.rested(id);
  expect((await bench.service.get(id)).processes[0]?.error).toBeUndefined();
  expect(await bench.said(id)).toEqual(["so", "done"]);
});

test("a failure of the model is the end of the turn in the log, and the next message starts again", async () => {
  const bench = await MindBench.open();
  bench.model = () =>
    bench.questions.length === 1 ? { fail: { class: "Overloaded", message: "too busy" } } : { say: "back" };
  const { id } = await bench.open();
  await bench.send(id, "one");
  await bench.rested(id);
  expect((await bench.service.get(id)).processes).toMatchObject([
    { state: "Failed", error: { code: "ModelError", class: "Overloaded", message: "too busy" } },
  ]);
  await bench.send(id, "two");
  await bench.rested(id);
  expect(await bench.said(id)).toEqual(["back"]);
  expect((await bench.service.get(id)).processes).toMatchObject([{ state: "WaitingForInput" }]);
});

test("an answer that reached the output limit says so, and so does a worker's report", async () => {
  const bench = await MindBench.open();
  bench.model = (_question, { process }) =>
    process === "worker"
      ? { say: "half a report", cut: "length" }
      : bench.questions.length === 1
        ? { call: [{ tool: "spawn_worker", arguments: { task: "count" } }] }
        : { say: "half", cut: "filtered" };
  const { id } = await bench.open();
  await bench.send(id, "go");
  const entries = await bench.rested(id);
  const said = entries.filter((entry) => entry.kind === "message" && entry.role === "assistant");
  expect(said.at(-1)).toMatchObject({ parts: [{ text: "half" }], cut: "filtered" });
  expect(said[0]).not.toHaveProperty("cut");
  const conclusions = entries.filter(({ kind }) => kind === "conclusion");
  expect(conclusions).toMatchObject([
    { text: expect.stringMatching(/^half a report\n\n\(.*output limit/) as string },
  ]);
});

test("an empty answer is silence in a channel, and a failure in a worker", async () => {
  const bench = await MindBench.open();
  bench.model = (_question, { process }) =>
    process === "channel" && bench.questions.length === 1
      ? { call: [{ tool: "spawn_worker", arguments: { task: "count" } }] }
      : { say: "" };
  const { id } = await bench.open();
  await bench.send(id, "go");
  const entries = await bench.rested(id);
  expect((await bench.service.get(id)).processes).toMatchObject([
    { kind: "channel", state: "WaitingForInput" },
    { kind: "worker", state: "Failed", error: { class: "EmptyAnswer" } },
  ]);
  expect(entries.some(({ kind }) => kind === "notice")).toBe(true);
});
