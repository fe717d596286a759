import { expect, test, describe } from "vitest";
import { until } from "../../../test/support/until.ts";
import { lastText, MindBench, person } from "./testing/mind-bench.ts";
import { withWriter, statesOf } from "./testing/test-workers.ts";

describe("a question of a process is in the log when it is asked and when it has ended", () => {
  test.each([
    { how: "allowed", allow: true, states: ["ask Pending workspace", "ask Allowed person"] },
    { how: "denied", allow: false, states: ["ask Pending workspace", "ask Denied person"] },
  ])("$how by the person, and the process waits meanwhile", async ({ allow, states }) => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    const { id: ref } = await bench.question();
    expect(await statesOf(bench, id)).toContain("worker WaitingForApproval");
    expect((await bench.minds.conversations.find(id))?.state.references).toMatchObject([
      { kind: "ask", ref },
    ]);
    await bench.answer(allow);
    const entries = await bench.rested(id);
    expect(await bench.decisions(id)).toEqual(states);
    expect((await bench.minds.conversations.find(id))?.state.references).toEqual([]);
    expect(bench.calls).toHaveLength(allow ? 1 : 0);
    const worker = entries.findLast((entry) => entry.kind === "process" && entry.value.kind === "worker");
    expect(worker).toMatchObject({ value: { state: "Done" } });
  });

  test("however many wait: nine workers of one mind and more ask, three of a conversation are shown, and none fails", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/read"];
    bench.model = (question, { process }) => {
      const task = lastText(question);
      if (process === "worker")
        return task.startsWith("read ")
          ? { call: [{ tool: "files/read", arguments: { path: task } }] }
          : { say: "report" };
      return task === "go"
        ? {
            call: [1, 2, 3, 4, 5].map((n) => ({
              tool: "spawn_worker",
              arguments: { task: `read ${n}` },
            })),
          }
        : { say: "ok" };
    };
    const ids = [(await bench.open()).id, (await bench.open()).id];
    for (const id of ids) await bench.send(id, "go");
    const waiting = async (): Promise<number> =>
      (await Promise.all(ids.map((id) => statesOf(bench, id))))
        .flat()
        .filter((state) => state === "worker WaitingForApproval").length;
    await until("all workers to wait", async () => (await waiting()) === 10);
    expect(await bench.asks.list("Pending")).toHaveLength(6);
    await bench.restart();
    await until("all workers to wait again", async () => (await waiting()) === 10);
    expect(await bench.asks.list("Pending")).toHaveLength(6);
    for (let answered = 0; answered < 10; answered++) await bench.answer(true);
    for (const id of ids) {
      await bench.rested(id);
      expect((await statesOf(bench, id)).filter((state) => state === "worker Done")).toHaveLength(5);
    }
    expect(bench.calls).toHaveLength(10);
  });

  test("withdrawn because its process was stopped", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    await bench.question();
    await bench.service.cancel(person, id);
    await bench.rested(id);
    expect(await bench.decisions(id)).toEqual(["ask Pending workspace", "ask Expired workspace"]);
    expect(bench.asked).toEqual(["Pending", "Expired"]);
    expect(bench.calls).toEqual([]);
  });

  test("about a repeated call, and about a request to a model", async () => {
    const bench = await MindBench.open();
    bench.mayRepeat = "asks";
    bench.asksAboutModels = true;
    bench.model = () =>
      bench.questions.length <= 3
        ? { call: [{ tool: "files/read", arguments: { path: "a" } }] }
        : { say: "ok" };
    const { id } = await bench.open();
    await bench.send(id, "go");
    for (let question = 0; question < 5; question++) await bench.answer(true);
    await bench.rested(id);
    expect(bench.calls).toHaveLength(3);
    expect(await bench.decisions(id)).toEqual(
      Array.from({ length: 5 }, () => ["ask Pending workspace", "ask Allowed person"]).flat(),
    );
  });

  test("the channel reads in its status what waits for the person", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    await bench.question();
    await bench.send(id, "and now?");
    await until("the answer", () =>
      bench.questions.some(({ question }) => lastText(question) === "and now?"),
    );
    const asked = bench.questions.findLast(({ question }) => lastText(question) === "and now?");
    expect(JSON.stringify(asked?.question.messages.at(-1))).toContain("1 question waits for the person");
    await bench.answer(true);
    await bench.rested(id);
  });
});

describe("a question that waits when a kernel dies", () => {
  test("is the same one for the next kernel, which continues with the answer", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    const { id: ref } = await bench.question();
    await bench.restart();
    expect((await bench.asks.list("Pending")).map((ask) => ask.id)).toEqual([ref]);
    await until("the call to be made again", async () =>
      (await statesOf(bench, id)).includes("worker WaitingForApproval"),
    );
    expect(await bench.answer(true)).toBe(ref);
    await bench.rested(id);
    expect(bench.asked).toEqual(["Pending", "Allowed"]);
    expect(await bench.decisions(id)).toEqual(["ask Pending workspace", "ask Allowed person"]);
    expect(bench.calls).toHaveLength(1);
  });

  test("may be answered before its conversation continues, and is not asked again", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    await bench.question();
    await bench.stop();
    await bench.start({ isContinuing: false });
    await bench.answer(true);
    await bench.minds.start();
    await bench.rested(id);
    expect(bench.asked).toEqual(["Pending", "Allowed"]);
    expect(await bench.decisions(id)).toEqual(["ask Pending workspace", "ask Allowed person"]);
    expect(bench.calls).toHaveLength(1);
  });

  test("is waited for by the channel's call that continues, as nothing new was said", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/read"];
    bench.model = (question) =>
      lastText(question) === "go"
        ? { call: [{ tool: "files/read", arguments: { path: "a" } }] }
        : { say: `result: ${lastText(question)}` };
    const { id } = await bench.open();
    await bench.send(id, "go");
    const { id: ref } = await bench.question();
    const before = (await bench.entries(id)).length;
    await bench.restart();
    await until("the call to ask again", async () => {
      const states = (await bench.entries(id))
        .slice(before)
        .flatMap((entry) => (entry.kind === "process" ? [entry.value.state] : []));
      return states.at(-1) === "WaitingForApproval";
    });
    expect(await bench.answer(true)).toBe(ref);
    await bench.rested(id);
    expect(await bench.decisions(id)).toEqual(["ask Pending workspace", "ask Allowed person"]);
    expect(bench.calls).toHaveLength(1);
    expect((await bench.entries(id)).filter(({ kind }) => kind === "tool_result")).toHaveLength(1);
    expect((await bench.entries(id)).filter(({ kind }) => kind === "request")).toHaveLength(2);
  });

  test("about a request to a model is not asked again either", async () => {
    const bench = await MindBench.open();
    bench.asksAboutModels = true;
    const { id } = await bench.open();
    await bench.send(id, "hello");
    const { id: ref } = await bench.question();
    await bench.restart();
    await until(
      "the request to be made again",
      async () => (await bench.entries(id)).filter(({ kind }) => kind === "request").length === 2,
    );
    expect(await bench.answer(true)).toBe(ref);
    await bench.rested(id);
    expect(bench.asked).toEqual(["Pending", "Allowed"]);
    expect(await bench.said(id)).toEqual(["ok"]);
  });

  test("ends when its conversation is stopped before it continues", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    await bench.question();
    await bench.stop();
    await bench.start({ isContinuing: false });
    await bench.service.cancel(person, id);
    expect(bench.asked).toEqual(["Pending", "Expired"]);
    expect(await bench.asks.list("Pending")).toEqual([]);
  });
});
