import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentState } from "../../kernel/src/base/vocabulary/agent.ts";
import { agentIs } from "../../kernel/src/base/vocabulary/agent-words.ts";
import { probe, PROBE_PROGRAM } from "../support/agents.ts";
import { agent, Bench, inState } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { CODES, type Agent, type Status } from "../support/types.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const BROKEN = "test.broken";
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const HASH = /^sha256:[0-9a-f]{64}$/;

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.txt": "a\n", "b.jpg": "b" },
    extensions: [
      probe({
        id: PROBE,
        manifest: { name: "The probe", version: "2.3.4" },
        hooks: [
          { on: "EntryCreated", handler: "first", filter: "entry.isImage()" },
          { schedule: "0 3 * * *", handler: "second" },
        ],
        grants: { locations: ["."], deny: ["write_custom_fields"] },
      }),
      { id: BROKEN, program: "throw new Error('not today');", manifest: { agent: { activation: "eager" } } },
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

test("lares/status has every field, with its type", async () => {
  const status = await until("agents", async () => {
    const now = await bench.status(client);
    return now.agents === 2 && now;
  });
  expect(status).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    pid: expect.any(Number),
    ready: true,
    workspace: bench.root,
    stateFolder: expect.stringMatching(new RegExp(`^${bench.home}/workspaces/workspace-[0-9a-f]{12}$`)),
    trusted: true,
    trust: { digest: expect.stringMatching(HASH), asks: expect.any(Array) },
    agents: 2,
    index: { entries: 3, complete: true },
    clients: 1,
    lasting: false,
    pendingActions: 0,
  } satisfies Status);
  expect(status.pid).not.toBe(client.process.pid);
});

test("lares/agents/list has exactly the protocol's fields", async () => {
  const shown = await inState(client, PROBE, "Active");
  expect(shown).toEqual({
    id: PROBE,
    name: "The probe",
    version: "2.3.4",
    state: "Active",
    since: expect.stringMatching(ISO),
    hooks: [
      { handler: "first", on: "EntryCreated", filter: "entry.isImage()" },
      { handler: "second", schedule: "0 3 * * *", nextRun: expect.stringMatching(/T03:00:00\.000Z$/) },
    ],
    tools: ["ctx", "seen"],
    permissions: expect.any(Array),
    locations: [expect.any(String)],
    metrics: Object.fromEntries(
      [
        "events_today events_received events_processed events_failed avg_event_latency_ms p99_event_latency_ms",
        "temporal_events_count knowledge_items_count memory_size_bytes",
        "jobs_dispatched jobs_completed jobs_failed cpu_time_ms peak_memory_bytes wakeups",
      ]
        .flatMap((line) => line.split(" "))
        .map((name) => [name, expect.any(Number)]),
    ),
  });
  expect(shown.permissions.toSorted()).toEqual([
    "propose_actions",
    "read_entries",
    "write_sidecars",
    "write_tags",
  ]);
  expect(new Date(shown.hooks[1]?.nextRun ?? 0).getTime()).toBeGreaterThan(Date.now());
});

test("an agent in Error says why", async () => {
  const shown = await inState(client, BROKEN, "Error");
  expect(shown.error).toContain("not today");
});

test("every change of state is notified", async () => {
  await inState(client, PROBE, "Active");
  const states = client
    .notifications<Agent>("lares/agents/changed")
    .filter(({ id }) => id === PROBE)
    .map(({ state }) => state);
  expect(states).toContain("Initializing");
  expect(states.at(-1)).toBe("Active");
});

describe("lares/agents/control", () => {
  const control = (id: string, command: string) => client.raw("lares/agents/control", { id, command });

  const bring: Record<string, () => Promise<Agent>> = {
    Active: async () => {
      if ((await agent(client, PROBE)).state === "Active") return agent(client, PROBE);
      for (const command of ["enable", "resume", "reload"]) await control(PROBE, command);
      return inState(client, PROBE, "Active");
    },
    Suspended: async () => {
      await bring["Active"]?.();
      await control(PROBE, "suspend");
      return inState(client, PROBE, "Suspended");
    },
    disabled: async () => {
      if ((await agent(client, PROBE)).state === "Unloaded") return agent(client, PROBE);
      await bring["Active"]?.();
      await control(PROBE, "disable");
      return inState(client, PROBE, "Unloaded");
    },
  };

  const table: [keyof typeof bring, string, string][] = [
    ["Active", "suspend", "Suspended"],
    ["Active", "disable", "Unloaded"],
    ["Active", "reload", "Active"],
    ["Active", "resume", "illegal"],
    ["Suspended", "resume", "Active"],
    ["Suspended", "suspend", "illegal"],
    ["Suspended", "disable", "Unloaded"],
    ["disabled", "enable", "Active"],
    ["disabled", "suspend", "illegal"],
    ["disabled", "resume", "illegal"],
  ];
  test.each(table)("%s + %s → %s", async (from, command, to) => {
    const before = await bring[from]?.();
    const answer = await control(PROBE, command);
    if (to === "illegal") {
      expect(answer).toMatchObject({
        error: { code: CODES.IllegalTransition, data: { code: "IllegalTransition", state: before?.state } },
      });
      const words = before?.disabled === true ? "is off" : agentIs(before?.state as AgentState);
      expect((answer["error"] as { message: string }).message).toContain(words);
      expect((await agent(client, PROBE)).state).toBe(before?.state);
      return;
    }
    expect(answer).toMatchObject({ result: { id: PROBE } });
    expect((await agent(client, PROBE)).disabled).toBe(command === "disable" ? true : undefined);
    // A bare "enable" may leave an agent that waits for its first event unloaded: a tool call wakes it.
    if (to === "Active")
      await client.request("lares/tools/call", { agent: PROBE, name: "seen", arguments: {} });
    await inState(client, PROBE, to);
  });

  test.each(["suspend", "resume"])("Error + %s is illegal and names Error", async (command) => {
    await inState(client, BROKEN, "Error");
    expect(await control(BROKEN, command)).toMatchObject({
      error: { code: CODES.IllegalTransition, data: { state: "Error" } },
    });
  });

  test("Error + reload runs a program that was fixed; otherwise it stays Error", async () => {
    await control(BROKEN, "reload");
    await inState(client, BROKEN, "Error");
    const shown = (await bench.status(client)).trust.digest;
    const manifest = { agent: { activation: "eager" } };
    await bench.writeExtension({ id: BROKEN, program: PROBE_PROGRAM, manifest });
    await bench.accept(client, shown); // another program is another digest
    if ((await agent(client, BROKEN)).state === "Error") await control(BROKEN, "reload");
    await inState(client, BROKEN, "Active");
    expect((await agent(client, BROKEN)).error).toBeUndefined();
  });

  test("an agent that does not exist is NotFound", async () => {
    expect(await control("test.nobody", "resume")).toMatchObject({
      error: { code: CODES.NotFound, data: { code: "NotFound" } },
    });
  });
});

test("a request before the kernel is ready waits for the agents instead of finding none", async () => {
  await using own = await Bench.create({ extensions: [probe({ id: PROBE })] });
  await using early = own.spawn();
  await early.request("initialize", own.initializeParams({ trusted: true }));
  const asked = [
    ["lares/tools/list", {}, [expect.objectContaining({ agent: PROBE }), expect.anything()]],
    ["lares/memory/stats", { agent: PROBE }, { records: 0 }],
    ["lares/memory/query", { agent: PROBE, kind: "temporal" }, { items: [], total: 0 }],
    ["lares/agents/control", { id: PROBE, command: "suspend" }, { id: PROBE, state: "Suspended" }],
  ] as const;
  const answers = await Promise.all(asked.map(([method, params]) => early.raw(method, params)));
  for (const [index, [method, , result]] of asked.entries())
    expect(answers[index], method).toMatchObject({ result });
  await own.status(early);
});
