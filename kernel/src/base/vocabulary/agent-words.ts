import type { Agent, AgentState } from "./agent.ts";

/** An agent's states in a person's words: the same in lenses, trees, pages and at a terminal. */
export const agentStateWords: Readonly<Record<AgentState, string>> = {
  Unloaded: "Asleep",
  Initializing: "Starting",
  Active: "Active",
  Suspended: "Suspended",
  Error: "Error",
  ShuttingDown: "Stopping",
};

/** How an agent is, in a person's words: what they decided, or have to decide, comes before its state. */
export function agentWord({
  state,
  disabled,
  awaiting,
}: Pick<Agent, "state" | "disabled" | "awaiting">): string {
  if (disabled === true) return "Off";
  return awaiting === undefined ? agentStateWords[state] : "Needs your permission";
}

/** `events_today` of an agent, or of one of its hooks, in a person's words. */
export function eventsToday(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "event" : "events"} today`;
}
