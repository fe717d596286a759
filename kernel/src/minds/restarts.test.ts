import { expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { lastText, MindBench } from "./testing/mind-bench.ts";

test("after a restart a running call is asked for by the same key, and nothing else runs twice", async () => {
  const bench = await MindBench.open();
  bench.model = (question) =>
    lastText(question) === "go"
      ? {
          call: [
            { tool: "files/read", arguments: { path: "a" } },
            { tool: "files/write", arguments: { path: "b" } },
          ],
        }
      : { say: "done" };
  bench.tool = (name, _args, _key, signal) =>
    name === "files/write" && bench.calls.length === 2
      ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))
      : { status: "success", value: "ok" };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await until("the second call", () => bench.calls.length === 2);
  await bench.restart();
  await bench.rested(id);
  const [first, second, third, ...more] = bench.calls;
  expect(third).toBe(second);
  expect(first).not.toBe(second);
  expect(more).toEqual([]);
  expect((await bench.said(id)).at(-1)).toBe("done");
});

test("a conversation continues from an action that was decided while no kernel ran", async () => {
  const bench = await MindBench.open();
  bench.model = (question) =>
    lastText(question) === "go"
      ? { call: [{ tool: "files/write", arguments: { path: "a" } }] }
      : { say: lastText(question) };
  bench.tool = () => bench.proposal("a1");
  const { id } = await bench.open();
  await bench.send(id, "go");
  await bench.rested(id);
  await bench.stop();
  bench.decideLater("a1", "Committed");
  await bench.start();
  await bench.minds.use(id, (conversation) => conversation.resume());
  await bench.rested(id);
  expect((await bench.said(id)).at(-1)).toContain("Committed");
});

test("a message that comes before a kernel has continued what an earlier one began is read with the rest", async () => {
  const bench = await MindBench.open();
  bench.model = (question) =>
    lastText(question) === "one" && bench.questions.length === 1 ? { hangs: true } : { say: "done" };
  const { id } = await bench.open();
  await bench.send(id, "one");
  await until("the request", () => bench.questions.length === 1);
  await bench.stop();
  await bench.start({ isContinuing: false });
  await bench.send(id, "two");
  await bench.minds.start();
  await bench.rested(id);
  expect(await bench.said(id, "user")).toEqual(["one", "two"]);
  expect((await bench.service.get(id)).processes).toMatchObject([{ state: "WaitingForInput" }]);
  expect((await bench.said(id)).at(-1)).toBe("done");
});

test("without a trusted client work stops before its next request, and continues with the next client", async () => {
  const bench = await MindBench.open();
  bench.unattendedMs = 0;
  const { promise: release, resolve: go } = Promise.withResolvers<void>();
  bench.model = () =>
    bench.questions.length === 1
      ? { call: [{ tool: "files/read", arguments: { path: "a" } }] }
      : { say: "done" };
  bench.tool = async () => {
    await release;
    return { status: "success", value: "ok" };
  };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await until("the call", () => bench.calls.length === 1);
  bench.minds.setAttended(false);
  await until("the time to have passed", () => bench.isUnattended(id));
  go();
  await bench.rested(id);
  expect(bench.questions).toHaveLength(1);
  expect((await bench.service.get(id)).processes).toMatchObject([{ state: "Running" }]);
  bench.minds.setAttended(true);
  await until("the answer", async () => (await bench.said(id)).includes("done"));
  expect(bench.calls).toHaveLength(1);
});

test("a process that only waits for a person keeps no kernel, and the next one continues it", async () => {
  const bench = await MindBench.open();
  bench.model = (question, { process }) =>
    process === "worker"
      ? lastText(question) === "write it"
        ? { call: [{ tool: "files/write", arguments: { path: "a" } }] }
        : { say: "written" }
      : lastText(question) === "go"
        ? { call: [{ tool: "spawn_worker", arguments: { task: "write it" } }] }
        : { say: "ok" };
  bench.tool = () => bench.proposal("a1");
  const { id } = await bench.open();
  await bench.send(id, "go");
  const states = async (): Promise<string[]> =>
    (await bench.service.get(id)).processes.map(({ kind, state }) => `${kind} ${state}`);
  await until("the worker to wait", async () => (await states()).includes("worker WaitingForApproval"));
  await until("nothing else to work", () => !bench.minds.isBusy);
  await bench.restart();
  await until("the worker to wait again", () => bench.minds.isActive(id) && !bench.minds.isBusy);
  bench.decide("a1", "Committed");
  await until("the worker's end", async () => (await states()).includes("worker Done"));
});
