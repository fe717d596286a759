import { expect, test } from "vitest";
import { type CpuBudget, unlimitedCpu } from "../../base/cpu-budget.ts";
import { WorkThread } from "./work-thread.ts";

interface Answer {
  readonly request: string;
  readonly threadId: number;
}

const open = (maxCpuMs = 60_000, maxWallMs = 60_000): WorkThread<string, Answer> =>
  new WorkThread({
    entry: new URL("../testing/work-thread-main.ts", import.meta.url),
    workerData: null,
    name: "test",
    task: "The test",
    maxCpuMs,
    maxWallMs,
    maxHeapMb: 32,
  });

/** A budget that remembers what was charged. */
function budgetOf(allowedMs: number): CpuBudget & { readonly spentMs: number } {
  let spentMs = 0;
  return {
    limit: "test_limit",
    allowedMs,
    leftMs: () => allowedMs - spentMs,
    charge: (ms) => (spentMs += ms),
    get spentMs() {
      return spentMs;
    },
  };
}

test("requests are answered in order by one thread", async () => {
  await using thread = open();
  const answers = await Promise.all(["a", "b", "c"].map((request) => thread.run(request, unlimitedCpu)));
  expect(answers.map(({ request }) => request)).toEqual(["a", "b", "c"]);
  expect(new Set(answers.map(({ threadId }) => threadId)).size).toBe(1);
});

test.each<[string, object]>([
  ["spin", { code: "LimitExceeded", facts: { limit: "maxCpuMs", value: 500 } }],
  ["fill", { code: "LimitExceeded", facts: { limit: "maxHeapMb", value: 32 } }],
  ["die", { code: "InternalError", message: "The test did not end: its thread ended (It dies.)." }],
])(
  "a request that makes it %s costs its own answer and the thread; the next is answered by another",
  async (fault, error) => {
    await using thread = open(fault === "spin" ? 500 : undefined);
    const { threadId } = await thread.run("before", unlimitedCpu);
    const [failed, next] = await Promise.allSettled([
      thread.run(fault, unlimitedCpu),
      thread.run("after", unlimitedCpu),
    ]);
    expect(failed).toMatchObject({ status: "rejected", reason: error });
    expect(next).toMatchObject({ status: "fulfilled", value: { request: "after" } });
    expect((next as PromiseFulfilledResult<Answer>).value.threadId).not.toBe(threadId);
  },
);

test.each<[string, object]>([
  ["refuse", { code: "InvalidParams", message: "No.", facts: { why: "test" } }],
  ["throw", { code: "InternalError", message: "It throws." }],
])("a request that makes it %s is answered with that error, and the thread stays", async (fault, error) => {
  await using thread = open();
  const { threadId } = await thread.run("before", unlimitedCpu);
  await expect(thread.run(fault, unlimitedCpu)).rejects.toMatchObject(error);
  expect(await thread.run("after", unlimitedCpu)).toEqual({ request: "after", threadId });
});

test("the CPU time is charged to the budget, and work that exceeds it is ended with its error", async () => {
  await using thread = open();
  await thread.run("before", unlimitedCpu);
  const budget = budgetOf(300);
  const limit = { code: "LimitExceeded", facts: { limit: "test_limit", value: 300 } };
  await expect(thread.run("spin", budget)).rejects.toMatchObject(limit);
  expect(budget.spentMs).toBeGreaterThanOrEqual(300);
  // Nothing is left: it is not even begun.
  await expect(thread.run("again", budget)).rejects.toMatchObject(limit);
});

test("time that passes without computing is not CPU time", async () => {
  await using thread = open(300);
  await thread.run("before", unlimitedCpu);
  expect(await thread.run("wait", unlimitedCpu)).toMatchObject({ request: "wait" });
});

test("a request that is stuck without computing is ended too", async () => {
  await using thread = open(undefined, 100);
  await thread.run("before", unlimitedCpu);
  await expect(thread.run("wait", unlimitedCpu)).rejects.toMatchObject({ facts: { limit: "maxWallMs" } });
});

test("disposing ends it while it computes", async () => {
  const thread = open();
  await thread.run("before", unlimitedCpu);
  const spinning = expect(thread.run("spin", unlimitedCpu)).rejects.toMatchObject({ code: "Busy" });
  await thread[Symbol.asyncDispose]();
  await spinning;
  await expect(thread.run("a", unlimitedCpu)).rejects.toMatchObject({ code: "Busy" });
});
