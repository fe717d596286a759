import { expect, test } from "vitest";
import type { Caller } from "../../../agents/ports.ts";
import type { AgentMemory } from "../../../memory/agent-memory.ts";
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
