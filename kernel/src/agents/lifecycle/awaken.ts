import { LaresError } from "../../base/errors.ts";
import { agentIs } from "../../base/vocabulary/agent-words.ts";
import type { AgentSession } from "../ports.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** Wakes an unloaded agent. Resolves with its session; throws AgentError if it cannot run. */
export async function awaken(
  id: string,
  life: Lifecycle,
  loaded: () => AgentSession | null,
): Promise<AgentSession> {
  if (life.state === "Unloaded" && life.enabled) life.send({ type: "wake" });
  if (life.isUnderWay) await life.settled();
  // It may have been shutting down.
  if (life.state === "Unloaded" && life.enabled) {
    life.send({ type: "wake" });
    await life.settled();
  }
  const { state, enabled } = life;
  const session = loaded();
  if (state === "Active" && session !== null) return session;
  const reason = life.reason ?? (enabled ? "It could not be loaded." : "It is disabled.");
  throw new LaresError("AgentError", `The agent ${id} ${agentIs(state)}: ${reason}`, { state, reason });
}
