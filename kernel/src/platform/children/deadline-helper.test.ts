import process from "node:process";
import { expect, test } from "vitest";
import { DeadlineHelper } from "./deadline-helper.ts";

interface Answer {
  readonly request: string;
  readonly pid: number;
}

const open = (deadlineMs = 60_000): DeadlineHelper<string, Answer> =>
  new DeadlineHelper({
    entry: new URL("../testing/deadline-helper-main.ts", import.meta.url),
    readable: [new URL("../../", import.meta.url)],
    task: "The test",
    deadlineMs,
    maxHeapMb: 32,
  });

test("requests are answered in order, all by one process of its own, long ones too", async () => {
  await using helper = open();
  const requests = ["a", "ä\n".repeat(500_000), "c"];
  const answers = await Promise.all(requests.map((request) => helper.run(request)));
  expect(answers.map(({ request }) => request)).toEqual(requests);
  const pids = new Set(answers.map(({ pid }) => pid));
  expect([pids.size, pids.has(process.pid)]).toEqual([1, false]);
});

test.each<[string, number, object]>([
  ["spin", 500, { code: "LimitExceeded", message: "The test took longer than 500 ms." }],
  ["fill", 60_000, { code: "LimitExceeded", facts: { limit: "maxHeapMb", value: 32 } }],
  ["throw", 60_000, { code: "InternalError", message: "The test failed: It throws." }],
  [
    "exit",
    60_000,
    { code: "LimitExceeded", message: "The test did not end: its process ended with exit code 3." },
  ],
])(
  "one told to %s costs its own answer and the process; the next is answered by another",
  async (fault, deadlineMs, error) => {
    await using helper = open(deadlineMs);
    const { pid } = await helper.run("before");
    const [failed, next] = await Promise.allSettled([helper.run(fault), helper.run("after")]);
    expect(failed).toMatchObject({ status: "rejected", reason: error });
    expect(next).toMatchObject({ status: "fulfilled", value: { request: "after" } });
    expect((next as PromiseFulfilledResult<Answer>).value.pid).not.toBe(pid);
  },
);

test.runIf(process.platform === "linux")(
  "a process that got no processor for longer than its deadline is not ended",
  async () => {
    const deadlineMs = 300;
    await using helper = open(deadlineMs);
    const { pid } = await helper.run("before");
    process.kill(pid, "SIGSTOP");
    const answered = helper.run("after");
    // The machine is busy with something else.
    setTimeout(() => process.kill(pid, "SIGCONT"), 3 * deadlineMs);
    expect(await answered).toEqual({ request: "after", pid });
  },
);

test("a process that was killed between two requests is replaced", async () => {
  await using helper = open();
  const { pid } = await helper.run("before");
  process.kill(pid, "SIGKILL");
  for (;;) {
    // The first one may still have been sent to it.
    const after = await helper.run("after").catch(() => null);
    if (after === null) continue;
    expect(after.pid).not.toBe(pid);
    break;
  }
});

test("once closed, it gets no more requests", async () => {
  const helper = open();
  await helper.run("a");
  await helper[Symbol.asyncDispose]();
  await expect(helper.run("b")).rejects.toMatchObject({ code: "Busy" });
});
