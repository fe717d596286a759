import { describe, expect, it } from "vitest";
import { LaresError, storageError } from "../../base/errors.ts";
import { personAt } from "../../base/vocabulary/principal.ts";
import { putBackRetryMs } from "../delivery/delivery.ts";
import { definitionOf } from "../testing/fake-guest.ts";
import { never, returnsWhenTold, setUpJobs as setUp, withJobs } from "../testing/jobs-test.ts";

describe("running", () => {
  it("wakes a sleeping agent for a job, runs one after the other, and is idle only then", async () => {
    const test = setUp();
    await test.enqueue({ input: 1 });
    await test.enqueue({ input: 2 });
    expect(test.supervisor.isIdle).toBe(false);
    await test.settle();
    expect(test.asked().map(({ params }) => params)).toEqual([
      { id: "job-1", name: "work", input: 1 },
      { id: "job-2", name: "work", input: 2 },
    ]);
    expect(test.jobs.completed).toEqual(["job-1", "job-2"]);
    expect(test.supervisor.isIdle).toBe(true);
  });

  it("runs beside events: one that arrives while a job waits is handled at once", async () => {
    const test = setUp(() => never);
    await test.enqueue();
    await test.settle();
    test.queue.push("seen");
    test.supervisor.pump();
    await test.settle();
    expect(test.queue.acknowledged).toEqual([1]);
    expect(test.supervisor.isIdle).toBe(false);
    expect(test.supervisor.idleSince).toBeNull();
  });

  it("a name that the program does not have is refused when it is dispatched, and a failure when it is due", async () => {
    const test = setUp();
    await test.enqueue({ name: "gone" });
    await test.settle();
    expect(test.jobs.failed).toEqual([
      { id: "job-1", reason: 'The program has no job "gone"; it has "work".' },
    ]);
    const request = { input: null, priority: "normal", whenIdle: false } as const;
    await expect(test.supervisor.jobs.dispatch({ ...request, name: "gone" })).rejects.toMatchObject({
      code: "NotFound",
    });
    await test.supervisor.jobs.dispatch({ ...request, name: "work" });
    await test.settle();
    expect(test.metrics()).toEqual([1, 1, 1]);
  });

  it("without the permission it waits without blocking idleness; granted again, it runs", async () => {
    const test = setUp();
    await test.supervisor.update(definitionOf(withJobs({})));
    await test.enqueue();
    await test.settle(60_000);
    expect(test.asked()).toEqual([]);
    expect(test.supervisor.isIdle).toBe(true);
    await test.supervisor.update(definitionOf(withJobs()));
    await test.settle();
    expect(test.jobs.completed).toEqual(["job-1"]);
  });

  it("one that waits for a quiet moment is left alone until it is given one, and does not keep the agent from being quiet", async () => {
    const test = setUp();
    await test.enqueue({ whenIdle: true });
    await test.settle(60_000);
    expect(test.asked()).toEqual([]);
    expect([test.supervisor.isQuiet, test.supervisor.isIdle]).toEqual([true, false]);
    expect(test.supervisor.idleJobDueAt()).toBe(0);
    test.supervisor.startIdleJob();
    await test.settle();
    expect(test.jobs.completed).toEqual(["job-1"]);
    expect(test.supervisor.idleJobDueAt()).toBeNull();
  });
});

it("a changed concurrency counts for the tasks of the running job", async () => {
  const test = setUp(() => never);
  const job = await test.enqueue();
  await test.settle();
  for (const key of ["1", "2", "3"]) {
    const task = { name: "part", input: key, key, attempts: 1, backoffMs: 1 };
    void test.supervisor.tasks.run(job, task).catch(() => undefined);
  }
  const tasks = () => test.guests[0]?.asked.filter(({ method }) => method === "task").length;
  await test.settle();
  expect(tasks()).toBe(2);
  await test.supervisor.update(definitionOf({ ...withJobs(), concurrency: 3 }));
  await test.settle();
  expect(tasks()).toBe(3);
});

describe("ends that are not a job's own", () => {
  it("thrown: tried three times with pauses, then dead; three dead in a row suspend the agent", async () => {
    const test = setUp(() => Promise.reject(new LaresError("ToolError", "boom")));
    await test.enqueue();
    await test.settle();
    expect(test.asked()).toHaveLength(1);
    expect(test.jobs.failed).toEqual([]);
    for (let n = 0; n < 2; n++) await test.enqueue();
    for (let step = 0; step < 20; step++) await test.settle(100);
    expect(test.asked()).toHaveLength(9);
    expect(test.jobs.failed.map(({ reason }) => reason)).toEqual(["boom", "boom", "boom"]);
    expect(test.supervisor.state).toBe("Suspended");
    expect(test.supervisor.reason).toContain("the job work failed: boom");
    expect(test.metrics()).toEqual([0, 0, 3]);
  });

  it("thrown after a checkpoint each time: it continues from there, and not for ever", async () => {
    let run = 0;
    const test = setUp(async (_params, guest) => {
      run += 1;
      await guest.handlers.call("jobs/checkpoint", { data: `after ${String(run)}` });
      throw new LaresError("ToolError", "boom");
    });
    await test.enqueue();
    await test.settle(600_000);
    expect(test.asked().map(({ params }) => params["checkpoint"])).toEqual([undefined, "after 1", "after 2"]);
    expect(test.jobs.failed).toHaveLength(1);
  });

  it("thrown once: the second attempt completes it, and nothing counts against the agent", async () => {
    let run = 0;
    const test = setUp(() => {
      run += 1;
      return run === 1 ? Promise.reject(new LaresError("ToolError", "boom")) : {};
    });
    await test.enqueue();
    await test.settle(60_000);
    expect(test.jobs.completed).toEqual(["job-1"]);
    expect(test.metrics()).toEqual([0, 1, 0]);
  });

  it("a lost guest: from the last checkpoint again, with pauses; given up the third time without one", async () => {
    let run = 0;
    const test = setUp(async (_params, guest) => {
      run += 1;
      if (run === 2) await guest.handlers.call("jobs/checkpoint", { data: "half" });
      guest.die("out of memory");
      return never;
    });
    await test.enqueue();
    // An agent that ends so often is suspended for a while in between.
    await test.settle(600_000);
    expect(test.asked().map(({ params }) => params["checkpoint"])).toEqual([
      undefined,
      undefined,
      "half",
      "half",
    ]);
    expect(test.jobs.failed).toHaveLength(1);
    const again = test.traces.flatMap((message) => /did not finish and (.*?):/.exec(message)?.[1] ?? []);
    expect(again).toEqual([
      "begins again",
      "continues from its last checkpoint",
      "continues from its last checkpoint",
    ]);
    expect(test.guests.slice(0, 4).map(({ budgets }) => budgets)).toEqual([0, 1, 0, 0]);
  });

  it("lost with an event in hand: this counts against the event, which is dead-lettered, and the job continues", async () => {
    let lost = 0;
    const test = setUp(
      () => (lost < 3 ? never : {}),
      (_params, guest) => {
        lost += 1;
        guest.die("exited");
        return never;
      },
    );
    await test.enqueue();
    await test.settle();
    test.queue.push("seen");
    test.supervisor.pump();
    await test.settle(600_000);
    expect(test.queue.buried.map(({ seq }) => seq)).toEqual([1]);
    expect(test.jobs.completed).toEqual(["job-1"]);
    expect(test.jobs.failed).toEqual([]);
  });

  it.each([
    ["suspended, and does not answer", () => never],
    ["suspended, and returns when it is told to go", returnsWhenTold(() => ({}))],
    [
      "suspended, and throws when it is told to go",
      returnsWhenTold(() => Promise.reject(new Error("aborted"))),
    ],
  ])(
    "an agent that is %s: the job stays and continues from its checkpoint when resumed",
    async (_what, first) => {
      let isFirst = true;
      const test = setUp((params, guest) => {
        if (!isFirst) return {};
        isFirst = false;
        return guest.handlers.call("jobs/checkpoint", { data: 7 }).then(() => first(params, guest));
      });
      await test.enqueue();
      await test.settle();
      await Promise.all([test.supervisor.control(personAt(), "suspend"), test.settle(10_000)]);
      expect([test.jobs.completed, test.jobs.failed]).toEqual([[], []]);
      await Promise.all([test.supervisor.control(personAt(), "resume"), test.settle()]);
      expect(test.asked().at(-1)?.params).toMatchObject({ id: "job-1", checkpoint: 7 });
      expect(test.jobs.completed).toEqual(["job-1"]);
      expect(test.metrics()).toEqual([0, 1, 0]);
    },
  );

  it("trouble of the machine under a job: tried again a few times, then failed", async () => {
    const test = setUp(() => Promise.reject(storageError("the disk is full")));
    await test.enqueue();
    for (let n = 0; n < 10; n++) await test.settle(200);
    expect(test.asked()).toHaveLength(3);
    expect(test.jobs.failed).toEqual([{ id: "job-1", reason: "the disk is full" }]);
  });

  it("an end that the disk does not take: written down later, and the job is not run once more", async () => {
    const test = setUp();
    test.jobs.fault = storageError("the disk is full");
    await test.enqueue();
    await test.settle(putBackRetryMs * 3);
    expect(test.asked()).toHaveLength(1);
    test.jobs.fault = null;
    await test.settle(putBackRetryMs);
    expect(test.jobs.completed).toEqual(["job-1"]);
    expect(test.asked()).toHaveLength(1);
  });

  it("an event that takes long leaves the jobs at rest: they are not asked for again and again", async () => {
    const test = setUp(undefined, () => never);
    const next = test.jobs.next.bind(test.jobs);
    let asks = 0;
    test.jobs.next = (...of) => {
      asks += 1;
      if (asks > 50) throw new Error("That is enough.");
      return next(...of);
    };
    test.queue.push("seen");
    test.supervisor.pump();
    await test.settle(500);
    expect(asks).toBeLessThan(10);
    await test.enqueue();
    await test.settle();
    expect(test.jobs.completed).toEqual(["job-1"]);
  });

  it.each(["job", "event"] as const)(
    "a next %s that the disk does not give is asked for again after a pause each time, and handled when it does",
    async (what) => {
      const test = setUp();
      const queue = what === "job" ? test.jobs : test.queue;
      queue.readFaults = Array.from({ length: 5 }, () => storageError("the disk does not answer"));
      if (what === "job") await test.enqueue();
      else test.queue.push("seen");
      test.supervisor.pump();
      for (let left = 4; left > 0; left--) {
        await test.settle(putBackRetryMs - 1);
        expect(queue.readFaults).toHaveLength(left);
        await test.settle(1);
      }
      expect(test.traces.filter((message) => message.includes("does not answer"))).toHaveLength(5);
      await test.settle(putBackRetryMs);
      expect([test.jobs.completed.length, test.queue.acknowledged.length]).toEqual(
        what === "job" ? [1, 0] : [0, 1],
      );
    },
  );
});

it("a refusal names some of the jobs that the program has, however many they are", async () => {
  const test = setUp(undefined, undefined, [
    "work",
    ...Array.from({ length: 1000 }, (_, n) => `${n}`.padStart(200)),
  ]);
  await test.enqueue();
  await test.settle();
  await test.enqueue({ name: "gone" });
  await test.settle();
  expect(test.jobs.failed[0]?.reason).toMatch(
    /^The program has no job "gone"; it has "work", .*, and 991 more\.$/,
  );
});

describe("reports from within a job", () => {
  it("belong to the job that ran at the time: a late checkpoint of an ended job affects no other", async () => {
    const test = setUp(() => never);
    await test.enqueue();
    await test.enqueue();
    await test.settle();
    await expect(test.supervisor.jobs.checkpoint("job-2", 1)).rejects.toMatchObject({
      code: "IllegalTransition",
    });
    await expect(test.supervisor.jobs.checkpoint(undefined, 1)).rejects.toMatchObject({
      code: "IllegalTransition",
    });
    expect(() => test.supervisor.jobs.progress("job-2", 0.5)).toThrow(/within a job/);
    expect(test.jobs.jobs.every(({ checkpoint }) => checkpoint === undefined)).toBe(true);
  });

  it("a checkpoint that is handled when the job runs in the next guest does not belong to that run", async () => {
    const test = setUp(() => never);
    await test.enqueue();
    await test.settle();
    const turn = Promise.withResolvers<void>();
    test.turns.next = turn.promise;
    const late = test.guests[0]?.handlers.call("jobs/checkpoint", { data: "old" });
    const refused = expect(late).rejects.toMatchObject({ code: "IllegalTransition" });
    await Promise.all([test.supervisor.control(personAt(), "reload"), test.settle()]);
    expect(test.asked().map(({ params }) => params["id"])).toEqual(["job-1", "job-1"]);
    turn.resolve();
    await refused;
    await test.guests[1]?.handlers.call("jobs/checkpoint", { data: "new" });
    expect(test.jobs.jobs[0]?.checkpoint).toBe("new");
  });

  it("a short job is not shown; a long one is, and its end in any case", async () => {
    const gate = Promise.withResolvers<void>();
    const test = setUp(() => gate.promise);
    await test.enqueue();
    await test.settle(999);
    expect(test.reported).toEqual([]);
    await test.settle(1);
    gate.resolve();
    await test.settle();
    const who = { id: "job-1", agent: "dev.test.agent" };
    expect(test.reported).toEqual([
      { ...who, kind: "begin", name: "work" },
      { ...who, kind: "end", outcome: "completed" },
    ]);
  });

  it("of many progress reports, ten a second are passed on, always the last one, and none after the end", async () => {
    const gate = Promise.withResolvers<void>();
    const test = setUp(() => gate.promise);
    await test.enqueue();
    await test.settle();
    for (let n = 1; n <= 1000; n++) {
      test.supervisor.jobs.progress("job-1", n / 1000, `${n}`);
      await test.settle(1);
    }
    await test.settle(100);
    const reports = test.reported.filter((one) => one.kind === "report");
    expect(reports.length).toBeLessThanOrEqual(11);
    expect(reports.at(-1)).toMatchObject({ fraction: 1, message: "1000" });
    test.supervisor.jobs.progress("job-1", 0.1);
    test.supervisor.jobs.progress("job-1", 0.2);
    gate.resolve();
    await test.settle(1000);
    expect(test.reported.at(-1)).toMatchObject({ kind: "end" });
    expect(test.reported.filter(({ kind }) => kind === "end")).toHaveLength(1);
  });
});

it("a job that saved in this run and is lost has its attempts from that checkpoint on", async () => {
  let run = 0;
  const test = setUp(async (_params, guest) => {
    run += 1;
    if (run === 3) await guest.handlers.call("jobs/checkpoint", { data: "third" });
    if (run < 4) guest.die("out of memory");
    return run < 4 ? never : {};
  });
  await test.enqueue();
  await test.settle(600_000);
  expect(test.jobs.completed).toEqual(["job-1"]);
});
