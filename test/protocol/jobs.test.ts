import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import {
  control,
  dispatch,
  log,
  openGate,
  provoke,
  textsOf,
  traces,
  tryDispatch,
  worker,
  wrote,
  type Refused,
} from "../support/jobs.ts";
import type { AgentMetrics } from "../support/types.ts";
import { until } from "../support/until.ts";

const ONE = "test.one";
const TWO = "test.two";
const FAILING = "test.failing";
const ODD = "test.odd";
const ASKS_NOT = "test.asks-not";
const BYTES = 256 * 1024;

/** Names that every object inherits. */
const inherited = ["__proto__", "constructor", "toString", "hasOwnProperty"];

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [
      worker({ id: ONE, resources: { max_cpu_ms_per_event: 30_000 } }),
      worker({ id: TWO }),
      worker({ id: FAILING }),
      worker({
        id: ODD,
        jobs: inherited
          .map((name) => `["${name}"]: async (input, ctx) => note(ctx, ctx.jobId, "${name}"),`)
          .join("\n"),
      }),
      worker({ id: ASKS_NOT, permissions: { read_entries: true } }),
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const metrics = async (id: string): Promise<AgentMetrics> => (await agent(client, id)).metrics;

/** Returns the counts once every job has ended: the last ones are counted a moment later. */
const settled = (id: string): Promise<AgentMetrics> =>
  until(`all jobs of ${id} to have ended`, async () => {
    const now = await metrics(id);
    return now.jobs_dispatched === now.jobs_completed + now.jobs_failed && now;
  });

/** Waits until this many more jobs have ended than in `before`. */
function more(
  id: string,
  before: AgentMetrics,
  change: { completed?: number; failed?: number },
): Promise<unknown> {
  return until(`more jobs of ${id} to end: ${JSON.stringify(change)}`, async () => {
    const now = await metrics(id);
    return (
      now.jobs_completed === before.jobs_completed + (change.completed ?? 0) &&
      now.jobs_failed === before.jobs_failed + (change.failed ?? 0)
    );
  });
}

describe("dispatch", () => {
  test("answers with an id, the job sees it, runs once without a checkpoint, and is counted", async () => {
    const before = await settled(ONE);
    const id = await dispatch(client, ONE, [["note", "work"]]);
    await wrote(client, ONE, id, "end");
    await more(ONE, before, { completed: 1 });
    expect((await metrics(ONE)).jobs_dispatched).toBe(before.jobs_dispatched + 1);
    expect(await textsOf(client, ONE, id)).toEqual(["begin", "work", "end"]);
    expect(await wrote(client, ONE, id, "begin")).toMatchObject({ checkpoint: "undefined" });
  });

  test("of an unknown name is NotFound, and the error lists the known ones", async () => {
    const before = await settled(ONE);
    const { error } = await tryDispatch(client, ONE, "absent", null);
    expect(error?.code).toBe("NotFound");
    expect(error?.message).toMatch(/absent/);
    expect(error?.message).toMatch(/steps/);
    expect(error?.message).toMatch(/keep/);
    expect((await metrics(ONE)).jobs_dispatched).toBe(before.jobs_dispatched);
  });

  test.each(inherited)("%s is an ordinary name: NotFound if unknown, run if known", async (name) => {
    expect((await tryDispatch(client, ONE, name, null)).error?.code).toBe("NotFound");
    const { id = "" } = await tryDispatch(client, ODD, name, null);
    await wrote(client, ODD, id, name);
  });

  const wrong: [string, string, unknown, Record<string, unknown>][] = [
    ["a name that is no text", 7 as never, null, {}],
    ["no name", "", null, {}],
    ["a priority that is not", "keep", null, { priority: "urgent" }],
    ["a whenIdle that is no boolean", "keep", null, { whenIdle: "yes" }],
    ["a key that is no text", "keep", null, { key: 7 }],
    ["a key of 257 characters", "keep", null, { key: "k".repeat(257) }],
  ];
  test.each(wrong)("%s is refused and leaves nothing", async (_what, name, input, options) => {
    const before = await settled(ONE);
    const { error } = await tryDispatch(client, ONE, name, input, options);
    expect(error?.code).toMatch(/^(InvalidParams|NotFound|LimitExceeded)$/);
    expect((await metrics(ONE)).jobs_dispatched).toBe(before.jobs_dispatched);
  });

  test("without a request in the manifest is PermissionDenied", async () => {
    const { error } = await tryDispatch(client, ASKS_NOT, "keep", null);
    expect(error).toMatchObject({ code: "PermissionDenied", facts: { permission: "dispatch_jobs" } });
  });

  const deep = (levels: number): unknown => (levels === 0 ? "bottom" : [deep(levels - 1)]);
  const odd: [string, unknown][] = [
    ["null", null],
    ["false", false],
    ["zero", 0],
    ["no text", ""],
    ["text with all kinds of characters", 'a"b\\c\u0000\u001b[31m\n\r\u2028\ud83d\ude00\u202e עברית'],
    ["half a pair", "\ud83d"],
    ["deep", deep(50)],
    ["large numbers and small", [1e308, -0.1, 2 ** 53 - 1, 5e-324]],
    ["keys that an object has anyway", JSON.parse('{"__proto__":{"x":1},"constructor":2,"":3}')],
  ];
  test.each(odd)("its input arrives unchanged: %s", async (_what, input) => {
    const { id = "", error } = await tryDispatch(client, ONE, "keep", input);
    expect(error).toBeUndefined();
    const { input: kept } = await wrote(client, ONE, id, "kept");
    expect(kept).toBe(JSON.stringify(input));
  });

  test("a job may dispatch another, which runs after it", async () => {
    const id = await dispatch(client, ONE, [
      ["dispatch", "steps", [["note", "child"]]],
      ["sleep", 50],
      ["note", "parent"],
    ]);
    const { id: child } = (await wrote(client, ONE, id, "dispatched")) as unknown as { id: string };
    await wrote(client, ONE, child, "end");
    const order = (await log(client, ONE))
      .filter(({ job }) => [id, child].includes(job))
      .map(({ text }) => text);
    expect(order).toEqual(["begin", "dispatched", "parent", "end", "begin", "child", "end"]);
  });
});

describe("a key", () => {
  test.each(["a key", "k".repeat(256), "ключ 🔑", "__proto__"])(
    "%s identifies one job while it waits or runs, then the next, and never another agent's",
    async (key) => {
      const gate = `key-${key.length}-${key.codePointAt(0)}`;
      const before = await settled(ONE);
      const first = await dispatch(client, ONE, [["gate", gate]], { key });
      await wrote(client, ONE, first, "begin");
      // While it runs.
      expect(await dispatch(client, ONE, [["note", "never"]], { key })).toBe(first);
      // While it waits.
      const second = await dispatch(client, ONE, [["note", "second"]], { key: `${key.slice(1)}2` });
      expect(await dispatch(client, ONE, [["note", "never"]], { key: `${key.slice(1)}2` })).toBe(second);
      // Another agent's key is independent.
      const others = await dispatch(client, TWO, [["note", "others"]], { key });
      expect(others).not.toBe(first);
      await openGate(bench, gate);
      await more(ONE, before, { completed: 2 });
      expect((await metrics(ONE)).jobs_dispatched).toBe(before.jobs_dispatched + 2);
      const next = await dispatch(client, ONE, [["note", "next"]], { key });
      expect(next).not.toBe(first);
      await wrote(client, ONE, next, "next");
      await wrote(client, TWO, others, "others");
      expect((await log(client, ONE)).filter(({ text }) => text === "never")).toEqual([]);
    },
  );

  test("of many concurrent dispatches, one is stored", async () => {
    const before = await settled(ONE);
    const ids = await Promise.all(
      Array.from({ length: 50 }, () => dispatch(client, ONE, [["gate", "at-once"]], { key: "at once" })),
    );
    expect(new Set(ids).size).toBe(1);
    await openGate(bench, "at-once");
    await more(ONE, before, { completed: 1 });
  });

  test("is free again after its job has failed", async () => {
    const before = await settled(ONE);
    const first = await dispatch(client, ONE, [["throw", "the first"]], { key: "failing" });
    await more(ONE, before, { failed: 1 });
    const second = await dispatch(client, ONE, [], { key: "failing" });
    expect(second).not.toBe(first);
    await wrote(client, ONE, second, "end");
  });
});

describe("order", () => {
  test("high before normal before low, then in the order of dispatch, one at a time", async () => {
    const first = await dispatch(client, ONE, [["gate", "order"]]);
    await wrote(client, ONE, first, "begin");
    const priorities = ["low", "normal", "high", undefined, "low", "high", "normal", "high"] as const;
    const jobs: { id: string; rank: number }[] = [];
    for (const priority of priorities) {
      const id = await dispatch(client, ONE, [["sleep", 5]], priority === undefined ? {} : { priority });
      jobs.push({ id, rank: ["high", "normal", "low"].indexOf(priority ?? "normal") });
    }
    await openGate(bench, "order");
    const expected = jobs.toSorted((a, b) => a.rank - b.rank).map(({ id }) => id);
    await wrote(client, ONE, expected.at(-1) ?? "", "end");
    const lines = (await log(client, ONE)).filter(({ job }) => expected.includes(job));
    expect(lines.map(({ job, text }) => `${job} ${text}`)).toEqual(
      expected.flatMap((id) => [`${id} begin`, `${id} end`]),
    );
  });

  test("events and tools are handled while a job waits for something", async () => {
    const id = await dispatch(client, ONE, [["gate", "beside"]]);
    await wrote(client, ONE, id, "begin");
    const text = await provoke(bench, ONE, "seen", "beside");
    await wrote(client, ONE, "hook", text);
    expect(await tool(client, ONE, "log")).toContainEqual(expect.objectContaining({ text }));
    expect(await textsOf(client, ONE, id)).toEqual(["begin"]);
    await openGate(bench, "beside");
    await wrote(client, ONE, id, "end");
  });

  test("two agents' jobs run concurrently", async () => {
    const one = await dispatch(client, ONE, [["gate", "both"]]);
    const two = await dispatch(client, TWO, [["gate", "both"]]);
    await Promise.all([wrote(client, ONE, one, "begin"), wrote(client, TWO, two, "begin")]);
    await openGate(bench, "both");
    await Promise.all([wrote(client, ONE, one, "end"), wrote(client, TWO, two, "end")]);
  });
});

describe("a handler that throws", () => {
  test("fails after three attempts, with a trace at error that names the job and the message", async () => {
    const before = await settled(FAILING);
    const id = await dispatch(client, FAILING, [
      ["note", "tried"],
      ["throw", "out of luck"],
    ]);
    await more(FAILING, before, { failed: 1 });
    const trace = (await traces(client, FAILING, "error")).find(({ message }) =>
      message.includes("out of luck"),
    );
    expect(JSON.stringify(trace)).toContain("steps");
    // The next one runs, and the dead one is not retried.
    const next = await dispatch(client, FAILING, []);
    await wrote(client, FAILING, next, "end");
    const attempt = ["begin", "tried"];
    expect(await textsOf(client, FAILING, id)).toEqual([...attempt, ...attempt, ...attempt]);
    expect((await metrics(FAILING)).jobs_failed).toBe(before.jobs_failed + 1);
  });

  test("three failures in a row, including events, suspend the agent; its jobs wait until it is resumed", async () => {
    const before = await settled(FAILING);
    await dispatch(client, FAILING, [["throw", "one"]]);
    await more(FAILING, before, { failed: 1 });
    await provoke(bench, FAILING, "fail", "two");
    await until(
      "the event to fail",
      async () => (await metrics(FAILING)).events_failed === before.events_failed + 1,
    );
    expect((await agent(client, FAILING)).state).not.toBe("Suspended");
    const waiting = await dispatch(client, FAILING, [["gate", "three"]]);
    await wrote(client, FAILING, waiting, "begin");
    await provoke(bench, FAILING, "fail", "three");
    const suspended = await inState(client, FAILING, "Suspended");
    expect(suspended.error).toContain("after 3 failures in a row");
    await openGate(bench, "three");
    expect(await textsOf(client, FAILING, waiting)).toEqual(["begin"]);
    await control(client, FAILING, "resume");
    await wrote(client, FAILING, waiting, "end");
  });
});

describe("progress and checkpoints", () => {
  test("an invalid fraction or text is InvalidParams, and the job continues", async () => {
    const calls = [
      ["progress", 1.01],
      ["progress", -0.01],
      ["progress", "half"],
      ["progress", null],
      ["progress", 0.5, 7],
      ["progress", 0],
      ["progress", 1, "all"],
    ];
    const { id = "" } = await tryDispatch(client, ONE, "attempt", calls);
    await until("all attempts", async () => (await textsOf(client, ONE, id)).length === calls.length);
    const lines = (await log(client, ONE)).filter(({ job }) => job === id);
    expect(lines.map(({ text }) => text)).toEqual([
      ...Array<string>(5).fill("refused"),
      "allowed",
      "allowed",
    ]);
    for (const { error } of lines.slice(0, 5)) expect(error).toMatchObject({ code: "InvalidParams" });
  });

  test.each([
    ["progress", [0.5]],
    ["save", [{ next: 1 }]],
  ])("%s once no job runs is IllegalTransition", async (method, args) => {
    const before = await settled(ONE);
    await dispatch(client, ONE, [["leak"]]);
    await more(ONE, before, { completed: 1 });
    const late = await tool<{ error?: Refused }>(client, ONE, "late", { method, args });
    expect(late.error).toMatchObject({ code: "IllegalTransition" });
  });
});

describe("bounds", () => {
  test("256 KiB of input are accepted, one byte more is LimitExceeded and stores nothing", async () => {
    const before = await settled(TWO);
    const most = await tryDispatch(client, TWO, "measure", "x".repeat(BYTES - 2));
    expect(most.error).toBeUndefined();
    const tooMany = await tryDispatch(client, TWO, "keep", "x".repeat(BYTES - 1));
    expect(tooMany.error).toMatchObject({
      code: "LimitExceeded",
      facts: { limit: expect.anything(), value: BYTES + 1 },
    });
    expect(await wrote(client, TWO, most.id ?? "", "measured")).toMatchObject({ length: BYTES - 2 });
    await more(TWO, before, { completed: 1 });
    expect((await metrics(TWO)).jobs_dispatched).toBe(before.jobs_dispatched + 1);
  });

  test("they are counted in bytes, not in characters", async () => {
    const { error } = await tryDispatch(client, TWO, "keep", "é".repeat(BYTES / 2));
    expect(error).toMatchObject({ code: "LimitExceeded" });
  });

  test("the same for a checkpoint; the previous one stays", async () => {
    const { id = "" } = await tryDispatch(client, TWO, "attempt", [["save", "x".repeat(1000)]]);
    await wrote(client, TWO, id, "allowed");
    for (const [bytes, outcome] of [
      [BYTES, "saved"],
      [BYTES + 1, "refused"],
    ] as const) {
      const job = await tryDispatch(client, TWO, "saveBytes", bytes);
      const line = await wrote(client, TWO, job.id ?? "", outcome);
      if (outcome === "refused") expect(line["error"]).toMatchObject({ code: "LimitExceeded" });
    }
  });
});
