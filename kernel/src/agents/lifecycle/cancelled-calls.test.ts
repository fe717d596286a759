import { expect, test } from "vitest";
import { LaresError, requestCancelled } from "../../base/errors.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { ownAccord, personAt } from "../../base/vocabulary/principal.ts";
import type { ToolProgress } from "../../base/vocabulary/progress.ts";
import { toolProgressEveryMs } from "../calls/paced-progress.ts";
import { DayCounts } from "../day-counts.ts";
import type { ToolCallOptions } from "../ports.ts";
import { definitionOf, FakeGuest, FakeQueue } from "../testing/fake-guest.ts";
import { FakeJobs } from "../testing/fake-jobs.ts";
import { Supervisor } from "./supervisor.ts";

const person = personAt();

/** An agent whose tool answers when the test says so, and whose host calls wait until their signal is aborted. */
function setUp({ cancelsTools = true } = {}) {
  const clock = new ManualClock();
  const guests: FakeGuest[] = [];
  const answer = Promise.withResolvers<unknown>();
  const supervisor = new Supervisor({
    definition: definitionOf({
      authority: { ...definitionOf().authority, effective: { read_entries: true } },
    }),
    clock,
    idleUnloadMs: () => 300_000,
    ports: {
      queue: new FakeQueue(() => clock.now()),
      dayCounts: new DayCounts(clock),
      jobs: new FakeJobs(() => clock.now()),
      jobProgress: () => undefined,
      traces: { write: () => undefined },
      startGuest: async (_definition, handlers) => {
        const guest = new FakeGuest(handlers, (method) => {
          if (method === "initialize")
            return { handlers: ["seen"], tools: ["count"], jobs: [], cancels_tools: cancelsTools };
          return method === "tool" ? answer.promise : {};
        });
        guests.push(guest);
        return guest;
      },
      authorityOf: () => null,
      readHostCall: (_method, params) => ({
        params,
        ...(params as { onBehalf?: string | null }),
        answer: ({ signal }) =>
          new Promise((_resolve, reject) => {
            if (signal.aborted) reject(signal.reason as Error);
            signal.addEventListener("abort", () => reject(signal.reason as Error));
          }),
      }),
      memoryFigures: () => ({ temporalEvents: 0, knowledgeItems: 0, sizeBytes: 0 }),
      openMemory: async () => undefined,
      isEntry: () => false,
      hides: () => false,
      acquireSlot: async () => ({ [Symbol.dispose]: () => undefined }),
      takeTurn: async () => undefined,
      ran: () => undefined,
      suspension: () => null,
    },
  });
  supervisor.start();
  const settle = (ms = 0): Promise<void> => clock.advanceAsync(ms);
  const guest = (): FakeGuest => guests[0] as FakeGuest;
  return {
    supervisor,
    guests,
    guest,
    answer,
    settle,
    asked: (method: string) =>
      guests.flatMap((one) => one.asked.filter((request) => request.method === method)),
    /** Calls the tool; resolves when the guest has it, with the call's id and its promise. */
    async call(options: ToolCallOptions = {}) {
      const result = supervisor.callTool("count", {}, person, options).catch((error: unknown) => error);
      await settle();
      const id = guest().asked.find(({ method }) => method === "tool")?.params["call_id"] as string;
      return { id, result };
    },
    hostCall: (onBehalf: string | null) =>
      guest()
        .handlers.call("vdfs/query", { onBehalf })
        .catch((error: unknown) => (error as LaresError).code),
  };
}

test("cancelled while its handler runs: the guest is notified, its host calls end, others continue, and its answer counts", async () => {
  const world = setUp();
  const aborter = new AbortController();
  const { id, result } = await world.call({ signal: aborter.signal });
  const forCall = world.hostCall(id);
  let isOtherOver = false;
  void world.hostCall(null).then(() => (isOtherOver = true));
  await world.settle();
  aborter.abort(requestCancelled("enough"));
  expect(await forCall).toBe("RequestCancelled");
  expect(world.asked("cancelTool").map(({ params }) => params)).toEqual([{ call_id: id }]);
  expect(isOtherOver).toBe(false);
  world.answer.resolve({ status: "success", value: "left" });
  expect(await result).toEqual({ status: "success", value: "left" });
  // What the handler left running for the call is cancelled too.
  expect(await world.hostCall(id)).toBe("RequestCancelled");
});

test("a guest that does not know cancelTool is not asked, and its host calls for the call end all the same", async () => {
  const world = setUp({ cancelsTools: false });
  const aborter = new AbortController();
  const { id } = await world.call({ signal: aborter.signal });
  const forCall = world.hostCall(id);
  await world.settle();
  aborter.abort(requestCancelled("enough"));
  expect(await forCall).toBe("RequestCancelled");
  expect(world.asked("cancelTool")).toEqual([]);
});

test("race: cancelled while its agent is being woken, the handler never begins", async () => {
  const world = setUp();
  const aborter = new AbortController();
  const begun: string[] = [];
  const result = world.supervisor
    .callTool("count", {}, person, {
      signal: aborter.signal,
      begun: async () => void begun.push("begun"),
    })
    .catch((error: unknown) => (error as LaresError).code);
  aborter.abort(requestCancelled("enough"));
  await world.settle();
  expect(await result).toBe("RequestCancelled");
  expect([begun, world.asked("tool")]).toEqual([[], []]);
});

test("race: cancelled after the answer, nothing happens any more", async () => {
  const world = setUp();
  const aborter = new AbortController();
  const { result } = await world.call({ signal: aborter.signal });
  world.answer.resolve({ status: "success", value: 1 });
  await result;
  aborter.abort(requestCancelled("late"));
  await world.settle();
  expect(world.asked("cancelTool")).toEqual([]);
});

test("terminal state: when the guest ends, its host calls end with it, with and without a tool call", async () => {
  const world = setUp();
  const { id, result } = await world.call();
  const open = [world.hostCall(id), world.hostCall(null)];
  await world.settle();
  world.guest().die("gone");
  await world.settle();
  expect(await Promise.all(open)).toEqual(["RequestCancelled", "RequestCancelled"]);
  expect(await result).toMatchObject({ code: "AgentError" });
});

test("terminal state: host calls that an answered handler left open continue, and end with its guest", async () => {
  const world = setUp();
  const { id, result } = await world.call();
  let isOver = false;
  const left = world.hostCall(id).finally(() => (isOver = true));
  await world.settle();
  world.answer.resolve({ status: "success", value: 1 });
  await result;
  await world.settle();
  expect(isOver).toBe(false);
  world.guest().die("gone");
  expect(await left).toBe("RequestCancelled");
});

test("a handler's progress is reported, of many reports the last one, and none after its answer", async () => {
  const world = setUp();
  const told: ToolProgress[] = [];
  const { id, result } = await world.call({ progress: (progress) => void told.push(progress) });
  for (let step = 0; step <= 10; step++) world.supervisor.toolProgress(id, { fraction: step / 10 });
  expect(told).toEqual([{ fraction: 0 }]);
  await world.settle(toolProgressEveryMs);
  expect(told).toEqual([{ fraction: 0 }, { fraction: 1 }]);
  world.supervisor.toolProgress(id, { fraction: 0.5 });
  world.answer.resolve({ status: "success", value: ownAccord });
  await result;
  await world.settle(toolProgressEveryMs);
  expect(told).toHaveLength(2);
  expect(() => world.supervisor.toolProgress(id, { fraction: 1 })).toThrow("no open call");
});
