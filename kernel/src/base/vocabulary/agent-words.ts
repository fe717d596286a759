import type { Agent, AgentState } from "./agent.ts";

/** The state of an agent as shown to people, the same in lenses, trees, pages and the terminal. */
export const agentStateWords: Readonly<Record<AgentState, string>> = {
  Unloaded: "Asleep",
  Initializing: "Starting",
  Active: "Active",
  Suspended: "Suspended",
  Error: "Error",
  ShuttingDown: "Stopping",
};

/** Returns the state as the end of a sentence: "is asleep", "has an error". */
export function agentIs(state: AgentState): string {
  return state === "Error" ? "has an error" : `is ${agentStateWords[state].toLowerCase()}`;
}

/** Returns an agent's status for people. What a person decided, or has to decide, comes before the state. */
export function agentWord({
  state,
  disabled,
  awaiting,
}: Pick<Agent, "state" | "disabled" | "awaiting">): string {
  if (disabled === true) return "Off";
  return awaiting === undefined ? agentStateWords[state] : "Needs your permission";
}

/** Formats `events_today` of an agent or of one of its hooks for people. */
export function eventsToday(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "event" : "events"} today`;
}
