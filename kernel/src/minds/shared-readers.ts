import { sharedLogOf } from "../conversations/log-names.ts";
import type { Minds } from "./minds.ts";

/** Returns the agents whose minds have a block of this name, or any, in a shared memory, and have talked. */
export async function readersOf(
  { conversations, ports }: Minds,
  namespace: string,
  name?: string,
): Promise<string[]> {
  return (await conversations.redactions.agents()).filter((agent) =>
    ports
      .mindOf(agent)
      ?.definition.blocks.some(
        (block) => block.namespace === namespace && (name === undefined || block.name === name),
      ),
  );
}

/** Returns the shared memories in which a mind has blocks, and that have a log of them. */
export async function sharedOf({ conversations, ports }: Minds, agent: string): Promise<string[]> {
  const blocks = ports.mindOf(agent)?.definition.blocks ?? [];
  const named = new Set(blocks.flatMap(({ namespace }) => (namespace === undefined ? [] : [namespace])));
  const found: string[] = [];
  for (const namespace of named)
    if ((await conversations.find(sharedLogOf(namespace))) !== null) found.push(namespace);
  return found;
}
