import { setTimeout as pause } from "node:timers/promises";
import type { KernelClient } from "../kernel-client.ts";
import { oneLine } from "../render/foreign.ts";

/** Resolves after the time, unless the signal is aborted before. */
export async function timedOut(ms: number, signal: AbortSignal): Promise<"timeout"> {
  try {
    await pause(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    return new Promise(() => undefined);
  }
  return "timeout";
}

/** Returns what keeps the kernel from being idle, as the end of a sentence. */
export async function describeWork(kernel: Pick<KernelClient, "status" | "agents">): Promise<string> {
  const [status, agents] = await Promise.all([kernel.status(), kernel.agents()]);
  if (!status.index.complete) return "the workspace is still being indexed";
  const isAwake = agents.filter(
    ({ state }) => state !== "Unloaded" && state !== "Suspended" && state !== "Error",
  );
  const inHand = isAwake.filter(
    ({ state, metrics }) =>
      state !== "Active" ||
      metrics.events_received > metrics.events_processed + metrics.events_failed ||
      metrics.jobs_dispatched > metrics.jobs_completed + metrics.jobs_failed + (metrics.jobs_cancelled ?? 0),
  );
  // Tool calls and lifecycle handlers are not counted, so any of the agents that are awake may be running one.
  const working = inHand.length > 0 ? inHand : isAwake;
  if (working.length === 0) return "the kernel is still at work";
  const names = working.map(({ id }) => oneLine(id)).join(", ");
  return working.length === 1 ? `the agent ${names} still works` : `the agents ${names} still work`;
}
