import { expect, test } from "vitest";
import { illegalTransition, LaresError, notFound } from "../../base/errors.ts";
import { nextTurn } from "../../base/next-turn.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { Foreign } from "../../base/vocabulary/foreign.ts";
import { OpenCalls } from "../calls/open-calls.ts";
import type { AgentSession, TaskResult } from "../ports.ts";
import { JobTaskRunner, type TaskRequest } from "./job-tasks.ts";

const boom = () => Promise.reject(new LaresError("ToolError", "boom"));

function setUp(answer: (params: { name: string; input: unknown }) => unknown, atOnce = 2) {
  const clock = new ManualClock();
  const gone = new AbortController();
  const results = new Map<string, TaskResult>();
  const asked: unknown[] = [];
  const heard: Foreign[] = [];
  let budgets = 0;
  const session = {
    gone: gone.signal,
    restartBudget: () => (budgets += 1),
  } as unknown as AgentSession;
  const calls = new OpenCalls();
  const state: { job: string | null; session: AgentSession; mostOpen: number } = {
    job: "job-1",
    session,
    mostOpen: 0,
  };
  let open = 0;
  const runner = new JobTaskRunner(
    {
      clock,
      queue: {
        tasks: {
          result: async (job, key) => results.get(`${job} ${key}`) ?? null,
          store: async (_agent, job, key, result) => {
            if (state.job !== job) throw notFound("job", job);
            results.set(`${job} ${key}`, result);
          },
        },
      },
      agent: {
        id: "a.b",
        taskNames: () => new Set(["part"]),
        trace: () => undefined,
        open: {
          hear: (foreign) => void heard.push(foreign),
          get read() {
            return calls.read;
          },
        },
        ask: async (_session, _method, params) => {
          asked.push(params);
          open += 1;
          state.mostOpen = Math.max(state.mostOpen, open);
          try {
            return await answer(params as { name: string; input: unknown });
          } finally {
            open -= 1;
          }
        },
      },
      runs: (job) => {
        if (job === undefined || job !== state.job) throw illegalTransition("no job", "No job.");
        return { job, session: state.session };
      },
    },
    atOnce,
  );
  const run = (input: number, more: Partial<TaskRequest> = {}) =>
    runner.run("job-1", { name: "part", input, key: String(input), attempts: 3, backoffMs: 1000, ...more });
  return { runner, run, clock, results, asked, heard, state, calls, gone, budgets: () => budgets };
}

test("a task runs once: its result is stored, asked for again it is read, with its marks", async () => {
  const bed = setUp(({ input }) => ({ doubled: Number(input) * 2 }));
  bed.calls.hear({ "agent:web": "all" });
  expect(await bed.run(2)).toEqual({ doubled: 4 });
  expect(bed.results.get("job-1 2")).toEqual({ result: { doubled: 4 }, foreign: { "agent:web": "all" } });
  expect(bed.budgets()).toBe(1);
  expect(await bed.run(2)).toEqual({ doubled: 4 });
  expect(bed.asked).toEqual([{ name: "part", input: 2, job: "job-1" }]);
  expect(bed.heard).toEqual([{ "agent:web": "all" }]);
});

test("race: a guest that ends with its answer leaves the result its marks, for the next guest to read", async () => {
  const bed = setUp(() => {
    bed.calls.hear({ "agent:web": "all" });
    bed.calls.guestEnded(new LaresError("AgentError", "It has ended."));
    return "from the web";
  });
  await bed.run(1);
  expect(bed.calls.foreign).toEqual({});
  await bed.run(1);
  expect(bed.heard).toEqual([{ "agent:web": "all" }]);
});

test("race: the same task asked for twice at once is sent once, and both get its result", async () => {
  const answer = Promise.withResolvers<unknown>();
  const bed = setUp(() => answer.promise);
  const both = Promise.all([bed.run(1), bed.run(1)]);
  answer.resolve("done");
  expect(await both).toEqual(["done", "done"]);
  expect(bed.asked).toHaveLength(1);
});

test("at most so many run at once, also after the number is changed", async () => {
  const bed = setUp(() => nextTurn());
  await Promise.all([1, 2, 3, 4, 5].map((input) => bed.run(input)));
  expect(bed.state.mostOpen).toBe(2);
  bed.runner.atOnce = 4;
  await Promise.all([6, 7, 8, 9, 10].map((input) => bed.run(input)));
  expect(bed.state.mostOpen).toBe(4);
});

test("a task that fails is tried again after its wait, which doubles; after the last attempt it is a ToolError", async () => {
  const bed = setUp(boom);
  const failed = bed.run(1).catch((error: unknown) => error);
  await bed.clock.advanceAsync(999);
  expect(bed.asked).toHaveLength(1);
  await bed.clock.advanceAsync(1);
  expect(bed.asked).toHaveLength(2);
  await bed.clock.advanceAsync(1999);
  expect(bed.asked).toHaveLength(2);
  await bed.clock.advanceAsync(1);
  expect(await failed).toMatchObject({ code: "ToolError", message: "The task part failed 3 times: boom" });
  expect(bed.results.size).toBe(0);
});

test("a failure of one attempt leaves its place to the others while it waits for the next", async () => {
  const bed = setUp(({ input }) => (input === 1 ? boom() : "done"), 1);
  const failed = bed.run(1, { attempts: 2 }).catch((error: unknown) => error);
  const other = bed.run(2);
  await bed.clock.advanceAsync(0);
  expect(await other).toBe("done");
  await bed.clock.advanceAsync(1000);
  expect(await failed).toMatchObject({ code: "ToolError" });
});

test("race: a job that was cancelled while its task ran stores nothing of it", async () => {
  const answer = Promise.withResolvers<unknown>();
  const bed = setUp(() => answer.promise);
  const ended = bed.run(1).catch((error: unknown) => error);
  await bed.clock.advanceAsync(0);
  expect(bed.asked).toHaveLength(1);
  bed.state.job = null;
  answer.resolve("late");
  expect(await ended).toMatchObject({ code: "NotFound" });
  expect(bed.results.size).toBe(0);
});

test("race: a guest that was replaced while a task waited for its place is not asked", async () => {
  const answer = Promise.withResolvers<unknown>();
  const bed = setUp(() => answer.promise, 1);
  const first = bed.run(1);
  const second = bed.run(2).catch((error: unknown) => error);
  await bed.clock.advanceAsync(0);
  bed.state.session = { ...bed.state.session };
  answer.resolve("done");
  expect(await first).toBe("done");
  expect(await second).toMatchObject({ code: "AgentError" });
  expect(bed.asked).toHaveLength(1);
});

test("race: the next guest asks for the same task while the one before has not ended: it is asked itself", async () => {
  const answers = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
  let asked = 0;
  const bed = setUp(() => answers[asked++]?.promise);
  const first = bed.run(1).catch((error: unknown) => error);
  await bed.clock.advanceAsync(0);
  bed.state.session = { ...bed.state.session };
  const second = bed.run(1);
  await bed.clock.advanceAsync(0);
  expect(bed.asked).toHaveLength(2);
  answers[0]?.reject(new LaresError("AgentError", "out of memory"));
  expect(await first).toMatchObject({ code: "AgentError" });
  answers[1]?.resolve("done");
  expect(await second).toBe("done");
});

test("a lost guest does not count as an attempt of the task: the job's own attempts count it", async () => {
  const bed = setUp(() => Promise.reject(new LaresError("AgentError", "out of memory")));
  await expect(bed.run(1)).rejects.toMatchObject({ code: "AgentError" });
  expect(bed.asked).toHaveLength(1);
});

test("a guest that ends during the wait ends the wait", async () => {
  const bed = setUp(boom);
  const ended = bed.run(1).catch((error: unknown) => error);
  await bed.clock.advanceAsync(0);
  bed.state.job = null;
  bed.gone.abort();
  expect(await ended).toMatchObject({ code: "IllegalTransition" });
  expect(bed.asked).toHaveLength(1);
});

test("outside of a job, and with a name that the program does not have, it is refused", async () => {
  const bed = setUp(() => null);
  const request = { name: "part", input: 1, key: "1", attempts: 3, backoffMs: 1 };
  await expect(bed.runner.run(undefined, request)).rejects.toMatchObject({ code: "IllegalTransition" });
  await expect(bed.run(1, { name: "other" })).rejects.toMatchObject({
    code: "NotFound",
    message: 'The program has no task "other"; it has "part".',
  });
});
