import { expect, test } from "vitest";
import type { Caller } from "../../agents/ports.ts";
import type { AgentMemory } from "../../memory/agent-memory.ts";
import { maxWaitingCalls } from "../../base/vocabulary/bounds.ts";
import { hostMemory } from "./memory.ts";

/** What the agents' additions to memories say of their source, in order. */
async function sources(
  additions: readonly { readonly agent: string; readonly params: Record<string, unknown> }[],
): Promise<unknown[]> {
  const stored: unknown[] = [];
  const store = async ({ source }: { readonly source?: string }): Promise<object> => {
    stored.push(source);
    return {};
  };
  // Only what additions need of a memory.
  const memory = { appendEvent: store, addKnowledge: store } as unknown as AgentMemory;
  const services = hostMemory({
    readable: async () => memory,
    writable: async () => memory,
    wrote: () => undefined,
  });
  for (const { agent, params } of additions) {
    for (const method of ["memory/temporal/append", "memory/associative/add"] as const)
      await services[method]({ agent } as Caller, { variant: "v", data: null, ...params });
  }
  return stored;
}

test("in a shared memory no agent can add to a source of another", async () => {
  const shared = { namespace: "team" };
  const stored = await sources([
    { agent: "test.ada", params: { ...shared, source: "talk" } },
    { agent: "test.ben", params: { ...shared, source: "talk" } },
    { agent: "test.ben", params: { ...shared, source: "test.ada talk" } },
    { agent: "test.ada", params: shared },
    { agent: "test.ben", params: shared },
  ]);
  // An event and an item of each addition; both in one source of their kind.
  expect(stored.filter((_source, at) => at % 2 === 0)).toEqual(stored.filter((_source, at) => at % 2 === 1));
  expect(new Set(stored).size).toBe(5);
  expect(stored.filter((source) => String(source).startsWith("test.ada "))).toHaveLength(4);
  expect(stored.filter((source) => String(source).startsWith("test.ben "))).toHaveLength(6);
});

test("in its own memory an agent's sources are named as it names them", async () => {
  expect(await sources([{ agent: "test.ada", params: { source: "talk" } }])).toEqual(["talk", "talk"]);
  expect(await sources([{ agent: "test.ada", params: {} }])).toEqual([undefined, undefined]);
});

test("questions that a guest cancels while another is answered are bounded, and the guest is told what to do", async () => {
  const never = new Promise<never>(() => undefined);
  const services = hostMemory({ readable: () => never, writable: () => never, wrote: () => undefined });
  const ask = (signal: AbortSignal): Promise<unknown> =>
    services["memory/search"]({ agent: "test.ada", signal } as Caller, { text: "boat" });
  void ask(new AbortController().signal);
  const cancelled = AbortSignal.abort(new Error("cancelled"));
  const refusals = await Promise.all(
    Array.from({ length: 4 * maxWaitingCalls }, () => ask(cancelled).catch((error: unknown) => error)),
  );
  expect(refusals[0]).toMatchObject({ message: "cancelled" });
  await expect(ask(new AbortController().signal)).rejects.toMatchObject({
    code: "LimitExceeded",
    message: expect.stringContaining("wait for one to be answered") as string,
  });
});
