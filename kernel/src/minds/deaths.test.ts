import { expect, test } from "vitest";
import { endedStates } from "../base/vocabulary/conversation.ts";
import { until } from "../../../test/support/until.ts";
import { agent, lastText, MindBench, person } from "./testing/mind-bench.ts";

const never = new Promise<never>(() => undefined);

/** Never resolves, like a call that a kernel's end interrupts. */
const untilStopped = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

test.each(["a call", "a request", "nothing yet"])(
  "a stop that comes before the next kernel continued a worker with %s open ends it: nothing is open, nothing runs again",
  async (what) => {
    const bench = await MindBench.open();
    if (what === "nothing yet") bench.limits = { atOnce: 256, processes: 1 };
    bench.model = (question, { process }) => {
      if (process === "channel")
        return lastText(question) === "go"
          ? { call: [{ tool: "spawn_worker", arguments: { task: "work" } }] }
          : { say: "ok" };
      return what === "a call"
        ? { call: [{ tool: "files/read", arguments: { path: "a" } }] }
        : { hangs: true };
    };
    bench.tool = (_name, _args, _key, signal) => untilStopped(signal);
    const { id } = await bench.open();
    await bench.send(id, "go");
    await until("the worker", async () =>
      what === "a call"
        ? bench.calls.length === 1
        : bench.questions.some(({ asker }) => asker.process === "worker"),
    );
    await bench.stop();
    await bench.start({ isContinuing: false });
    const asked = bench.questions.length;
    const { processes } = await bench.service.cancel(person, id);
    expect(processes.filter(({ state }) => !endedStates.has(state) && state !== "WaitingForInput")).toEqual(
      [],
    );
    await bench.minds.start();
    const entries = await bench.rested(id);
    const called = entries.flatMap((entry) => (entry.kind === "tool_call" ? [entry.call] : []));
    const answered = entries.flatMap((entry) => (entry.kind === "tool_result" ? [entry.call] : []));
    expect(answered.toSorted()).toEqual(called.toSorted());
    const requests = entries.flatMap((entry) => (entry.kind === "request" ? [entry.message] : []));
    const ended = new Set(
      entries.flatMap((entry) =>
        entry.kind === "void" ? [entry.message] : entry.kind === "message" ? [entry.id] : [],
      ),
    );
    expect(requests.filter((message) => !ended.has(message))).toEqual([]);
    expect(bench.questions.length).toBe(asked);
  },
);

test.each(["the conversation", "the worker"])(
  "race: a stop of %s that comes while its channel starts the worker stops that too",
  async (what) => {
    const bench = await MindBench.open();
    bench.model = (question, { process }) => {
      if (process === "worker") return { hangs: true };
      return lastText(question) === "go"
        ? { call: [{ tool: "spawn_worker", arguments: { task: "work" } }] }
        : { say: "ok" };
    };
    const { id } = await bench.open();
    let stopping: Promise<void> = never;
    await bench.minds.use(id, async (conversation) => {
      const listening = conversation.log.appended.on((entries) => {
        const worker = entries.find((entry) => entry.kind === "process" && entry.value.kind === "worker");
        if (worker === undefined) return;
        listening[Symbol.dispose]();
        stopping = conversation.cancel(person, what === "the worker" ? worker.process : undefined);
      });
      await bench.send(id, "go");
      await until("the stop", () => stopping !== never);
      await stopping;
      const open = conversation.log.state.processes.filter(
        ({ kind, state }) => kind === "worker" && !endedStates.has(state),
      );
      expect(open).toEqual([]);
    });
    await bench.rested(id);
    expect(bench.questions.filter(({ asker }) => asker.process === "worker")).toEqual([]);
  },
);

test("what a worker found just before a kernel's death is read by the next one", async () => {
  const bench = await MindBench.open();
  bench.model = (question, { process }) => {
    if (process === "worker") return { say: "the harbour is open" };
    if (lastText(question) === "go") return { call: [{ tool: "spawn_worker", arguments: { task: "work" } }] };
    return { say: lastText(question).includes("harbour") ? "I read it" : "I wait" };
  };
  bench.mind = { ...bench.mind, tools: [] };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await until("the worker's end and the channel's rest", async () => {
    const { processes } = await bench.service.get(id);
    return (
      processes.length === 2 && processes.every(({ state }) => ["Done", "WaitingForInput"].includes(state))
    );
  });
  // Ends gather for a moment before they wake the channel.
  await bench.restart();
  await until("the channel to read it", async () => (await bench.said(id)).includes("I read it"));
});

test("that the conversation's own work has ended is told once, however many kernels follow", async () => {
  const bench = await MindBench.open();
  let tasks = 0;
  bench.model = (_question, { process }) =>
    process === "worker"
      ? { say: "done" }
      : { call: [{ tool: "spawn_worker", arguments: { task: `work ${(tasks += 1)}` } }] };
  bench.mind = { ...bench.mind, tools: [], channel: { maxTurns: 1 } };
  const { id } = await bench.open();
  await bench.send(id, "go");
  const notices = async (): Promise<number> =>
    (await bench.entries(id)).filter(({ kind }) => kind === "notice").length;
  await until("the notice", async () => (await notices()) === 1);
  for (let restarts = 0; restarts < 2; restarts++) {
    await bench.restart();
    await bench.rested(id);
  }
  expect(await notices()).toBe(1);
});

test("a message whose entry the index has not got is not written again under its key, and is answered", async () => {
  const bench = await MindBench.open();
  bench.model = () => ({ hangs: true });
  const { id } = await bench.open();
  const message = { id, text: "hello", key: "k" };
  const entry = await bench.service.send(person, message);
  await until("the request", () => bench.questions.length === 1);
  await bench.stop();
  await bench.database.batch([
    { sql: "DELETE FROM conversation_texts", params: [] },
    { sql: "DELETE FROM conversation_entries WHERE conversation = ?", params: [id] },
    { sql: "UPDATE conversations SET is_busy = 0", params: [] },
  ]);
  await bench.start();
  bench.model = () => ({ say: "hi" });
  expect(await bench.service.send(person, message)).toBe(entry);
  await until("the answer", async () => (await bench.said(id)).includes("hi"));
  expect(await bench.said(id, "user")).toEqual(["hello"]);
});

test.each(["channel", "worker"] as const)(
  "the requests that a %s made before a kernel's death count for its max_turns",
  async (which) => {
    const bench = await MindBench.open();
    const most = 5;
    const reads = { name: "reads", description: "", prompt: "Read.", tools: ["files/*"], maxTurns: most };
    bench.mind = {
      ...bench.mind,
      channel: { maxTurns: most },
      workers: [{ ...reads, isInteractive: false, atOnce: 4 }],
    };
    const answered: (string | undefined)[] = [];
    const hung = new Set<number>();
    bench.model = ({ tool_choice: choice, ...question }, { process }) => {
      if (process !== which)
        return lastText({ ...question }) === "go"
          ? { call: [{ tool: "spawn_worker", arguments: { task: "read", kind: "reads" } }] }
          : { say: "ok" };
      // Two kernels die in the middle of a request.
      if ([2, 4].includes(answered.length) && !hung.has(answered.length)) {
        hung.add(answered.length);
        return { hangs: true };
      }
      answered.push(choice);
      return choice === "none"
        ? { say: "that is all" }
        : { call: [{ tool: "files/read", arguments: { path: `${answered.length}` } }] };
    };
    const { id } = await bench.open();
    await bench.send(id, "go");
    for (const deaths of [1, 2]) {
      await until("a request that hangs", () => hung.size === deaths);
      await bench.restart();
    }
    await bench.rested(id);
    expect(answered).toEqual([...Array.from({ length: most }, () => "auto"), "none"]);
    expect(await bench.said(id)).toContain("that is all");
  },
);

test("a worker that was nudged before a kernel's death is not nudged again", async () => {
  const bench = await MindBench.open();
  let hangs = 1;
  bench.model = (question, { process }) => {
    if (process !== "worker")
      return lastText(question) === "go"
        ? { call: [{ tool: "spawn_worker", arguments: { task: "count" } }] }
        : { say: "ok" };
    if (lastText(question) === "count") return { say: "I will count." };
    return hangs-- > 0 ? { hangs: true } : { say: "There are three." };
  };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await until("the nudged request", () => hangs === 0);
  await bench.restart();
  await bench.rested(id);
  expect((await bench.said(id)).filter((text) => text === "There are three.")).toHaveLength(1);
  expect((await bench.said(id, "user")).filter((text) => text.startsWith("Please proceed"))).toHaveLength(1);
});

test("a conversation whose kernel died before its channel was written, and a fork from before it, begin one", async () => {
  const bench = await MindBench.open();
  bench.model = () => ({ say: "here I am" });
  using begun = await bench.minds.conversations.create(agent);
  const half = begun.log.id;
  const { id } = await bench.open();
  const fork = await bench.service.fork(person, id, 1);
  for (const each of [half, fork.id]) {
    await bench.restart();
    await bench.send(each, "hello");
    await bench.rested(each);
    expect(await bench.said(each)).toContain("here I am");
    expect((await bench.service.get(each)).processes.map(({ kind }) => kind)).toEqual(["channel"]);
  }
});

test("the next kernel sends the same tools, byte by byte", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  await bench.send(id, "hello");
  await bench.rested(id);
  await bench.restart();
  await bench.send(id, "hello again");
  await bench.rested(id);
  const [before, after] = bench.questions.map(({ question }) => JSON.stringify(question.tools));
  expect(after).toBe(before);
  expect(after?.length).toBeGreaterThan(100);
});
