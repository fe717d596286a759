import { describe, expect, it } from "vitest";
import { LaresError, storageError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { begunAt, lineageUnder, ownAccord, personAt } from "../../base/vocabulary/principal.ts";
import { putBackRetryMs } from "../delivery/delivery.ts";
import { cancelGraceMs } from "./job-loop.ts";
import { jobsChangedEveryMs } from "../lifecycle/reports.ts";
import { never, returnsWhenTold, setUpJobs as setUp } from "../testing/jobs-test.ts";

type Test = ReturnType<typeof setUp>;

/** Completed, failed, cancelled. */
const counts = ({ supervisor }: Test): unknown[] => {
  const { jobs_completed, jobs_failed, jobs_cancelled } = supervisor.describe().metrics;
  return [jobs_completed, jobs_failed, jobs_cancelled];
};
const cancel = (test: Test, id: string): Promise<unknown> => test.supervisor.jobs.cancel(personAt(), id);
const methods = (test: Test): string[] =>
  test.guests.flatMap(({ asked }) => asked.map(({ method }) => method));
/** A handler that returns, or throws, once it is told that its job is cancelled. */
const leaves = (answer: () => unknown = () => ({})) => returnsWhenTold(answer, "cancelJob");

describe("a job that waits", () => {
  it.each([
    ["behind another", {}],
    ["for a quiet moment", { whenIdle: true }],
  ])("%s is gone, never run, and its key is free", async (_what, change) => {
    const test = setUp(() => (test.asked().length === 1 ? never : {}));
    await test.enqueue();
    const id = await test.enqueue({ key: "k", ...change });
    await test.settle();
    expect(await cancel(test, id)).toMatchObject({ id, state: "Cancelled", key: "k" });
    const next = await test.enqueue({ key: "k" });
    expect(next).not.toBe(id);
    expect(methods(test)).not.toContain("cancelJob");
    expect(counts(test)).toEqual([0, 0, 1]);
    expect(test.traces).toContain("the job work was cancelled by a person");
    test.guests[0]?.die("exited");
    await test.settle(60_000);
    expect(test.jobs.completed).toEqual(["job-1", next]);
  });

  it("and that was dispatched while a person stopped what it is for, never runs", async () => {
    const test = setUp();
    const actor = {
      kind: "process",
      process: "worker",
      agent: "dev.mind",
      conversation: "c",
      id: "w",
    } as const;
    const lineage = lineageUnder(begunAt({ ...actor, lineage: ownAccord }, newId()));
    test.stopped.stop("c", ["w"]);
    await test.enqueue({ lineage });
    const next = await test.enqueue({
      lineage: lineageUnder(begunAt({ ...actor, lineage: ownAccord }, newId())),
    });
    await test.settle();
    expect(test.jobs.cancelled).toEqual(["job-1"]);
    expect(test.jobs.completed).toEqual([next]);
  });

  it("for its next attempt is not retried, and does not prevent idleness, which is reported", async () => {
    let rested = 0;
    const test = setUp(
      (_params, guest) => {
        guest.die("out of memory");
        return never;
      },
      undefined,
      undefined,
      { rested: () => void (rested += 1) },
    );
    const id = await test.enqueue();
    await test.settle();
    expect(test.jobs.jobs[0]).toMatchObject({ attempts: 1 });
    rested = 0;
    await cancel(test, id);
    expect(test.supervisor.isIdle).toBe(true);
    expect(rested).toBe(1);
    await test.settle(600_000);
    expect(test.asked()).toHaveLength(1);
  });

  it("of an agent that is suspended is gone when it is resumed", async () => {
    const test = setUp();
    await test.supervisor.control(personAt(), "suspend");
    const id = await test.enqueue();
    expect(await cancel(test, id)).toMatchObject({ state: "Cancelled" });
    await Promise.all([test.supervisor.control(personAt(), "resume"), test.settle(10_000)]);
    expect(test.asked()).toEqual([]);
  });

  it("and is being handed out at that moment is not begun, and the one behind it is", async () => {
    const test = setUp();
    // Awake: what is handed out is begun at once.
    await test.enqueue();
    await test.settle();
    const next = test.jobs.next.bind(test.jobs);
    let isFirst = true;
    test.jobs.next = async (...of) => {
      const job = await next(...of);
      if (isFirst && job !== null) await cancel(test, job.id);
      isFirst = false;
      return job;
    };
    await test.enqueue();
    await test.enqueue();
    await test.settle();
    expect(test.jobs.completed).toEqual(["job-1", "job-3"]);
    expect(test.asked()).toHaveLength(2);
    expect(counts(test)).toEqual([2, 0, 1]);
  });
});

describe("a job that runs", () => {
  it.each([
    ["returns", leaves()],
    ["throws", leaves(() => Promise.reject(new Error("aborted")))],
  ])(
    "and %s when it is told: cancelled, neither completed nor failed; its guest continues",
    async (_what, run) => {
      const test = setUp((params, guest) => (params["id"] === "job-1" ? run(params, guest) : {}));
      const id = await test.enqueue();
      await test.settle(1500);
      expect(await cancel(test, id)).toMatchObject({ id, state: "Cancelling" });
      await test.enqueue();
      await test.settle(60_000);
      expect(counts(test)).toEqual([1, 0, 1]);
      expect(test.jobs.completed).toEqual(["job-2"]);
      expect(test.guests).toHaveLength(1);
      expect(methods(test)).not.toContain("shutdown");
      expect(test.reported.filter(({ id: of }) => of === id).at(-1)).toMatchObject({
        kind: "end",
        outcome: "cancelled",
      });
      expect(test.supervisor.state).toBe("Active");
    },
  );

  it("and ignores it is ended with its guest; an event in hand and the next job are not lost", async () => {
    const held = Promise.withResolvers<void>();
    const test = setUp(
      (params) => (params["id"] === "job-1" ? never : {}),
      () => (test.guests.length === 1 ? held.promise : {}),
    );
    const id = await test.enqueue({ key: "k" });
    await test.settle();
    test.queue.push("seen");
    test.supervisor.pump();
    await test.settle();
    await cancel(test, id);
    expect(test.supervisor.jobs.running).toMatchObject({ id, state: "Cancelling" });
    // Its key is free at once, and the next one waits until the guest has ended it.
    const next = await test.enqueue({ key: "k" });
    await test.settle(cancelGraceMs - 1);
    expect(test.asked()).toHaveLength(1);
    expect(methods(test)).not.toContain("shutdown");
    await test.settle(60_000);
    expect(test.guests).toHaveLength(2);
    expect(test.queue.acknowledged).toEqual([1]);
    expect(test.queue.buried).toEqual([]);
    expect(test.jobs.completed).toEqual([next]);
    expect(counts(test)).toEqual([1, 0, 1]);
    expect(test.traces.join("\n")).toContain("continued for 2000 ms");
    expect(test.reported.filter(({ id: of }) => of === id).at(-1)).toMatchObject({
      kind: "end",
      outcome: "cancelled",
    });
    // It does not count against the agent.
    expect(test.supervisor.reason).toBeNull();
  });

  it("in a guest that does not know the word is ended at once", async () => {
    const test = setUp((_params, guest) => {
      const request = guest.request.bind(guest);
      guest.request = (method, params) =>
        method === "cancelJob"
          ? Promise.reject(new LaresError("MethodNotFound", 'This guest has no method "cancelJob".'))
          : request(method, params);
      return never;
    });
    await cancel(
      test,
      await (async () => {
        const id = await test.enqueue();
        await test.settle();
        return id;
      })(),
    );
    await test.settle();
    expect(test.guests[0]?.isGone).toBe(true);
    expect(test.jobs.jobs).toEqual([]);
  });

  it("whose guest dies at that moment is not run again, whichever came first", async () => {
    for (const isFirst of [true, false]) {
      const test = setUp(() => never);
      const id = await test.enqueue();
      await test.settle();
      const cancelled = isFirst ? cancel(test, id) : null;
      test.guests[0]?.die("out of memory");
      await (cancelled ?? cancel(test, id));
      await test.settle(600_000);
      expect(test.asked()).toHaveLength(1);
      expect(counts(test)).toEqual([0, 0, 1]);
      expect(test.jobs.jobs).toEqual([]);
    }
  });

  it("whose agent is suspended while it leaves is not run again when it is resumed", async () => {
    const test = setUp(() => never);
    const id = await test.enqueue();
    await test.settle();
    await cancel(test, id);
    await Promise.all([test.supervisor.control(personAt(), "suspend"), test.settle(10_000)]);
    await Promise.all([test.supervisor.control(personAt(), "resume"), test.settle(10_000)]);
    expect(test.asked()).toHaveLength(1);
    expect(test.supervisor.state).toBe("Active");
  });

  it("gets no more checkpoints, and an attempt is refused", async () => {
    const test = setUp(() => never);
    const id = await test.enqueue();
    await test.settle();
    const before = test.guests[0]?.handlers.call("jobs/checkpoint", { data: "kept" });
    await before;
    await cancel(test, id);
    await expect(test.guests[0]?.handlers.call("jobs/checkpoint", { data: "late" })).rejects.toMatchObject({
      code: "IllegalTransition",
      facts: { state: "Cancelled" },
    });
    expect(() => test.supervisor.jobs.progress(id, 0.5)).toThrow(/cancelled/);
    await test.settle(10_000);
  });
});

describe("a job that ends at that moment", () => {
  it.each([
    ["returned", () => ({}), [1, 0, undefined], "completed"],
    ["threw", () => Promise.reject(new LaresError("ToolError", "boom")), [0, 1, undefined], "failed"],
  ] as const)("and %s first has ended: the person is told so", async (_what, run, expected, outcome) => {
    const gate = Promise.withResolvers<void>();
    const test = setUp(() => gate.promise.then(run));
    const id = await test.enqueue();
    // This is the last attempt.
    test.jobs.jobs = test.jobs.jobs.map((job) => ({ ...job, attempts: 2, failures: 2 }));
    await test.settle(1500);
    const held = Promise.withResolvers<void>();
    test.jobs.gate = held.promise;
    gate.resolve();
    await test.settle();
    const refused = expect(cancel(test, id)).rejects.toBeInstanceOf(LaresError);
    held.resolve();
    await refused;
    await test.settle();
    expect(counts(test)).toEqual(expected);
    expect(test.reported.at(-1)).toMatchObject({ kind: "end", outcome });
  });

  it.each([
    ["returned", () => ({})],
    ["threw", () => Promise.reject(new LaresError("ToolError", "boom"))],
  ] as const)("and %s second is cancelled: it counts once, and is shown as that", async (_what, run) => {
    const gate = Promise.withResolvers<void>();
    const test = setUp(() => gate.promise.then(run));
    const id = await test.enqueue();
    await test.settle(1500);
    const held = Promise.withResolvers<void>();
    test.jobs.gate = held.promise;
    const cancelled = cancel(test, id);
    gate.resolve();
    await test.settle();
    held.resolve();
    await cancelled;
    await test.settle();
    expect(counts(test)).toEqual([0, 0, 1]);
    expect([test.jobs.completed, test.jobs.failed]).toEqual([[], []]);
    expect(test.reported.at(-1)).toMatchObject({ kind: "end", outcome: "cancelled" });
    expect(test.supervisor.isIdle).toBe(true);
  });

  it("two at once: one of them did it, and it counts once", async () => {
    const test = setUp(() => never);
    const id = await test.enqueue();
    await test.settle();
    const both = await Promise.allSettled([cancel(test, id), cancel(test, id)]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(counts(test)).toEqual([0, 0, 1]);
    await test.settle(10_000);
  });

  it("a cancellation that cannot be stored has no effect: the job continues, and the guest is not notified", async () => {
    const gate = Promise.withResolvers<void>();
    const test = setUp(() => gate.promise);
    const id = await test.enqueue();
    await test.settle();
    test.jobs.fault = storageError("the disk is full");
    await expect(cancel(test, id)).rejects.toMatchObject({ code: "StorageError" });
    test.jobs.fault = null;
    expect(methods(test)).not.toContain("cancelJob");
    gate.resolve();
    await test.settle(putBackRetryMs);
    expect(counts(test)).toEqual([1, 0, undefined]);
  });
});

describe("what a person is shown", () => {
  it("the running job, with its last report and whether it has saved; nothing between jobs", async () => {
    const test = setUp(leaves());
    expect(test.supervisor.jobs.running).toBeNull();
    const id = await test.enqueue({ key: "k" });
    await test.settle();
    expect(test.supervisor.jobs.running).toMatchObject({
      id,
      state: "Running",
      attempt: 1,
      checkpoint: false,
      key: "k",
    });
    test.supervisor.jobs.progress(id, 0.25, "a quarter");
    await test.guests[0]?.handlers.call("jobs/checkpoint", { data: 1 });
    expect(test.supervisor.jobs.running).toMatchObject({
      progress: { fraction: 0.25, message: "a quarter" },
      checkpoint: true,
    });
    await cancel(test, id);
    await test.settle();
    expect(test.supervisor.jobs.running).toBeNull();
  });

  it("progress reports cause a notification at once and then at most once a second", async () => {
    const test = setUp(() => never);
    let told = 0;
    const id = await test.enqueue();
    await test.settle(5000);
    test.supervisor.jobsChanged.on(() => (told += 1));
    for (let n = 0; n < 1000; n++) {
      test.supervisor.jobs.progress(id, n / 1000);
      if (n === 0) expect(told).toBe(1);
      await test.settle(5);
    }
    expect(told).toBeLessThanOrEqual(5000 / jobsChangedEveryMs + 1);
    expect(told).toBeGreaterThanOrEqual(5);
  });
});
