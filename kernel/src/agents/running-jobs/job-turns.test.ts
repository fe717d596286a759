import { describe, expect, it } from "vitest";
import { personAt } from "../../base/vocabulary/principal.ts";
import { placeTurnMs } from "../lifecycle/idle-tracker.ts";
import { never, setUpJobs as setUp } from "../testing/jobs-test.ts";

type Test = ReturnType<typeof setUp>;

/** Completed, failed, cancelled. */
const counts = ({ supervisor }: Test): unknown[] => {
  const { jobs_completed, jobs_failed, jobs_cancelled } = supervisor.describe().metrics;
  return [jobs_completed, jobs_failed, jobs_cancelled];
};

describe("a quiet moment", () => {
  it.each([
    ["is over when the agent is awake: the job that waits for one waits for the next", false],
    ["is still there when the agent is awake: the job begins", true],
  ])("that %s", async (_what, isQuiet) => {
    const around = { isQuiet: true };
    const test = setUp(undefined, undefined, undefined, { othersAreQuiet: () => around.isQuiet });
    const slot = Promise.withResolvers<void>();
    test.slot.next = slot.promise;
    await test.enqueue({ whenIdle: true });
    test.supervisor.startIdleJob();
    await test.settle(60_000);
    around.isQuiet = isQuiet;
    slot.resolve();
    await test.settle();
    expect(test.supervisor.state).toBe("Active");
    expect(test.asked()).toHaveLength(isQuiet ? 1 : 0);
    test.supervisor.startIdleJob();
    around.isQuiet = true;
    test.supervisor.startIdleJob();
    await test.settle();
    expect(test.jobs.completed).toEqual(["job-1"]);
  });
});

describe("an agent whose job saves and does not end", () => {
  const save = (test: Test, data: unknown): Promise<unknown> | undefined =>
    test.guests
      .at(-1)
      ?.handlers.call("jobs/checkpoint", { data })
      .catch(() => undefined);

  it("makes room at a checkpoint for a waiting agent, once it had its turn, and continues from there", async () => {
    const around = { hasWaiters: false, isCrowded: false, admit: () => undefined };
    const test = setUp(() => never, undefined, undefined, { slots: around });
    await test.enqueue();
    await test.settle(placeTurnMs);
    await save(test, 1);
    await test.settle();
    expect(test.guests).toHaveLength(1);
    around.hasWaiters = true;
    const slot = Promise.withResolvers<void>();
    test.slot.next = slot.promise;
    await save(test, 2);
    await test.settle();
    expect(test.guests[0]?.isGone).toBe(true);
    around.hasWaiters = false;
    slot.resolve();
    await test.settle();
    expect(test.asked().at(-1)?.params).toMatchObject({ id: "job-1", checkpoint: 2 });
    expect(counts(test)).toEqual([0, 0, undefined]);
    // Its turn has restarted.
    around.hasWaiters = true;
    await save(test, 3);
    await test.settle();
    expect(test.guests).toHaveLength(2);
    expect(test.guests[1]?.isGone).toBe(false);
  });

  it("does not make room while an event is in hand, which would be handled twice", async () => {
    const test = setUp(
      () => never,
      () => never,
      undefined,
      { slots: { hasWaiters: true, isCrowded: false, admit: () => undefined } },
    );
    await test.enqueue();
    await test.settle();
    test.queue.push("seen");
    test.supervisor.pump();
    await test.settle(placeTurnMs);
    await save(test, 1);
    await test.settle();
    expect(test.guests).toHaveLength(1);
    expect(test.guests[0]?.isGone).toBe(false);
  });

  it("is not at rest, and so not asked to leave, when it has just been woken for a job or a tool's call", async () => {
    for (const what of ["job", "tool"]) {
      const test = setUp();
      const seen: unknown[] = [];
      test.supervisor.changed.on(({ state }) => {
        if (state === "Active") seen.push(test.supervisor.idleSince);
      });
      if (what === "job") await test.enqueue();
      const called = what === "tool" ? test.supervisor.callTool("count", {}, personAt()) : null;
      await test.settle();
      await called;
      expect(seen).toEqual([null]);
      expect(test.supervisor.idleSince).not.toBeNull();
    }
  });

  it("between two jobs, too: each is run once", async () => {
    const test = setUp(
      () => new Promise((resolve) => void test.clock.timer(placeTurnMs, () => resolve({}))),
      undefined,
      undefined,
      { slots: { hasWaiters: true, isCrowded: false, admit: () => undefined } },
    );
    await test.enqueue();
    await test.enqueue();
    await test.settle(placeTurnMs * 3);
    expect(test.jobs.completed).toEqual(["job-1", "job-2"]);
    expect(test.asked()).toHaveLength(2);
    expect(test.guests).toHaveLength(2);
  });
});
