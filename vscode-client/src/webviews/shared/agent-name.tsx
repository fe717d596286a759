import { createContext, type VNode } from "preact";
import { useContext } from "preact/hooks";
import { pageLabel } from "./label.ts";

/** The display names of agents by id; for a removed agent only the id is known. Provided by `WhileRunning`. */
export const AgentNames = createContext<ReadonlyMap<string, string>>(new Map());

/** Returns the name on one line, with every character visible. */
export function useAgentName(maxCharacters = 60): (id: string) => string {
  const names = useContext(AgentNames);
  return (id) => pageLabel(names.get(id) ?? id, maxCharacters);
}

export function AgentName({ id }: { readonly id: string }): VNode {
  const nameOf = useAgentName();
  return <bdi title={pageLabel(id)}>{nameOf(id)}</bdi>;
}
