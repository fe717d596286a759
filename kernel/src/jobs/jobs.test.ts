import { beforeEach, describe, expect, test } from "vitest";
import type { Lineage } from "../base/vocabulary/principal.ts";
import { maxFailedJobs } from "./dead-jobs.ts";
import { jobLimits } from "./limits.ts";
import { maxKnownEnds } from "./line.ts";
import { JobBed, request } from "./testing/job-bed.ts";

const agent = "a.b";
let bed: JobBed;
beforeEach(async () => {
  bed = await JobBed.create();
});

async function drain(isQuiet = false): Promise<unknown[]> {
  const inputs: unknown[] = [];
  for (
    let job = await bed.jobs.next(agent, isQuiet);
    job !== null;
    job = await bed.jobs.next(agent, isQuiet)
  ) {
    inputs.push(job.input);
    await bed.jobs.complete(agent, job.id);
  }
  return inputs;
}

describe("order", () => {
  test("urgent ones first, then in the order of dispatch; also after a restart", async () => {
    const order = ["low", "normal", "high", "low", "high", "normal"] as const;
    for (const [input, priority] of order.entries())
      await bed.jobs.dispatch(agent, request({ input, priority }));
    await bed.reopen();
    expect(await drain()).toEqual([2, 4, 1, 5, 0, 3]);
  });

  test("a job that waits for a quiet moment is handed out only then, in its place among the others", async () => {
    await bed.jobs.dispatch(agent, request({ input: "quiet", whenIdle: true, priority: "high" }));
    await bed.jobs.dispatch(agent, request({ input: "now" }));
    expect((await bed.jobs.next(agent, false))?.input).toBe("now");
    expect(bed.jobs.nextDueAt(agent, true)).toBe(0);
    expect(await drain(true)).toEqual(["quiet", "now"]);
    expect(bed.jobs.nextDueAt(agent, true)).toBeNull();
  });

  test("a job that is retried later holds back no other, and is due at its time; also after a restart", async () => {
    const { id } = await bed.jobs.dispatch(agent, request({ input: "first" }));
    await bed.jobs.dispatch(agent, request({ input: "second" }));
    await bed.jobs.retryLater(agent, id, bed.clock.now() + 500.4, false);
    await bed.reopen();
    expect(await drain()).toEqual(["second"]);
    expect(bed.jobs.nextDueAt(agent, false)).toBe(bed.clock.now() + 501);
    bed.clock.advance(501);
    expect(await bed.jobs.next(agent, false)).toMatchObject({ id, attempts: 1 });
  });

  test("agents do not see each other's jobs", async () => {
    await bed.jobs.dispatch("c.d", request());
    expect(await bed.jobs.next(agent, true)).toBeNull();
    expect([bed.jobs.depth(agent), bed.jobs.depth("c.d")]).toEqual([0, 1]);
  });
});

describe("keys", () => {
  test("a job whose key an unfinished job has is not added, also if both are dispatched at once and after a restart", async () => {
    const both = await Promise.all([
      bed.jobs.dispatch(agent, request({ key: "k", input: 1 })),
      bed.jobs.dispatch(agent, request({ key: "k", input: 2 })),
    ]);
    expect(both.map(({ isNew }) => isNew)).toEqual([true, false]);
    expect(both[1]?.id).toBe(both[0]?.id);
    await bed.reopen();
    expect((await bed.jobs.dispatch(agent, request({ key: "k" }))).isNew).toBe(false);
    expect((await bed.jobs.dispatch("c.d", request({ key: "k" }))).isNew).toBe(true);
    expect(await drain()).toEqual([1]);
    expect((await bed.jobs.dispatch(agent, request({ key: "k" }))).isNew).toBe(true);
  });

  test("two ill-formed keys are the same, as the database stores them", async () => {
    expect((await bed.jobs.dispatch(agent, request({ key: "a\ud800" }))).isNew).toBe(true);
    expect((await bed.jobs.dispatch(agent, request({ key: "a\ud801" }))).isNew).toBe(false);
    await bed.reopen();
    expect((await bed.jobs.dispatch(agent, request({ key: "a\ud801" }))).isNew).toBe(false);
  });

  test("a failed job releases its key", async () => {
    const { id } = await bed.jobs.dispatch(agent, request({ key: "k" }));
    await bed.jobs.fail(agent, id, "no");
    expect((await bed.jobs.dispatch(agent, request({ key: "k" }))).isNew).toBe(true);
  });
});

describe("checkpoints", () => {
  test("survive a restart, the last one counts, and attempts are reset", async () => {
    const { id } = await bed.jobs.dispatch(agent, request({ input: { a: ["ü", null] } }));
    expect(await bed.jobs.next(agent, false)).not.toHaveProperty("checkpoint");
    await bed.jobs.retryLater(agent, id, 0, false);
    await bed.jobs.checkpoint(agent, id, { at: 1 });
    await bed.jobs.checkpoint(agent, id, null);
    await bed.reopen();
    expect(await bed.jobs.next(agent, false)).toEqual({
      id,
      name: "work",
      input: { a: ["ü", null] },
      checkpoint: null,
      lineage: { onBehalfOf: [], depth: 0 },
      foreign: {},
      attempts: 0,
    });
  });

  test("the lineage of a job survives a restart", async () => {
    const lineage: Lineage = { onBehalfOf: [{ kind: "agent", id: "dev.other" }], depth: 2 };
    await bed.jobs.dispatch(agent, request({ lineage }));
    await bed.reopen();
    expect(await bed.jobs.next(agent, false)).toMatchObject({ lineage });
  });

  test("what nobody vouches for in input or checkpoint is known after a restart, and gone with the job", async () => {
    const { id } = await bed.jobs.dispatch(agent, request({ foreign: { "agent:web": "minds" } }));
    await bed.reopen();
    expect(await bed.jobs.next(agent, false)).toMatchObject({ foreign: { "agent:web": "minds" } });
    await bed.jobs.checkpoint(agent, id, 1);
    await bed.jobs.checkpoint(agent, id, 2, { "downloads/a": "all", "agent:web": "all" });
    await bed.jobs.checkpoint(agent, id, 3);
    await bed.reopen();
    expect(await bed.jobs.next(agent, false)).toMatchObject({
      checkpoint: 3,
      foreign: { "agent:web": "all", "downloads/a": "all" },
    });
    await bed.jobs.complete(agent, id);
    await bed.jobs.dispatch(agent, request());
    expect(await bed.jobs.next(agent, false)).toMatchObject({ foreign: {} });
  });

  test.each<[string, string, Lineage]>([
    [
      "by the ids of agents alone, as earlier kernels did",
      '{"onBehalfOf":["dev.other"],"depth":1}',
      { onBehalfOf: [{ kind: "agent", id: "dev.other" }], depth: 1 },
    ],
    [
      "with a schedule, which calls nobody",
      '{"onBehalfOf":[{"kind":"schedule","agent":"a.b","schedule":"daily"}],"depth":0}',
      { onBehalfOf: [{ kind: "schedule", agent, schedule: "daily" }], depth: 0 },
    ],
  ])("the lineage of a job is read if it was stored %s", async (_how, stored, lineage) => {
    const { id } = await bed.jobs.dispatch(agent, request());
    await bed.database.batch([{ sql: "UPDATE jobs SET lineage = ? WHERE id = ?", params: [stored, id] }]);
    await bed.reopen();
    expect(await bed.jobs.next(agent, false)).toMatchObject({ id, lineage });
  });

  test("of an ended job, or of another agent's, are refused", async () => {
    const { id } = await bed.jobs.dispatch(agent, request());
    await expect(bed.jobs.checkpoint("c.d", id, 1)).rejects.toMatchObject({ code: "NotFound" });
    await bed.jobs.complete(agent, id);
    await expect(bed.jobs.checkpoint(agent, id, 1)).rejects.toMatchObject({ code: "NotFound" });
  });
});

test.each([
  ["an input that is no JSON", "UPDATE jobs SET input = '{' WHERE id = ?", 1],
  ["a checkpoint that is no JSON", "UPDATE jobs SET checkpoint = 'no' WHERE id = ?", 1],
  [
    "a lineage of an unknown kind",
    `UPDATE jobs SET lineage = '{"onBehalfOf":[{"kind":"x"}],"depth":0}' WHERE id = ?`,
    1,
  ],
  ["no row any more", "DELETE FROM jobs WHERE id = ?", 0],
])("a job with %s in the ledger is given up, and the next ones continue", async (_what, sql, kept) => {
  const { id } = await bed.jobs.dispatch(agent, request({ input: "first", key: "k" }));
  await bed.jobs.dispatch(agent, request({ input: "second" }));
  await bed.database.batch([{ sql, params: [id] }]);
  await expect(bed.jobs.next(agent, false)).rejects.toMatchObject({ code: "StorageError" });
  expect(await drain()).toEqual(["second"]);
  expect(await bed.database.query("SELECT id FROM jobs_failed")).toHaveLength(kept);
  expect((await bed.jobs.dispatch(agent, request({ key: "k" }))).isNew).toBe(true);
});

describe("over the limits: refused, and nothing is stored", () => {
  const text = (bytes: number): string => "x".repeat(bytes - 2);

  test("an input and a checkpoint that are one byte too large", async () => {
    const { inputBytes, checkpointBytes } = jobLimits;
    await expect(bed.jobs.dispatch(agent, request({ input: text(inputBytes + 1) }))).rejects.toMatchObject({
      code: "LimitExceeded",
      facts: { limit: "job_input_bytes", value: inputBytes + 1 },
    });
    expect(bed.jobs.depth(agent)).toBe(0);
    const { id } = await bed.jobs.dispatch(agent, request({ input: text(inputBytes) }));
    await bed.jobs.checkpoint(agent, id, text(checkpointBytes));
    await expect(bed.jobs.checkpoint(agent, id, text(checkpointBytes + 1))).rejects.toMatchObject({
      code: "LimitExceeded",
    });
    expect((await bed.jobs.next(agent, false))?.checkpoint).toHaveLength(checkpointBytes - 2);
  });

  test("more bytes than an agent's jobs may have: counted with checkpoints, freed when a job ends, known after a restart", async () => {
    const { inputBytes, allBytes } = jobLimits;
    const fit = allBytes / inputBytes;
    const ids: string[] = [];
    for (let n = 0; n < fit - 1; n++)
      ids.push((await bed.jobs.dispatch(agent, request({ input: text(inputBytes) }))).id);
    await bed.jobs.checkpoint(agent, ids[0] ?? "", text(inputBytes));
    await bed.reopen();
    const one = request({ input: "x" });
    await expect(bed.jobs.dispatch(agent, one)).rejects.toMatchObject({ facts: { limit: "job_bytes" } });
    // A checkpoint replaces the one before.
    await bed.jobs.checkpoint(agent, ids[0] ?? "", text(inputBytes));
    await bed.jobs.complete(agent, ids[1] ?? "");
    await expect(bed.jobs.dispatch(agent, one)).resolves.toMatchObject({ isNew: true });
  });

  test("more jobs than may wait", async () => {
    await bed.database.batch([
      {
        sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
              INSERT INTO jobs (id, agent, name, priority, when_idle, input, dispatched_at)
              SELECT 'id-' || i, ?, 'work', 0, 0, 'null', 0 FROM n`,
        params: [jobLimits.waiting, agent],
      },
    ]);
    await bed.reopen();
    await expect(bed.jobs.dispatch(agent, request())).rejects.toMatchObject({
      facts: { limit: "waiting_jobs", value: jobLimits.waiting },
    });
    await bed.jobs.complete(agent, "id-7");
    await expect(bed.jobs.dispatch(agent, request())).resolves.toMatchObject({ isNew: true });
  });
});

describe("cancelling", () => {
  test("removes the job for good, with its key; also after a restart", async () => {
    const { id } = await bed.jobs.dispatch(agent, request({ key: "k", whenIdle: true, priority: "high" }));
    await bed.jobs.checkpoint(agent, id, 1);
    expect(await bed.jobs.cancel(agent, id)).toEqual({
      id,
      agent,
      name: "work",
      key: "k",
      failures: 0,
      priority: "high",
      whenIdle: true,
      attempts: 0,
      dueAt: 0,
      dispatchedAt: bed.clock.now(),
      hasCheckpoint: true,
    });
    expect([bed.jobs.has(agent, id), bed.jobs.depth(agent), bed.jobs.nextDueAt(agent, true)]).toEqual([
      false,
      0,
      null,
    ]);
    const again = await bed.jobs.dispatch(agent, request({ key: "k" }));
    expect(again.isNew).toBe(true);
    expect(again.id).not.toBe(id);
    await bed.reopen();
    expect((await bed.jobs.next(agent, true))?.id).toBe(again.id);
    expect(bed.jobs.depth(agent)).toBe(1);
  });

  test("an ended job reports how it ended, until it is forgotten; an unknown one is NotFound", async () => {
    const ends: Record<string, (id: string) => Promise<unknown>> = {
      Completed: (id) => bed.jobs.complete(agent, id),
      Failed: (id) => bed.jobs.fail(agent, id, "no"),
      Cancelled: (id) => bed.jobs.cancel(agent, id),
    };
    for (const [state, end] of Object.entries(ends)) {
      const { id } = await bed.jobs.dispatch(agent, request());
      await end(id);
      await expect(bed.jobs.cancel(agent, id)).rejects.toMatchObject({
        code: "IllegalTransition",
        facts: { state },
      });
      expect(bed.jobs.ownerOf(id)).toBe(agent);
    }
    const { id: first } = await bed.jobs.dispatch(agent, request());
    await bed.jobs.cancel(agent, first);
    const others = await Promise.all(
      Array.from({ length: maxKnownEnds }, () => bed.jobs.dispatch(agent, request())),
    );
    await Promise.all(others.map(({ id }) => bed.jobs.complete(agent, id)));
    for (const id of [first, "absent"]) {
      await expect(bed.jobs.cancel(agent, id)).rejects.toMatchObject({ code: "NotFound" });
      expect(bed.jobs.ownerOf(id)).toBeUndefined();
    }
  });

  test.each(["complete", "fail", "retryLater", "checkpoint"] as const)(
    "concurrently with %s: the first one is stored, and the other gets an error",
    async (what) => {
      for (const isFirst of [true, false]) {
        const { id } = await bed.jobs.dispatch(agent, request());
        const ask = {
          cancel: () => bed.jobs.cancel(agent, id),
          complete: () => bed.jobs.complete(agent, id),
          fail: () => bed.jobs.fail(agent, id, "no"),
          retryLater: () => bed.jobs.retryLater(agent, id, 5, true),
          checkpoint: () => bed.jobs.checkpoint(agent, id, 5),
        };
        const order = isFirst ? (["cancel", what] as const) : ([what, "cancel"] as const);
        const [first, second] = await Promise.allSettled(order.map((name) => ask[name]()));
        expect(first?.status).toBe("fulfilled");
        // An operation that leaves the job unfinished does not prevent the cancellation.
        const bothCount = !isFirst && (what === "retryLater" || what === "checkpoint");
        expect(second?.status).toBe(bothCount ? "fulfilled" : "rejected");
        expect(bed.jobs.depth(agent)).toBe(0);
        await bed.reopen();
        expect(await bed.jobs.next(agent, true)).toBeNull();
      }
    },
  );

  test("twice at once: one succeeds, and the other learns that it was cancelled", async () => {
    const { id } = await bed.jobs.dispatch(agent, request());
    const both = await Promise.allSettled([bed.jobs.cancel(agent, id), bed.jobs.cancel(agent, id)]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  test("while the job is handed out, at any moment: it is not failed, and the one after it is next", async () => {
    for (let turns = 0; turns < 30; turns++) {
      const { id } = await bed.jobs.dispatch(agent, request({ input: "first" }));
      const behind = await bed.jobs.dispatch(agent, request({ input: "second" }));
      const cancelled = bed.jobs.cancel(agent, id);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      const next = await bed.jobs.next(agent, false);
      await cancelled;
      // The job may have been read before it was cancelled; the caller that gets it checks whether it still exists.
      if (next?.id === id) expect(bed.jobs.has(agent, id)).toBe(false);
      else expect(next?.input).toBe("second");
      await bed.jobs.complete(agent, behind.id);
    }
    expect(await bed.database.query("SELECT id FROM jobs_failed")).toEqual([]);
  });
});

describe("the list", () => {
  test("lists one agent's jobs or all, in the order of running, with the total", async () => {
    await bed.jobs.dispatch(agent, request({ name: "low", priority: "low" }));
    await bed.jobs.dispatch("c.d", request({ name: "other" }));
    await bed.jobs.dispatch(agent, request({ name: "high", priority: "high", whenIdle: true, key: "k" }));
    await bed.jobs.dispatch(agent, request({ name: "normal" }));
    const names = (count: number, of?: string): unknown => {
      const { jobs: listed, total } = bed.jobs.list(count, of);
      return [listed.map(({ name }) => name), total];
    };
    for (let life = 0; life < 2; life++) {
      expect(names(100)).toEqual([["high", "other", "normal", "low"], 4]);
      expect(names(2)).toEqual([["high", "other"], 4]);
      expect(names(2, agent)).toEqual([["high", "normal"], 3]);
      expect(names(2, "absent")).toEqual([[], 0]);
      expect(bed.jobs.list(1).jobs[0]).toMatchObject({ agent, key: "k", priority: "high", whenIdle: true });
      await bed.reopen();
    }
  });
});

test("the newest failed jobs are kept, with their reasons", async () => {
  await bed.database.batch([
    {
      sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
            INSERT INTO jobs_failed (seq, id, agent, name, key, input, checkpoint, attempts, dispatched_at, failed_at, reason)
            SELECT i, 'id-' || i, ?, 'work', NULL, 'null', NULL, 0, 0, 0, 'old' FROM n`,
      params: [maxFailedJobs, agent],
    },
    { sql: "UPDATE sqlite_sequence SET seq = ? WHERE name = 'jobs'", params: [maxFailedJobs] },
    { sql: "INSERT INTO sqlite_sequence VALUES ('jobs', ?)", params: [maxFailedJobs] },
  ]);
  await bed.reopen();
  const { id } = await bed.jobs.dispatch(agent, request());
  await bed.jobs.fail(agent, id, "it broke");
  const [counted] = await bed.database.query("SELECT count(*) AS count, min(seq) AS oldest FROM jobs_failed");
  expect(counted).toEqual({ count: maxFailedJobs, oldest: 2 });
  expect(await bed.database.query("SELECT reason FROM jobs_failed WHERE id = ?", [id])).toEqual([
    { reason: "it broke" },
  ]);
});
