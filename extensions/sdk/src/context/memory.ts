import type { AgentMemory, PartOf, SearchHit, SearchHits } from "../types/memory.ts";
import { makeHistory } from "./history.ts";
import { type Kernel, withSignal } from "./kernel.ts";
import { makeKnowledge } from "./knowledge.ts";
import { makePlan } from "./plan.ts";

export function makeMemory<Memory>(
  kernel: Kernel,
  initialPlan: PartOf<Memory, "plan">,
  shared: { namespace?: string } = {},
): AgentMemory<Memory> {
  return {
    history: makeHistory(kernel, shared),
    knowledge: makeKnowledge(kernel, shared),
    plan: makePlan(kernel, initialPlan, shared),
    search: async (text, { signal, ...options } = {}) => {
      const { items, mode } = await kernel.call(
        "memory/search",
        { ...shared, text, ...options },
        withSignal(signal),
      );
      return Object.assign(items as SearchHit<Memory>[], { mode: mode as SearchHits<Memory>["mode"] });
    },
    sync: async () => void (await kernel.call("memory/sync", { ...shared })),
    cleanup: async ({ retentionDays }) =>
      void (await kernel.call("memory/cleanup", { ...shared, retention_days: retentionDays })),
    in: (namespace) => makeMemory<Memory>(kernel, initialPlan, { namespace }),
  };
}
