import { describe, expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { noInterception } from "../base/vocabulary/interception.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { lastText, MindBench, person } from "./testing/mind-bench.ts";

const states = async (bench: MindBench, id: string): Promise<string[]> =>
  (await bench.service.get(id)).processes.map(({ kind, state }) => `${kind} ${state}`);
const results = (entries: readonly Entry[], tool: string): unknown[] => {
  const calls = new Set(
    entries.flatMap((entry) => (entry.kind === "tool_call" && entry.tool === tool ? [entry.call] : [])),
  );
  return entries.flatMap((entry) =>
    entry.kind === "tool_result" && calls.has(entry.call) ? [entry.result] : [],
  );
};

describe("a branch and its worker", () => {
  /** A branch that gives one task to a worker, whose report is "the harbour is open". */
  async function setUp(wait: boolean) {
    const bench = await MindBench.open();
    bench.mind = { ...bench.mind, tools: [] };
    const asked = { branch: 0, worker: 0 };
    const gate = { hangsWorker: false, branch: Promise.resolve() };
    bench.model = async (question, { process }) => {
      const hasReport = JSON.stringify(question.messages).includes("the harbour is open");
      if (process === "worker") {
        asked.worker++;
        return gate.hangsWorker ? { hangs: true } : { say: "the harbour is open" };
      }
      if (process === "branch") {
        if (++asked.branch === 1)
          return { call: [{ tool: "spawn_worker", arguments: { task: "look", wait } }] };
        await gate.branch;
        return { say: hasReport ? "We can sail" : "I do not know" };
      }
      const text = lastText(question);
      return text === "go" ? { call: [{ tool: "branch", arguments: { task: "think" } }] } : { say: "ok" };
    };
    const { id } = await bench.open();
    const conclusions = async (): Promise<string[]> =>
      (await bench.entries(id)).flatMap((entry) => (entry.kind === "conclusion" ? [entry.text] : []));
    return { bench, id, asked, gate, conclusions };
  }

  test("without wait: a report that comes during the branch's last request is read before the branch ends", async () => {
    const { bench, id, asked, gate, conclusions } = await setUp(false);
    const { promise, resolve } = Promise.withResolvers<void>();
    gate.branch = promise;
    await bench.send(id, "go");
    await until("the report", async () => (await conclusions()).length === 1 && asked.branch === 2);
    resolve();
    await bench.rested(id);
    expect(await conclusions()).toEqual(["the harbour is open", "We can sail"]);
  });

  test("with wait: the call is answered when the worker has ended, behind its report", async () => {
    const { bench, id, asked, conclusions } = await setUp(true);
    await bench.send(id, "go");
    await bench.rested(id);
    expect(await conclusions()).toEqual(["the harbour is open", "We can sail"]);
    expect(asked).toEqual({ branch: 2, worker: 1 });
    expect(results(await bench.entries(id), "spawn_worker")).toEqual([
      { status: "success", value: expect.objectContaining({ state: "Done" }) as unknown },
    ]);
  });

  test("with wait, and one place in all: the worker gets the place of the branch that waits for it", async () => {
    const { bench, id, conclusions } = await setUp(true);
    bench.limits = { atOnce: 256, processes: 1 };
    await bench.send(id, "go");
    await bench.rested(id);
    expect(await conclusions()).toEqual(["the harbour is open", "We can sail"]);
  });

  test("with wait, and a kernel that died meanwhile: the next one waits again, and the worker runs once", async () => {
    const { bench, id, asked, gate, conclusions } = await setUp(true);
    gate.hangsWorker = true;
    await bench.send(id, "go");
    await until("the worker", () => asked.worker === 1);
    gate.hangsWorker = false;
    await bench.restart();
    await bench.rested(id);
    expect(await conclusions()).toEqual(["the harbour is open", "We can sail"]);
    expect(await states(bench, id)).toEqual(["channel WaitingForInput", "branch Done", "worker Done"]);
  });

  test("with wait, and the channel stops the worker for a reason: the worker's end and the branch's call say why", async () => {
    const { bench, id, asked, gate } = await setUp(true);
    gate.hangsWorker = true;
    const model = bench.model;
    let worker = "";
    bench.model = (question, asker) =>
      asker.process === "channel" && lastText(question) === "stop it"
        ? { call: [{ tool: "cancel", arguments: { process: worker, reason: "The harbour was sold" } }] }
        : model(question, asker);
    await bench.send(id, "go");
    await until("the worker", () => asked.worker === 1);
    const { processes } = await bench.service.get(id);
    worker = processes.find(({ kind }) => kind === "worker")?.id ?? "";
    await bench.send(id, "stop it");
    const entries = await bench.rested(id);
    const ends = entries.flatMap((entry) =>
      entry.kind === "process" && entry.value.state === "Cancelled" ? [entry.value] : [],
    );
    expect(ends).toMatchObject([
      { id: worker, error: { code: "RequestCancelled", message: "The harbour was sold" } },
    ]);
    expect(results(entries, "spawn_worker")).toMatchObject([
      { status: "error", message: expect.stringContaining("The harbour was sold") as unknown },
    ]);
    await bench.restart();
    const after = await bench.service.get(id);
    expect(after.processes.find((process) => process.id === worker)).toMatchObject({
      error: { message: "The harbour was sold" },
    });
  });

  test("with wait, and stopped meanwhile: both are cancelled, and the call has a result", async () => {
    const { bench, id, asked, gate } = await setUp(true);
    gate.hangsWorker = true;
    await bench.send(id, "go");
    await until("the worker", () => asked.worker === 1);
    await bench.service.cancel(person, id);
    await bench.rested(id);
    expect(await states(bench, id)).toEqual([
      "channel WaitingForInput",
      "branch Cancelled",
      "worker Cancelled",
    ]);
    expect(results(await bench.entries(id), "spawn_worker")).toHaveLength(1);
  });
});

test("a channel whose context fills up is compacted and answers while all places are taken by workers that wait", async () => {
  const bench = await MindBench.open();
  bench.limits = { atOnce: 256, processes: 2 };
  bench.contextTokens = 8_000;
  bench.counts = true;
  bench.model = (question, { process }) => {
    if (process === "compaction") return { say: "summary of what was said, with all that matters" };
    if (process === "worker") return { hangs: true };
    const call = [1, 2].map((task) => ({ tool: "spawn_worker", arguments: { task: `task ${task}` } }));
    return lastText(question) === "go" ? { call } : { say: "ok" };
  };
  const { id } = await bench.open();
  await bench.send(id, "go");
  const summaries = async (): Promise<number> =>
    (await bench.entries(id)).filter(({ kind }) => kind === "summary").length;
  let sent = 0;
  while ((await summaries()) === 0 && sent < 20) {
    const answers = (await bench.said(id)).length;
    await bench.send(id, `${"word ".repeat(700)}${sent++}`);
    await until("an answer", async () => (await bench.said(id)).length > answers);
  }
  expect(await summaries()).toBeGreaterThan(0);
});

test("a branch that was compacted continues behind its summary in the next kernel, with no entry twice", async () => {
  const bench = await MindBench.open();
  bench.contextTokens = 8_000;
  bench.counts = true;
  bench.recalled = [
    { id: "k", type: "Fact", text: "word ".repeat(150), created: "", sources: [], isTainted: false },
  ];
  bench.mind = { ...bench.mind, branches: { atOnce: 4, maxTurns: 200 } };
  let number = 0;
  let isLate = false;
  const seen: string[] = [];
  bench.model = (question, { process }) => {
    if (process === "compaction") return { say: "the summary of the branch, with all that matters" };
    if (process !== "branch")
      return lastText(question) === "go"
        ? { call: [{ tool: "branch", arguments: { task: "think" } }] }
        : { say: "ok" };
    const text = JSON.stringify(question.messages);
    if (isLate) {
      seen.push(text);
      return { say: "done" };
    }
    if (text.includes("the summary of the branch")) {
      seen.push(text);
      return { hangs: true };
    }
    return { call: [{ tool: "memory_recall", arguments: { query: `question number ${number++}` } }] };
  };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await until("the compaction", () => seen.length === 1);
  isLate = true;
  await bench.restart();
  await bench.rested(id);
  const questions = seen.map((text) => text.match(/question number \d+/g) ?? []);
  expect(questions[1]).toEqual(questions[0]);
  expect(await states(bench, id)).toContain("branch Done");
});

test("a message to a worker that ends while extensions look at the result is refused, not lost", async () => {
  const bench = await MindBench.open();
  const looking = Promise.withResolvers<void>();
  const slow = Promise.withResolvers<void>();
  bench.intercept = {
    ...noInterception,
    afterToolCall: (_place, call) => {
      if (call.tool !== "route") return null;
      looking.resolve();
      return slow.promise.then(() => []);
    },
  };
  await bench.restart();
  bench.mind = { ...bench.mind, tools: [] };
  const working = Promise.withResolvers<void>();
  const { id } = await bench.open();
  bench.model = async (question, { process }) => {
    if (process === "worker") {
      await working.promise;
      return { say: "report" };
    }
    const text = lastText(question);
    if (text === "go") return { call: [{ tool: "spawn_worker", arguments: { task: "look" } }] };
    const worker = (await bench.service.get(id)).processes.find(({ kind }) => kind === "worker")?.id;
    if (text === "tell")
      return { call: [{ tool: "route", arguments: { process: worker, text: "the cellar too" } }] };
    return { say: "ok" };
  };
  await bench.send(id, "go");
  await until("the worker", async () => (await states(bench, id)).includes("worker Running"));
  await bench.send(id, "tell");
  await looking.promise;
  working.resolve();
  // A worker that answers at once is asked once more whether that is all.
  await until("its end", async () => (await states(bench, id)).includes("worker Done"));
  slow.resolve();
  await bench.rested(id);
  const [result] = results(await bench.entries(id), "route");
  expect(result).toMatchObject({
    status: "error",
    message: expect.stringContaining("No process") as unknown,
  });
});
