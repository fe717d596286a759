import { expect, test, describe } from "vitest";
import { until } from "../../../test/support/until.ts";
import { lastText, MindBench, person } from "./testing/mind-bench.ts";
import { withAskingWorker, statesOf } from "./testing/test-workers.ts";

describe("three rejections in a row", () => {
  /** A channel that proposes a change with every message. */
  const withProposals = async (bench: MindBench): Promise<string> => {
    let proposals = 0;
    bench.tool = () => bench.proposal(`a${(proposals += 1)}`);
    bench.model = (question) =>
      lastText(question).startsWith("propose")
        ? {
            call: Array.from({ length: 3 }, (_, n) => ({ tool: "files/write", arguments: { path: `${n}` } })),
          }
        : { say: "ok" };
    const { id } = await bench.open();
    await bench.send(id, "propose");
    await bench.rested(id);
    return id;
  };
  const notices = async (bench: MindBench, id: string): Promise<string[]> =>
    (await bench.entries(id)).flatMap((entry) => (entry.kind === "notice" ? [entry.text] : []));
  const decided = async (bench: MindBench, id: string, action: string): Promise<unknown> =>
    until(`the end of ${action}`, async () =>
      (await bench.entries(id)).some(
        (entry) => entry.kind === "action" && entry.ref === action && entry.state !== "PendingApproval",
      ),
    );

  test("pause the conversation: no further request until the person says something", async () => {
    const bench = await MindBench.open();
    const id = await withProposals(bench);
    for (const action of ["a1", "a2"]) {
      bench.decide(action, "Rejected");
      await decided(bench, id, action);
      await bench.rested(id);
    }
    const asked = bench.questions.length;
    expect(await notices(bench, id)).toEqual([]);
    bench.decide("a3", "Rejected");
    await decided(bench, id, "a3");
    await bench.rested(id);
    expect(bench.questions).toHaveLength(asked);
    expect(await notices(bench, id)).toEqual([expect.stringMatching(/three times.*Send a message/)]);
    expect(await statesOf(bench, id)).toEqual(["channel WaitingForInput"]);
    await bench.restart();
    await bench.minds.use(id, (conversation) => conversation.resume());
    await bench.rested(id);
    expect(bench.questions).toHaveLength(asked);
    await bench.send(id, "go on");
    await bench.rested(id);
    expect(bench.questions.length).toBeGreaterThan(asked);
    expect((await bench.minds.conversations.find(id))?.state.rejections).toBe(0);
  });

  test("count over a restart, and are counted from zero after an approval", async () => {
    const bench = await MindBench.open();
    const id = await withProposals(bench);
    for (const [action, state] of [
      ["a1", "Rejected"],
      ["a2", "Committed"],
      ["a3", "Rejected"],
    ] as const) {
      bench.decide(action, state);
      await decided(bench, id, action);
      await bench.rested(id);
    }
    await bench.restart();
    expect((await bench.minds.conversations.find(id))?.state.rejections).toBe(1);
    expect(await notices(bench, id)).toEqual([]);
  });

  test("stop a worker at its next request, which continues with the next message", async () => {
    const { bench, id, turns } = await withAskingWorker();
    for (let question = 0; question < 3; question++) await bench.answer(false);
    await bench.rested(id);
    expect(await statesOf(bench, id)).toEqual(["channel WaitingForInput", "worker WaitingForInput"]);
    expect(turns()).toBe(3);
    expect(await notices(bench, id)).toHaveLength(1);
    await bench.restart();
    await bench.send(id, "go on");
    await until("the worker's end", async () => (await statesOf(bench, id)).includes("worker Done"));
    await bench.rested(id);
    expect(turns()).toBe(4);
  });

  test("race: the person speaks while it is written that the worker is paused: it continues", async () => {
    const { bench, id, turns } = await withAskingWorker();
    const { promise: spoken, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: pausing, resolve: isPausing } = Promise.withResolvers<void>();
    await bench.minds.use(id, async ({ log }) => {
      const append = log.append.bind(log);
      log.append = async (...given) => {
        const written = await append(...given);
        if (JSON.stringify(written).includes('"state":"WaitingForInput"')) {
          isPausing();
          await spoken;
        }
        return written;
      };
    });
    for (let question = 0; question < 3; question++) await bench.answer(false);
    await pausing;
    await bench.send(id, "go on");
    goOn();
    await until("the worker's end", async () => (await statesOf(bench, id)).includes("worker Done"));
    expect(turns()).toBe(4);
  });

  test("and a stop: a paused worker ends with its tree", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    let path = 0;
    bench.model = (question, { process }) =>
      process === "worker"
        ? { call: [{ tool: "files/write", arguments: { path: `${(path += 1)}` } }] }
        : lastText(question) === "go"
          ? { call: [{ tool: "spawn_worker", arguments: { task: "write" } }] }
          : { say: "ok" };
    const { id } = await bench.open();
    await bench.send(id, "go");
    for (let question = 0; question < 3; question++) await bench.answer(false);
    await bench.rested(id);
    await bench.service.cancel(person, id);
    expect(await statesOf(bench, id)).toContain("worker Cancelled");
    await bench.send(id, "hello");
    await bench.rested(id);
    expect(path).toBe(3);
  });
});
