import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import {
  control,
  dispatch,
  ended,
  log,
  openGate,
  provoke,
  textsOf,
  traces,
  tryDispatch,
  worker,
  workerProgram,
  wrote,
  type Step,
} from "../support/jobs.ts";
import { until } from "../support/until.ts";
import { handMade } from "../support/wasm.ts";

/** Jobs that lose their guest, agent, program or grant. */

const limited = { max_cpu_ms_per_event: 300, max_memory_mb: 64 };
const names = [
  "saves",
  "awaits",
  "spins",
  "eats",
  "crowded",
  "innocent",
  "goes-on",
  "keeps-null",
  "suspended",
  "disabled",
  "reloaded",
  "returns",
  "throws",
  "queued",
  "changed",
  "shrunk",
  "denied",
  "switched-off",
] as const;
const id = (name: (typeof names)[number]): string => `test.${name}`;

const LEAVES = "test.leaves";
/** Its tool dispatches a job, and its job exits without a message. */
function leavingGuest(): Uint8Array {
  const jsonrpc = '{"jsonrpc":"2.0",';
  return handMade(({ say, reply, when }) => [
    when("initialize", reply('{"handlers":[],"tools":["go"],"jobs":["the hand-made job"]}')),
    when(
      "tool",
      say(`${jsonrpc}"id":1,"method":"jobs/dispatch","params":{"name":"the hand-made job","input":null}}\n`) +
        reply('{"status":"success","value":null}'),
    ),
    when(
      "job",
      say(`${jsonrpc}"method":"trace","params":{"level":"info","message":"leaving"}}\n`) +
        "(call $exit (i32.const 0))",
    ),
    when("shutdown", `${reply("{}")}(call $exit (i32.const 0))`),
  ]);
}

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    lares: { limits: { active_agents: names.length + 1 } },
    extensions: [
      ...names.map((name) => worker({ id: id(name), resources: limited })),
      {
        id: LEAVES,
        files: { "agent.wasm": leavingGuest() },
        manifest: {
          main: "agent.wasm",
          permissions: { dispatch_jobs: true },
          tools: [{ name: "go", description: "go", handler: "go", parameters: { type: "object" } }],
        },
      },
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Computes 100 ms this many times. */
const work = (times: number, between: Step): Step[] =>
  Array.from({ length: times }, (): Step[] => [["spin", 100], between]).flat();

describe("CPU of a job", () => {
  test("is counted from the last checkpoint: ten times 100 ms run under a limit of 300 ms", async () => {
    const job = await dispatch(client, id("saves"), work(10, ["save"]));
    await wrote(client, id("saves"), job, "end");
    expect(await textsOf(client, id("saves"), job)).toEqual(["begin", "end"]);
    await ended(client, id("saves"), { completed: 1 });
  });

  test("excludes what events use meanwhile: a job that only waits outlives ten hooks of 100 ms", async () => {
    const job = await dispatch(client, id("awaits"), [["gate", "awaits"]]);
    await wrote(client, id("awaits"), job, "begin");
    const files = await Promise.all(
      Array.from({ length: 10 }, (_, at) => provoke(bench, id("awaits"), "burn", String(at))),
    );
    for (const file of files) await wrote(client, id("awaits"), "hook", file);
    await openGate(bench, "awaits");
    await wrote(client, id("awaits"), job, "end");
    expect(await textsOf(client, id("awaits"), job)).toEqual(["begin", "end"]);
  });
});

// Concurrently: each has an agent of its own.
describe.concurrent("a guest that dies under a job", () => {
  test("by computing too long: it is tried three times and then fails; the next job runs", async () => {
    const agentId = id("spins");
    const job = await dispatch(client, agentId, [["gate", "spins"], ["spin for ever"]]);
    const next = await dispatch(client, agentId, [["note", "next"]]);
    await openGate(bench, "spins");
    await ended(client, agentId, { failed: 1 });
    const said = (await traces(client, agentId, "error")).map((entry) => JSON.stringify(entry));
    expect(said.filter((entry) => /steps/.test(entry) && /max_cpu_ms_per_event/.test(entry))).not.toEqual([]);
    // Three losses are three failures in a row.
    await inState(client, agentId, "Suspended");
    await control(client, agentId, "resume");
    await wrote(client, agentId, next, "next");
    expect(await textsOf(client, agentId, job)).toEqual(["begin", "begin", "begin"]);
  });

  test("by leaving: the same", async () => {
    await tool(client, LEAVES, "go");
    await ended(client, LEAVES, { failed: 1 });
    const said = (await traces(client, LEAVES, "error")).map((entry) => JSON.stringify(entry));
    expect(said.filter((entry) => /the hand-made job/.test(entry))).not.toEqual([]);
    expect(
      (await traces(client, LEAVES, "info")).filter(({ message }) => message === "leaving"),
    ).toHaveLength(3);
  });

  test("does not die if its runtime reports that memory ran out: the handler throws, and the job has failed after three attempts", async () => {
    const agentId = id("eats");
    const job = await dispatch(client, agentId, [["eat all memory"]]);
    const next = await dispatch(client, agentId, [["note", "next"]]);
    await wrote(client, agentId, next, "next");
    await ended(client, agentId, { failed: 1, completed: 1 });
    expect(await textsOf(client, agentId, job)).toEqual(["begin", "begin", "begin"]);
  });

  test("loses no event that it got meanwhile, and is not kept alive by events", async () => {
    const agentId = id("crowded");
    const job = await dispatch(client, agentId, [["gate", "crowded"], ["spin for ever"]]);
    await openGate(bench, "crowded");
    const files: string[] = [];
    await until("the job to have failed", async () => {
      files.push(await provoke(bench, agentId, "seen", String(files.length)));
      const { state, metrics } = await agent(client, agentId);
      if (state === "Suspended") await control(client, agentId, "resume");
      return metrics.jobs_failed === 1;
    });
    if ((await agent(client, agentId)).state === "Suspended") await control(client, agentId, "resume");
    for (const file of files) await wrote(client, agentId, "hook", file);
    expect((await textsOf(client, agentId, job)).filter((text) => text === "begin")).toHaveLength(3);
  });

  test("because of an event does not fail the job: the event is retried alone and dead-lettered, and the job completes", async () => {
    const agentId = id("innocent");
    const job = await dispatch(client, agentId, [["gate", "innocent"]]);
    await wrote(client, agentId, job, "begin");
    await provoke(bench, agentId, "die", "poison");
    await until("the event to be set aside", async () => {
      const { state, metrics } = await agent(client, agentId);
      if (state === "Suspended") await control(client, agentId, "resume");
      return metrics.events_failed === 1;
    });
    if ((await agent(client, agentId)).state === "Suspended") await control(client, agentId, "resume");
    await wrote(client, agentId, job, "begin", 2);
    await openGate(bench, "innocent");
    await wrote(client, agentId, job, "end");
    expect(await textsOf(client, agentId, job)).toEqual(["begin", "begin", "end"]);
    await ended(client, agentId, { completed: 1 });
  });

  test("is begun again from its last checkpoint, and a checkpoint resets the count of losses", async () => {
    const agentId = id("goes-on");
    // Each loss follows another checkpoint: the job is resumed four times, more than the three attempts.
    const { id: job = "" } = await tryDispatch(client, agentId, "loseAndSave", 4);
    await until("the job to end", async () => {
      // Losses in a row suspend the agent, whatever the job has saved.
      if ((await agent(client, agentId)).state === "Suspended") await control(client, agentId, "resume");
      return (await textsOf(client, agentId, job)).includes("end");
    });
    const lines = (await log(client, agentId)).filter((line) => line.job === job);
    expect(lines.map(({ text, checkpoint }) => checkpoint ?? text)).toEqual(["undefined", 1, 2, 3, 4, "end"]);
    await ended(client, agentId, { completed: 1 });
  });

  test("a saved null is restored as null", async () => {
    const { id: job = "" } = await tryDispatch(client, id("keeps-null"), "saveAndKeep", null);
    expect(await wrote(client, id("keeps-null"), job, "kept")).toMatchObject({ input: "null" });
  });
});

/** Waits until the job has begun this many times and waits at its gate. */
async function standing(agentId: string, job: string, times: number): Promise<void> {
  await wrote(client, agentId, job, "stands", times);
  expect((await textsOf(client, agentId, job)).filter((text) => text === "begin")).toHaveLength(times);
}

/** A job of another agent runs to its end: time in which this one could have continued. */
async function meanwhile(): Promise<void> {
  const other = await dispatch(client, id("saves"), []);
  await wrote(client, id("saves"), other, "end");
}

describe("an agent that stops while its job runs", () => {
  const ways: [(typeof names)[number], string, string, string | null, Step][] = [
    ["suspended", "suspend", "Suspended", "resume", ["gate", "gone"]],
    ["disabled", "disable", "Unloaded", "enable", ["gate", "gone"]],
    ["reloaded", "reload", "Active", null, ["gate", "gone"]],
    ["returns", "suspend", "Suspended", "resume", ["gate or signal", "gone", "return"]],
    ["throws", "disable", "Unloaded", "enable", ["gate or signal", "gone", "throw"]],
  ];
  test("the job waits and continues from its checkpoint any number of times without a failure, also if its handler obeys the signal", async () => {
    const jobs = new Map<string, string>();
    for (const [name, , , , step] of ways) {
      const steps: Step[] = [["note", "once"], ["save"], ["note", "stands"], step];
      jobs.set(name, await dispatch(client, id(name), steps));
    }
    // More often than a guest may be lost, or an agent may fail.
    await Promise.all(
      ways.map(async ([name, command, state, back]) => {
        const [agentId, job] = [id(name), jobs.get(name) ?? ""];
        for (let round = 1; round <= 4; round++) {
          await standing(agentId, job, round);
          await control(client, agentId, command);
          await inState(client, agentId, state);
          if (back === null) continue;
          await meanwhile();
          await standing(agentId, job, round);
          await control(client, agentId, back);
        }
        await standing(agentId, job, 5);
      }),
    );
    await openGate(bench, "gone");
    for (const [name] of ways) {
      const [agentId, job] = [id(name), jobs.get(name) ?? ""];
      await wrote(client, agentId, job, "end");
      const texts = await textsOf(client, agentId, job);
      expect(texts, name).toEqual([
        "begin",
        "once",
        "stands",
        ...Array.from({ length: 4 }, () => ["begin", "stands"]).flat(),
        "end",
      ]);
      await ended(client, agentId, { completed: 1 });
    }
  });

  test("the jobs of a disabled agent wait until it is enabled", async () => {
    const agentId = id("queued");
    const running = await dispatch(client, agentId, [
      ["note", "stands"],
      ["gate", "queued"],
    ]);
    const waiting = await dispatch(client, agentId, [["note", "waited"]]);
    await standing(agentId, running, 1);
    await control(client, agentId, "disable");
    await inState(client, agentId, "Unloaded");
    await openGate(bench, "queued");
    await meanwhile();
    expect(await textsOf(client, agentId, waiting)).toEqual([]);
    expect((await agent(client, agentId)).state).toBe("Unloaded");
    await control(client, agentId, "enable");
    await wrote(client, agentId, waiting, "end");
    expect(await textsOf(client, agentId, running)).toEqual(["begin", "stands", "begin", "stands", "end"]);
  });
});

describe("a program that is changed while its job runs", () => {
  const change = async (agentId: string, program: string): Promise<void> => {
    const shown = (await bench.status(client)).trust.digest;
    await bench.writeExtension({ ...worker({ id: agentId, resources: limited }), program });
    await bench.accept(client, shown);
    await control(client, agentId, "reload");
  };

  test("the job continues from its checkpoint in the new one", async () => {
    const agentId = id("changed");
    const job = await dispatch(client, agentId, [
      ["note", "once"],
      ["save"],
      ["note", "stands"],
      ["gate", "changed"],
    ]);
    await standing(agentId, job, 1);
    await change(agentId, workerProgram("second"));
    await until("the second program to have it", async () =>
      (await log(client, agentId)).find((line) => line.job === job && line["version"] === "second"),
    );
    await openGate(bench, "changed");
    await wrote(client, agentId, job, "end");
    const lines = (await log(client, agentId)).filter((line) => line.job === job);
    expect(lines.filter(({ text }) => text === "once")).toHaveLength(1);
    expect(lines.findLast(({ text }) => text === "begin")).toMatchObject({ checkpoint: { next: 2 } });
    await ended(client, agentId, { completed: 1 });
  });

  test("which no longer has this job: it fails, with a trace that names it", async () => {
    const agentId = id("shrunk");
    const job = await dispatch(client, agentId, [
      ["note", "stands"],
      ["gate", "shrunk"],
    ]);
    await standing(agentId, job, 1);
    await change(agentId, workerProgram("second").replace(/^ {4}steps,$/m, ""));
    await ended(client, agentId, { failed: 1 });
    const said = (await traces(client, agentId, "error")).map((entry) => JSON.stringify(entry));
    expect(said.filter((entry) => /steps/.test(entry))).toHaveLength(1);
    expect((await tryDispatch(client, agentId, "steps", [])).error).toMatchObject({ code: "NotFound" });
  });
});

test("if dispatch_jobs is revoked, dispatch is refused and waiting jobs wait; granted again, they run", async () => {
  const agentId = id("denied");
  const running = await dispatch(client, agentId, [
    ["note", "stands"],
    ["gate", "denied"],
  ]);
  await standing(agentId, running, 1);
  const waiting = await dispatch(client, agentId, [["note", "waited"]]);
  await bench.writeLares({ grants: { [agentId]: { deny: ["dispatch_jobs"] } } });
  await until(
    "the grant to be gone",
    async () =>
      !(await agent(client, agentId)).permissions.some((permission) =>
        permission.startsWith("dispatch_jobs"),
      ),
  );
  expect((await tryDispatch(client, agentId, "keep", 1)).error).toMatchObject({
    code: "PermissionDenied",
    facts: { permission: "dispatch_jobs" },
  });
  await openGate(bench, "denied");
  await meanwhile();
  expect(await textsOf(client, agentId, waiting)).toEqual([]);
  await until("nothing to be waited for", async () => {
    return (await client.request<{ idle: boolean }>("lares/status")).idle;
  });
  await bench.writeLares();
  await wrote(client, agentId, waiting, "end");
  expect(await textsOf(client, agentId, running)).toContain("end");
});

test("if lares.yaml disables the agent, its jobs wait, and continue once it is enabled there", async () => {
  const agentId = id("switched-off");
  const job = await dispatch(client, agentId, [
    ["note", "once"],
    ["save"],
    ["note", "stands"],
    ["gate", "switched"],
  ]);
  await standing(agentId, job, 1);
  const extensions = [...names.map(id), LEAVES].map((each) => ({
    path: `../extensions/${each}`,
    grants: { locations: ["."] },
    ...(each === agentId ? { enabled: false } : {}),
  }));
  await bench.writeLares({ keys: { extensions } });
  await inState(client, agentId, "Unloaded");
  await openGate(bench, "switched");
  await meanwhile();
  expect(await textsOf(client, agentId, job)).toEqual(["begin", "once", "stands"]);
  await bench.writeLares();
  await wrote(client, agentId, job, "end");
  expect(await textsOf(client, agentId, job)).toEqual(["begin", "once", "stands", "begin", "stands", "end"]);
  await ended(client, agentId, { completed: 1 });
});
