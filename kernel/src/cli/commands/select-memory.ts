import { didYouMean } from "../../base/suggest.ts";
import { UsageError } from "../command.ts";
import type { KernelClient, MemoryOwner } from "../kernel-client.ts";

/** Returns the name for a person; a shared memory is not named after the agent through which it is accessed. */
export function nameOf({ agent, namespace }: MemoryOwner): string {
  return namespace === undefined ? agent : `${namespace} (shared)`;
}

/** Returns the named memory; without a name, all memories of this workspace, the shared ones last. */
export async function selectMemories(
  kernel: KernelClient,
  agent: string | undefined,
  namespace: string | undefined,
): Promise<readonly MemoryOwner[]> {
  if (namespace !== undefined) return [await sharedMemory(kernel, namespace, agent)];
  if (agent !== undefined) return [{ agent }];
  const [agents, { namespaces }] = await Promise.all([kernel.agents(), kernel.sharedMemories()]);
  const shared = namespaces.flatMap(({ name, workspace, agents: [first] }) =>
    // A memory of another workspace is verified and measured there.
    first === undefined || workspace !== undefined ? [] : [{ agent: first, namespace: name }],
  );
  return [...agents.map(({ id }) => ({ agent: id })), ...shared];
}

/** Returns a shared memory, accessed through the named agent or through any that may open it. */
export async function sharedMemory(
  kernel: KernelClient,
  namespace: string,
  agent: string | undefined,
): Promise<MemoryOwner> {
  const { namespaces } = await kernel.sharedMemories();
  const found = namespaces.find(({ name }) => name === namespace);
  if (found === undefined) {
    const names = namespaces.map(({ name }) => name);
    throw new UsageError(
      `There is no shared memory "${namespace}" here${didYouMean(namespace, names) || ". Shared memories are declared by shared_namespaces in lares.yaml."}`,
    );
  }
  const through = agent ?? found.agents[0];
  if (through === undefined) throw new UsageError(`No agent here may open the shared memory "${namespace}".`);
  if (!found.agents.includes(through))
    throw new UsageError(`The agent "${through}" may not open the shared memory "${namespace}".`);
  return { agent: through, namespace };
}
