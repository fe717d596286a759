import { expect, test, describe } from "vitest";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../platform/clock.ts";
import { stopped } from "./ends.ts";
import { lastText, MindBench, person } from "./testing/mind-bench.ts";
import { withWriter, statesOf } from "./testing/test-workers.ts";

describe("an action of a worker that needs approval makes it wait, and its call gets what became of it", () => {
  const waiting = async (bench: MindBench): Promise<string> => {
    bench.tool = () => bench.proposal("a1");
    const id = await withWriter(bench);
    await until("the worker to wait", async () =>
      (await statesOf(bench, id)).includes("worker WaitingForApproval"),
    );
    return id;
  };
  const resultOf = async (bench: MindBench, id: string) => {
    const entries = await bench.rested(id);
    const results = entries.flatMap((entry) =>
      entry.kind === "tool_result" && entry.process !== entries[0]?.process ? [entry.result] : [],
    );
    expect(results).toHaveLength(1);
    return results[0];
  };

  test("committed: success", async () => {
    const bench = await MindBench.open();
    const id = await waiting(bench);
    bench.decide("a1", "Committed");
    expect(await resultOf(bench, id)).toEqual({
      status: "success",
      value: { action: "a1", state: "Committed" },
    });
    expect(await bench.decisions(id)).toEqual([
      "action PendingApproval workspace",
      "action Committed person",
    ]);
    expect(await statesOf(bench, id)).toContain("worker Done");
  });

  test.each([
    [
      "Rejected",
      { rejected_reason: "Not there." },
      "The change was not made (Rejected): Not there. The person does not want it: do not propose the same again.",
      "person",
    ],
    ["Stale", { error: "a was changed." }, "The change was not made (Stale): a was changed.", "workspace"],
    ["Expired", { error: "Too late." }, "The change was not made (Expired): Too late.", "workspace"],
    [
      "Failed",
      { error: "The disk is full." },
      "The change was not made (Failed): The disk is full.",
      "workspace",
    ],
  ] as const)(
    "%s: an error with the reason, from which the worker continues",
    async (state, why, message, by) => {
      const bench = await MindBench.open();
      const id = await waiting(bench);
      bench.changeAction("a1", why);
      bench.decide("a1", state);
      expect(await resultOf(bench, id)).toEqual({ status: "error", message, recoverable: true });
      expect(await bench.decisions(id)).toEqual([
        "action PendingApproval workspace",
        `action ${state} ${by}`,
      ]);
      expect(await statesOf(bench, id)).toContain("worker Done");
    },
  );

  test("stopped by the person: rejected, which they did not decide", async () => {
    const bench = await MindBench.open();
    const id = await waiting(bench);
    await bench.service.cancel(person, id);
    expect(await resultOf(bench, id)).toMatchObject({ status: "error", message: "cancelled" });
    expect(bench.actions.get("a1")?.state).toBe("Rejected");
    expect(await bench.decisions(id)).toEqual([
      "action PendingApproval workspace",
      "action Rejected workspace",
    ]);
    expect((await bench.minds.conversations.find(id))?.state.rejections).toBe(0);
  });

  test("race: stopped while what the person approved is being committed: the commit's end is in the log", async () => {
    const bench = await MindBench.open();
    const id = await waiting(bench);
    bench.changeAction("a1", { state: "Committing" });
    const stopping = bench.service.cancel(person, id);
    await until("the worker's end", async () => (await statesOf(bench, id)).includes("worker Cancelled"));
    bench.decide("a1", "Committed");
    await stopping;
    expect(await bench.decisions(id)).toEqual([
      "action PendingApproval workspace",
      "action Committed person",
    ]);
  });

  test("stopped by its channel: rejected too", async () => {
    const bench = await MindBench.open();
    const id = await waiting(bench);
    const [, worker] = (await bench.service.get(id)).processes;
    bench.model = (question) =>
      lastText(question) === "stop it"
        ? { call: [{ tool: "cancel", arguments: { process: worker?.id } }] }
        : { say: "ok" };
    await bench.send(id, "stop it");
    await until("the rejection", () => bench.actions.get("a1")?.state === "Rejected");
    await bench.rested(id);
    expect(bench.actions.get("a1")?.decided_by).toBeUndefined();
    expect(await bench.decisions(id)).toEqual([
      "action PendingApproval workspace",
      "action Rejected workspace",
    ]);
    expect(await statesOf(bench, id)).toContain("worker Cancelled");
  });

  test.each(["while no kernel runs", "after the next kernel continued"])(
    "a kernel died meanwhile, and it is decided %s: success, once",
    async (when) => {
      const bench = await MindBench.open();
      const id = await waiting(bench);
      await bench.stop();
      if (when === "while no kernel runs") bench.decideLater("a1", "Committed");
      await bench.start();
      if (when !== "while no kernel runs") {
        await until("the call to be made again", () => bench.calls.length === 2);
        bench.decide("a1", "Committed");
      }
      expect(await resultOf(bench, id)).toMatchObject({ status: "success" });
      expect(await bench.decisions(id)).toEqual([
        "action PendingApproval workspace",
        "action Committed person",
      ]);
      const [first, second] = bench.calls;
      expect(second).toBe(first);
    },
  );

  test.each([
    ["waits: it is rejected", "PendingApproval", "Rejected workspace"],
    ["was committed: that is written down", "Committed", "Committed person"],
  ] as const)(
    "a kernel died between the end of its worker, which was stopped, and its own, and it %s",
    async (_, state, end) => {
      const bench = await MindBench.open();
      const id = await waiting(bench);
      await bench.stop();
      await bench.start({ isContinuing: false });
      {
        using opened = await bench.minds.conversations.open(id);
        const { log } = opened;
        const worker = log.state.processes.find(({ kind }) => kind === "worker");
        if (worker === undefined) throw new Error("There is no worker.");
        await log.append(stopped(log.state, worker, systemClock));
      }
      if (state === "Committed") bench.decideLater("a1", state);
      await bench.restart();
      await until("the action's end", async () => (await bench.decisions(id)).length === 2);
      expect(await bench.decisions(id)).toEqual(["action PendingApproval workspace", `action ${end}`]);
      expect(end).toContain(bench.actions.get("a1")?.state);
      expect(await statesOf(bench, id)).toContain("worker Cancelled");
    },
  );
});
