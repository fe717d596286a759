import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import type { Agent } from "../protocol.ts";
import { cut } from "../webviews/shared/label.ts";

/** The length of a name that is shown together with an id. */
const maxNameCharacters = 60;

/**
 * Returns a function for the display names of agents: the name, followed by the id if the name is long or similar to
 * another one, because authors choose names freely. An unknown agent is shown by its id.
 */
export function agentNames(agents: readonly Pick<Agent, "id" | "name">[]): (id: string) => string {
  const names = new Map(agents.map(({ id, name }) => [id, name.trim() || id]));
  const counts = new Map<string, number>();
  for (const [id, name] of names)
    for (const word of new Set([seenAs(id), seenAs(name)])) counts.set(word, (counts.get(word) ?? 0) + 1);
  return (id) => {
    const name = names.get(id);
    if (name === undefined) return id;
    // Lists cut a long name, and then it may look like another one.
    const isShort = name === id || name.length <= maxNameCharacters;
    return isShort && counts.get(seenAs(name)) === 1 ? name : `${cut(name, maxNameCharacters)} (${id})`;
  };
}

/** Returns a key that is equal for names that look alike. */
function seenAs(name: string): string {
  return plainLine(name).normalize("NFKC").trim().toLowerCase();
}
