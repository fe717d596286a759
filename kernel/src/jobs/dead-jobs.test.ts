import { beforeEach, describe, expect, test } from "vitest";
import type { Lineage } from "../base/vocabulary/principal.ts";
import type { JobRequest } from "./jobs.ts";
import { taskKey, taskLimits } from "./tasks.ts";
import { JobBed, request } from "./testing/job-bed.ts";

const agent = "a.b";
let bed: JobBed;
beforeEach(async () => {
  bed = await JobBed.create();
});

describe("dead jobs", () => {
  const died = async (change: Partial<JobRequest> = {}): Promise<string> => {
    const { id } = await bed.jobs.dispatch(agent, request(change));
    bed.clock.advance(10);
    await bed.jobs.fail(agent, id, `no ${id}`);
    return id;
  };

  test("are listed with their last error, the latest first, of one agent or of all; also after a restart", async () => {
    const first = await died({ name: "first", priority: "high", whenIdle: true, key: "k" });
    const second = await died({ name: "second" });
    const other = (await bed.jobs.dispatch("c.d", request())).id;
    await bed.jobs.fail("c.d", other, "no");
    await bed.reopen();
    const { jobs: all, total } = await bed.jobs.dead.list(10);
    expect([all.map(({ id }) => id), total]).toEqual([[other, second, first], 3]);
    expect(await bed.jobs.dead.list(1, agent)).toMatchObject({ jobs: [{ id: second }], total: 2 });
    expect(all[2]).toMatchObject({
      name: "first",
      key: "k",
      priority: "high",
      whenIdle: true,
      error: `no ${first}`,
      failedAt: bed.clock.now() - 10,
    });
  });

  test("one that dies while they are listed is counted and listed, or neither", async () => {
    const ids = await Promise.all(
      Array.from({ length: 40 }, async () => (await bed.jobs.dispatch(agent, request())).id),
    );
    const seen: { readonly jobs: readonly unknown[]; readonly total: number }[] = [];
    const deaths = (async () => {
      for (const id of ids) await bed.jobs.fail(agent, id, "no");
    })();
    do seen.push(await bed.jobs.dead.list(100));
    while (seen.at(-1)?.total !== ids.length);
    await deaths;
    expect(seen.filter(({ jobs, total }) => jobs.length !== total)).toEqual([]);
  });

  test("retried: it runs on behalf of the same ones, with the same marks, from its checkpoint and with new attempts", async () => {
    const lineage: Lineage = { onBehalfOf: [{ kind: "agent", id: "small" }], depth: 1 };
    const foreign = { "agent:web": "all" } as const;
    const { id } = await bed.jobs.dispatch(
      agent,
      request({ input: "in", lineage, foreign, priority: "low" }),
    );
    await bed.jobs.checkpoint(agent, id, "half");
    await bed.jobs.retryLater(agent, id, 0, true);
    await bed.jobs.fail(agent, id, "no");
    const before = (await bed.jobs.dispatch(agent, request({ input: "earlier in the line" }))).id;
    expect(await bed.jobs.retry(id)).toMatchObject({
      id,
      agent,
      attempts: 0,
      failures: 0,
      hasCheckpoint: true,
    });
    await bed.reopen();
    expect((await bed.jobs.dead.list(10)).total).toBe(0);
    expect((await bed.jobs.next(agent, false))?.id).toBe(before);
    await bed.jobs.complete(agent, before);
    expect(await bed.jobs.next(agent, false)).toEqual({
      id,
      name: "work",
      input: "in",
      checkpoint: "half",
      lineage,
      foreign,
      attempts: 0,
    });
    await bed.jobs.complete(agent, id);
    await expect(bed.jobs.retry(id)).rejects.toMatchObject({ code: "NotFound" });
  });

  test("keep how often they were tried and failed", async () => {
    const once = await died();
    const { id } = await bed.jobs.dispatch(agent, request());
    await bed.jobs.retryLater(agent, id, 0, true);
    await bed.jobs.checkpoint(agent, id, "half");
    await bed.jobs.fail(agent, id, "no");
    const { jobs } = await bed.jobs.dead.list(10);
    const counts = new Map(jobs.map((job) => [job.id, [job.attempts, job.failures]]));
    expect([counts.get(once), counts.get(id)]).toEqual([
      [0, 0],
      [0, 1],
    ]);
  });

  test("retried twice at once: it runs once, and the second is told that it is not dead", async () => {
    const id = await died();
    const both = await Promise.allSettled([bed.jobs.retry(id), bed.jobs.retry(id)]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(bed.jobs.depth(agent)).toBe(1);
  });

  test("retried and removed at once: one of the two counts", async () => {
    const id = await died();
    const both = await Promise.allSettled([bed.jobs.remove(id), bed.jobs.retry(id)]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    await bed.reopen();
    expect([bed.jobs.depth(agent), (await bed.jobs.dead.list(1)).total]).toEqual([0, 0]);
  });

  test("one whose key was taken meanwhile waits until that job has ended", async () => {
    const id = await died({ key: "k" });
    const { id: newer } = await bed.jobs.dispatch(agent, request({ key: "k" }));
    await expect(bed.jobs.retry(id)).rejects.toMatchObject({ code: "Conflict" });
    await bed.jobs.complete(agent, newer);
    expect((await bed.jobs.retry(id)).id).toBe(id);
  });

  test("one of an older kernel, which did not store on whose behalf it ran, is never retried", async () => {
    await bed.database.batch([
      {
        sql: `INSERT INTO jobs_failed (seq, id, agent, name, key, input, checkpoint, attempts, dispatched_at, failed_at, reason)
              VALUES (1, 'old', ?, 'work', NULL, 'null', NULL, 2, 0, 0, 'no')`,
        params: [agent],
      },
    ]);
    await expect(bed.jobs.retry("old")).rejects.toMatchObject({ code: "IllegalTransition" });
    expect(await bed.jobs.remove("old")).toMatchObject({ id: "old", error: "no" });
    await expect(bed.jobs.remove("old")).rejects.toMatchObject({ code: "NotFound" });
  });

  test("one that died again after a retry is listed once, with its later error", async () => {
    const id = await died();
    await bed.jobs.retry(id);
    expect(() => bed.jobs.ownerOf(id)).not.toThrow();
    await bed.jobs.fail(agent, id, "again");
    expect(await bed.jobs.dead.list(10)).toMatchObject({ jobs: [{ id, error: "again" }], total: 1 });
  });
});

describe("results of tasks", () => {
  test("race: those that are stored at once are counted together", async () => {
    const { id } = await bed.jobs.dispatch(agent, request());
    const large = "x".repeat(taskLimits.resultBytes - 2);
    const fit = Math.floor(taskLimits.bytesOfAgent / taskLimits.resultBytes);
    const ended = await Promise.allSettled(
      Array.from({ length: fit + 8 }, (_none, n) =>
        bed.jobs.tasks.store(agent, id, `k${n}`, { result: large, foreign: {} }),
      ),
    );
    expect(ended.filter(({ status }) => status === "rejected")).toHaveLength(8);
    expect(await bed.database.query("SELECT count(*) AS stored FROM job_tasks")).toEqual([{ stored: fit }]);
  });

  const kept = { result: { n: 1 }, foreign: { "agent:web": "all" } } as const;
  const tasks = () => bed.database.query("SELECT job, key FROM job_tasks");

  test("are known by name and input, however the input is written, and outlive a restart with their marks", async () => {
    const { id } = await bed.jobs.dispatch(agent, request());
    const key = taskKey("part", { a: 1, b: 2 });
    expect(taskKey("part", { b: 2, a: 1 })).toBe(key);
    expect(new Set([key, taskKey("part", { a: 1 }), taskKey("other", { a: 1, b: 2 })]).size).toBe(3);
    await bed.jobs.tasks.store(agent, id, key, kept);
    await bed.reopen();
    expect(await bed.jobs.tasks.result(id, key)).toEqual(kept);
    expect(await bed.jobs.tasks.result("another job", key)).toBeNull();
  });

  test.each(["complete", "cancel"] as const)("end with their job: %s", async (end) => {
    const { id } = await bed.jobs.dispatch(agent, request());
    await bed.jobs.tasks.store(agent, id, "k", kept);
    await bed.jobs[end](agent, id);
    expect(await tasks()).toEqual([]);
    await expect(bed.jobs.tasks.store(agent, id, "k", kept)).rejects.toMatchObject({ code: "NotFound" });
    expect(await tasks()).toEqual([]);
  });

  test("stay with a dead job for its retry, and are removed with it", async () => {
    const { id } = await bed.jobs.dispatch(agent, request());
    await bed.jobs.tasks.store(agent, id, "k", kept);
    await bed.jobs.fail(agent, id, "no");
    await bed.jobs.retry(id);
    expect(await bed.jobs.tasks.result(id, "k")).toEqual(kept);
    await bed.jobs.fail(agent, id, "no");
    await bed.jobs.remove(id);
    expect(await tasks()).toEqual([]);
  });

  test("are bounded: each, their number in a job, and all of an agent together until its jobs end", async () => {
    const { id } = await bed.jobs.dispatch(agent, request());
    const large = "x".repeat(taskLimits.resultBytes - 2);
    await expect(
      bed.jobs.tasks.store(agent, id, "k", { result: `${large}x`, foreign: {} }),
    ).rejects.toMatchObject({ facts: { limit: "task_result_bytes" } });
    await bed.database.batch([
      {
        sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
              INSERT INTO job_tasks SELECT ?, ?, 'k' || i, '1', NULL FROM n`,
        params: [taskLimits.ofOneJob, agent, id],
      },
    ]);
    await expect(bed.jobs.tasks.store(agent, id, "new", kept)).rejects.toMatchObject({
      facts: { limit: "tasks_of_job" },
    });
    await bed.jobs.complete(agent, id);
    const { id: second } = await bed.jobs.dispatch(agent, request());
    const fit = Math.floor(taskLimits.bytesOfAgent / taskLimits.resultBytes);
    for (let n = 0; n < fit; n++)
      await bed.jobs.tasks.store(agent, second, `k${n}`, { result: large, foreign: {} });
    await expect(bed.jobs.tasks.store(agent, second, "more", kept)).rejects.toMatchObject({
      facts: { limit: "task_bytes" },
    });
    await bed.jobs.complete(agent, second);
    const { id: third } = await bed.jobs.dispatch(agent, request());
    await bed.jobs.tasks.store(agent, third, "k", kept);
  });
});
