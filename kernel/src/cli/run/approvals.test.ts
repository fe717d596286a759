import { describe, expect, it } from "vitest";
import { KernelClient } from "../kernel-client.ts";
import { anAction, FakeKernel } from "../testing/fake-kernel.ts";
import { Approvals, type Answer, type ApprovalMode } from "./approvals.ts";

type Decided = "approve" | "reject" | "later" | "quit";

async function start(mode: ApprovalMode, answers: (Decided | Answer)[] = []) {
  const kernel = new FakeKernel();
  const asked: [id: string, waiting: number][] = [];
  const remarks: string[] = [];
  let quits = 0;
  const client = new KernelClient(await kernel.connect({ folder: "/w" }));
  const approvals = new Approvals(mode, {
    kernel: client,
    ask: (action, waiting) => {
      asked.push([action.id, waiting]);
      const answer = answers.shift() ?? "later";
      return Promise.resolve(typeof answer === "string" ? { decide: answer } : answer);
    },
    remark: (text) => void remarks.push(text),
    quit: () => void (quits += 1),
  });
  const propose = (...ids: string[]) => {
    for (const id of ids) {
      kernel.actions.set(id, anAction(id));
      approvals.offer(anAction(id));
    }
  };
  const states = () => [...kernel.actions.values()].map(({ state }) => state);
  return { kernel, approvals, asked, remarks, propose, states, quits: () => quits };
}

describe("deciding on proposals", () => {
  it("asks one at a time, in order of arrival, and each only once", async () => {
    const run = await start("ask", ["approve", "reject", "later"]);
    run.propose("a", "b", "c", "a");
    expect(run.approvals.isBusy).toBe(true);
    await run.approvals.settled();
    expect(run.asked).toEqual([
      ["a", 2],
      ["b", 1],
      ["c", 0],
    ]);
    expect(run.states()).toEqual(["Committed", "Rejected", "PendingApproval"]);
    expect(run.approvals.isBusy).toBe(false);
  });

  it("approves what was shown: by its digest", async () => {
    const rules = [{ decide: "allow" as const, path: "a" }];
    const run = await start("ask", [{ decide: "always", rules }]);
    run.propose("a");
    await run.approvals.settled();
    const approve = run.kernel.requests.find(({ method }) => method === "lares/actions/approve");
    expect(approve?.params).toEqual({ id: "a", digest: anAction("a").digest, remember: "always", rules });
  });

  it("passes on the reason of a rejection", async () => {
    const run = await start("ask", [{ decide: "reject", reason: "too short" }]);
    run.propose("a");
    await run.approvals.settled();
    const reject = run.kernel.requests.find(({ method }) => method === "lares/actions/reject");
    expect(reject?.params).toEqual({ id: "a", reason: "too short" });
  });

  it("mode all approves everything without asking", async () => {
    const run = await start("all");
    run.propose("a", "b");
    await run.approvals.settled();
    expect(run.asked).toEqual([]);
    expect(run.states()).toEqual(["Committed", "Committed"]);
  });

  it.each(["policy", "none"] as const)("mode %s leaves them pending", async (mode) => {
    const run = await start(mode);
    run.propose("a");
    await run.approvals.settled();
    expect(run.states()).toEqual(["PendingApproval"]);
  });

  it("does not ask about one that was decided elsewhere while it was queued", async () => {
    const run = await start("ask", ["approve"]);
    run.propose("a", "b");
    run.approvals.offer({ id: "b", state: "Rejected" });
    await run.approvals.settled();
    expect(run.asked.map(([id]) => id)).toEqual(["a"]);
  });

  it("continues with the next if one cannot be decided", async () => {
    const run = await start("all");
    run.propose("a", "b");
    run.kernel.actions.delete("a");
    await run.approvals.settled();
    expect(run.remarks).toEqual(['That proposal could not be decided: There is no action "a".']);
    expect(run.states()).toEqual(["Committed"]);
  });

  it("quitting leaves the rest pending and asks nothing more", async () => {
    const run = await start("ask", ["quit"]);
    run.propose("a", "b");
    await run.approvals.settled();
    run.propose("c");
    await run.approvals.settled();
    expect(run.quits()).toBe(1);
    expect(run.asked).toHaveLength(1);
    expect(new Set(run.states())).toEqual(new Set(["PendingApproval"]));
  });
});
