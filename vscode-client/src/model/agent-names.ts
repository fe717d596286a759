import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import type { Agent } from "../protocol.ts";
import { cut } from "./text.ts";

/** Of a name that stands beside an id. */
const maxNameCharacters = 80;

/**
 * What a person is told an agent is called: its name, with its id where others are called the same, for whoever writes an
 * agent calls it as they like. An agent that is not known has its id.
 */
export function agentNames(agents: readonly Pick<Agent, "id" | "name">[]): (id: string) => string {
  const names = new Map(agents.map(({ id, name }) => [id, name.trim() || id]));
  const counts = new Map<string, number>();
  for (const [id, name] of names)
    for (const word of new Set([seenAs(id), seenAs(name)])) counts.set(word, (counts.get(word) ?? 0) + 1);
  return (id) => {
    const name = names.get(id);
    if (name === undefined) return id;
    return counts.get(seenAs(name)) === 1 ? name : `${cut(name, maxNameCharacters)} (${id})`;
  };
}

/** Names that look alike are the same. */
function seenAs(name: string): string {
  return plainLine(name).normalize("NFKC").trim().toLowerCase();
}
