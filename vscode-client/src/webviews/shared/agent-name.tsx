import { createContext, type VNode } from "preact";
import { useContext } from "preact/hooks";
import { line } from "./text.ts";

/** What each agent is called, by its id; of one that is gone only the id is known. Given by `WhileRunning`. */
export const AgentNames = createContext<ReadonlyMap<string, string>>(new Map());

/** On one line. */
export function useAgentName(maxCharacters = 60): (id: string) => string {
  const names = useContext(AgentNames);
  return (id) => line(names.get(id) ?? id, maxCharacters);
}

export function AgentName({ id }: { readonly id: string }): VNode {
  const nameOf = useAgentName();
  return <bdi title={line(id, 200)}>{nameOf(id)}</bdi>;
}
