import { describe, expect, test } from "vitest";
import { isLaresError, requestCancelled } from "../../base/errors.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { ownAccord } from "../../base/vocabulary/principal.ts";
import { GuestBlobs } from "./guest-blobs.ts";
import { HostCalls } from "./host-calls.ts";
import { OpenCalls } from "./open-calls.ts";
import type { InHand } from "../ports.ts";
import type { AgentDefinition, Caller } from "../ports.ts";

const authority = (...locations: string[]): Authority => ({
  extension: "dev.test.agent",
  requested: {},
  effective: { read_entries: true },
  denied: [],
  locations,
  protectedPaths: [],
  forbiddenPaths: [],
  memory: false,
  namespaces: {},
});

/** A guest's door, to one service that answers where its caller may read, once `proceed` was called. */
function doorTo(first: Authority, inHand: InHand = {}) {
  let now = first;
  const gate = Promise.withResolvers<void>();
  const callers: Caller[] = [];
  const open = new OpenCalls();
  const service = async (caller: Caller) => {
    callers.push(caller);
    await gate.promise;
    return caller.authority.locations;
  };
  const calls = new HostCalls({
    ports: {
      readHostCall: (_method, params) => ({
        params,
        ...(params as { onBehalf?: string | null }),
        answer: service,
      }),
      authorityOf: () => null,
      takeTurn: async () => undefined,
    },
    definition: () =>
      ({
        id: "dev.test.agent",
        authority: now,
        bundleDigest: "sha256:0",
        limits: { max_cpu_ms_per_event: 100 },
      }) as unknown as AgentDefinition,
    inHand: () => inHand,
    open,
    blobs: new GuestBlobs(),
    guest: () => null,
    clock: new ManualClock(),
    metrics: { refused: () => undefined },
    trace: () => undefined,
  });
  return { calls, callers, open, proceed: () => gate.resolve(), grant: (next: Authority) => (now = next) };
}

test.each(["vdfs/query", "actions/settled"])(
  "an answer of %s after a folder was revoked excludes that folder",
  async (method) => {
    const { calls, proceed, grant } = doorTo(authority("notes", "private"));
    const answer = calls.call(method, { id: "1" });
    grant(authority("notes"));
    proceed();
    expect(await answer).toEqual(["notes"]);
    calls[Symbol.dispose]();
  },
);

test("a query whose permission was revoked meanwhile is refused instead of answered", async () => {
  const { calls, proceed, grant } = doorTo(authority("notes"));
  const answer = calls.call("vdfs/query", {}).catch((error: unknown) => error);
  grant({ ...authority("notes"), effective: {} });
  proceed();
  expect(isLaresError(await answer, "PermissionDenied")).toBe(true);
  calls[Symbol.dispose]();
});

const schedule = { kind: "schedule", agent: "dev.test.agent", schedule: "daily" } as const;
const person = { kind: "person" } as const;

test.each([
  ["of its own accord", null, [schedule]],
  ["without saying for whom, while a person's call is open", undefined, [person, schedule]],
  ["for that call", "call", [person]],
])(
  "what is asked while a schedule's event is handled, %s, names who led to it",
  async (_how, onBehalf, who) => {
    const { calls, callers, open, proceed } = doorTo(authority("notes"), {
      hook: "tick",
      lineage: { onBehalfOf: [schedule], depth: 0 },
    });
    open.begin("call", { onBehalfOf: [person], depth: 1 });
    proceed();
    await calls.call("vdfs/query", { onBehalf });
    expect(callers.map(({ lineage }) => lineage.onBehalfOf)).toEqual([who]);
    // None of them adds to what the agent may do, or takes from it.
    expect(callers.map((caller) => caller.authority)).toEqual([authority("notes")]);
    calls[Symbol.dispose]();
  },
);

test("on behalf of another agent's schedule, that agent's authority bounds the call", async () => {
  const { calls, open, proceed } = doorTo(authority("notes"));
  const other = { ...schedule, agent: "dev.test.gone" };
  open.begin("job", { onBehalfOf: [other], depth: 0 });
  proceed();
  const answer = calls.call("vdfs/query", { onBehalf: "job" }).catch((error: unknown) => error);
  expect(isLaresError(await answer, "PermissionDenied")).toBe(true);
  calls[Symbol.dispose]();
});

test.each([
  ["that names it has its deadline", "call", {}, 100],
  ["that names no call has the last deadline of all open calls", undefined, {}, 900],
  ["for none of them has no deadline", null, {}, undefined],
  ["that names no call beside an event has no deadline", undefined, { hook: "tick" }, undefined],
])("a request under a call %s", async (_what, onBehalf, inHand, atMs) => {
  const { calls, callers, open, proceed } = doorTo(authority("notes"), inHand);
  const until = (at: number) => ({ atMs: at, allowedMs: 1, setBy: "dev.test.other", call: "a/t" });
  open.begin("call", ownAccord, undefined, until(100));
  open.begin("second", ownAccord, undefined, until(900));
  proceed();
  await calls.call("vdfs/query", { onBehalf });
  open.begin("without", ownAccord);
  await calls.call("vdfs/query", {});
  expect(callers.map(({ deadline }) => deadline?.atMs)).toEqual([atMs, undefined]);
  // Work that a handler left running after its answer still belongs to the call.
  open.end("call");
  expect(open.of("call").deadline?.atMs).toBe(100);
  calls[Symbol.dispose]();
});

const event = { hook: "tick", traceId: "event" };
test.each([
  ["that it answers beside an event is not the event's", "call", event, {}],
  ["that it answers beside a job is not the job's", "call", { job: "job", traceId: "job" }, {}],
  ["that is its job is the job's, also beside an event", "job", { job: "job", ...event }, { job: "job" }],
  ["is the event's where it names none", null, event, event],
])("a request under a call %s", async (_what, onBehalf, inHand, work) => {
  const { calls, callers, open, proceed } = doorTo(authority("notes"), inHand);
  open.begin("call", ownAccord);
  open.begin("job", ownAccord);
  proceed();
  await calls.call("vdfs/query", { onBehalf });
  const [{ hook, traceId } = {}] = callers;
  const wanted: InHand = work;
  expect({ hook, traceId }).toEqual({ hook: wanted.hook, traceId: wanted.traceId ?? wanted.job });
  calls[Symbol.dispose]();
});

test("a request that names a call after its answer is also of the event in hand, and bounded by who led to that", async () => {
  const led = { onBehalfOf: [schedule], depth: 3 };
  const { calls, callers, open, proceed } = doorTo(authority("notes"), { ...event, lineage: led });
  const asked = { onBehalfOf: [{ kind: "person" as const }], depth: 1 };
  open.begin("call", asked);
  proceed();
  await calls.call("vdfs/query", { onBehalf: "call" });
  open.end("call");
  await calls.call("vdfs/query", { onBehalf: "call" });
  expect(callers.map(({ lineage, hook }) => ({ ...lineage, hook }))).toEqual([
    { ...asked, hook: undefined },
    { onBehalfOf: [schedule, { kind: "person" }], depth: 3, hook: "tick" },
  ]);
  calls[Symbol.dispose]();
});

/** Calls whose service waits until the test releases it. */
function cancelling(method: string) {
  const aborter = new AbortController();
  const { calls, callers, proceed } = doorTo({
    ...authority("notes"),
    effective: { read_entries: true, dispatch_jobs: true },
  });
  const answer = calls.call(method, {}, aborter.signal).catch((error: unknown) => error);
  const cancel = (): void => aborter.abort(requestCancelled("The agent cancelled this call."));
  return { answer, callers, cancel, proceed };
}
const begun = (callers: readonly Caller[]) => expect.poll(() => callers.length).toBe(1);

test.each(["vdfs/query", "jobs/dispatch"])(
  "race: %s that its guest cancels before its turn is not begun",
  async (method) => {
    const { answer, callers, cancel } = cancelling(method);
    cancel();
    expect(isLaresError(await answer, "RequestCancelled")).toBe(true);
    expect(callers).toEqual([]);
  },
);

test.each<[string, string, unknown]>([
  ["a read ends with RequestCancelled", "vdfs/query", expect.objectContaining({ code: "RequestCancelled" })],
  ["a write is finished and answered", "jobs/dispatch", ["notes"]],
])("race: cancelled by its guest after it has begun, %s", async (_what, method, expected) => {
  const { answer, callers, cancel, proceed } = cancelling(method);
  await begun(callers);
  cancel();
  expect(callers[0]?.signal.aborted).toBe(true);
  proceed();
  expect(await answer).toEqual(expected);
});

test("terminal state: cancelled after its answer, nothing happens", async () => {
  const { answer, callers, cancel, proceed } = cancelling("vdfs/query");
  proceed();
  expect(await answer).toEqual(["notes"]);
  cancel();
  expect(callers).toHaveLength(1);
});

test("race: what is proposed for a call after its guest has answered and ended keeps the marks", async () => {
  const { calls, callers, open, proceed } = doorTo(authority("a"));
  open.begin("call", { onBehalfOf: [], depth: 0 });
  open.hear({ "agent:web": "all" });
  // The kernel proposes the effects of the answer.
  open.guestEnded(requestCancelled("The guest has ended."));
  proceed();
  await calls.call("vdfs/query", { onBehalf: "call" });
  expect(callers[0]?.lineage.sources).toEqual(["agent:web"]);
  expect(callers[0]?.foreign).toEqual({ "agent:web": "all" });
});

test("race: a call whose guest ends before its turn, or before it is finished, keeps the marks of what the guest had read", async () => {
  const { calls, callers, open, proceed } = doorTo(authority("a"));
  open.hear({ "agent:web": "all" });
  const answering = calls.call("vdfs/query", { onBehalf: null });
  open.guestEnded(requestCancelled("The guest has ended."));
  const later = Promise.withResolvers<void>();
  setImmediate(later.resolve);
  await later.promise;
  const [caller] = callers;
  expect(caller?.foreign).toEqual({ "agent:web": "all" });
  expect(caller?.lineage.sources).toEqual(["agent:web"]);
  // The next guest has not read it.
  expect(open.foreign).toEqual({});
  proceed();
  await answering;
});

describe("a request of a process of the agent's mind", () => {
  const actor = { kind: "process", process: "worker", agent: "dev.test.agent", conversation: "c" } as const;
  const worker = { ...actor, lineage: ownAccord };
  const never = { signal: new AbortController().signal };

  test("names the process, has the time of one event, and belongs to no open call", async () => {
    const { calls, callers, open, proceed } = doorTo(authority("notes"), {
      hook: "seen",
      lineage: { onBehalfOf: [schedule], depth: 0 },
    });
    open.begin("call", { onBehalfOf: [person], depth: 1 });
    proceed();
    expect(await calls.callAs(worker, "vdfs/query", {}, never)).toEqual(["notes"]);
    const [caller] = callers;
    expect(caller).toMatchObject({ process: worker, lineage: { onBehalfOf: [actor], depth: 1 } });
    expect(caller).not.toHaveProperty("hook");
    caller?.cpu.charge(30);
    expect(caller?.cpu.leftMs()).toBe(70);
    calls[Symbol.dispose]();
  });

  test("is answered with the permissions at the time of the answer", async () => {
    const { calls, callers, proceed, grant } = doorTo(authority("notes", "private"));
    const answer = calls.callAs(worker, "vdfs/query", {}, never);
    await begun(callers);
    grant(authority("notes"));
    proceed();
    expect(await answer).toEqual(["notes"]);
    calls[Symbol.dispose]();
  });

  test("is bounded by every agent in its chain", async () => {
    const { calls, callers } = doorTo(authority("notes"));
    const lineage = { onBehalfOf: [{ kind: "agent", id: "dev.test.gone" } as const], depth: 1 };
    const answer = calls.callAs({ ...worker, lineage }, "vdfs/query", {}, never);
    await expect(answer).rejects.toMatchObject({ code: "PermissionDenied" });
    expect(callers).toEqual([]);
    calls[Symbol.dispose]();
  });

  test("race: cancelled before its turn, it is not begun", async () => {
    const { calls, callers } = doorTo(authority("notes"));
    const reason = new Error("cancelled");
    const answer = calls.callAs(worker, "jobs/dispatch", {}, { signal: AbortSignal.abort(reason) });
    await expect(answer).rejects.toBe(reason);
    expect(callers).toEqual([]);
    calls[Symbol.dispose]();
  });
});
