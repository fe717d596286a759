import type { Caller, HostServices } from "../agents/ports.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { JsonValue } from "../base/json.ts";
import type { AgentMemory, ReadableMemory } from "../memory/agent-memory.ts";
import type { EventAddition } from "../memory/temporal.ts";
import type {
  KnowledgeAddition,
  KnowledgeChange,
  KnowledgeQuery,
  SearchQuery,
  TemporalCountQuery,
  TemporalQuery,
} from "../memory/queries.ts";

export interface HostMemoryPorts {
  /** The caller's own memory, or a shared one by its name, which may be another workspace's. */
  readable(agent: string, namespace: string | undefined): Promise<ReadableMemory>;
  /** The caller's own memory, or a shared one of this workspace. */
  writable(agent: string, namespace: string | undefined): Promise<AgentMemory>;
  /** Something lasting was written into a memory: what holds for it goes into its journal too, behind it. */
  wrote(memory: AgentMemory): void;
}

/** Every memory call may name a shared memory; by the time a call is here, policy has decided about it. */
type Shared<Params> = Params & { readonly namespace?: string };

/** The guest ABI's `memory/*`. */
export function hostMemory({ readable, writable, wrote }: HostMemoryPorts): HostServices {
  // An agent that asks sixty-four questions at once gets one agent's share of the store.
  const questions = new OneAtATime();
  const ask =
    <Params extends object, Result>(answer: (memory: ReadableMemory, params: Params) => Promise<Result>) =>
    (caller: Caller, { namespace, ...params }: Shared<Params>): Promise<Result> =>
      questions.run(caller.agent, async () =>
        answer(await readable(caller.agent, namespace), params as unknown as Params),
      );
  const tell =
    <Params extends object, Result>(act: (memory: AgentMemory, params: Params) => Promise<Result>) =>
    async (caller: Caller, { namespace, ...params }: Shared<Params>): Promise<Result> =>
      act(await writable(caller.agent, namespace), params as unknown as Params);
  // In a shared memory each agent has sources of its own, so that nobody's parts stand between another's.
  const put = <Params extends { readonly source?: string }, Result>(
    act: (memory: AgentMemory, params: Params) => Promise<Result>,
  ): ((caller: Caller, params: Shared<Params>) => Promise<Result>) => {
    const write = tell(act);
    return (caller, params: Shared<Params>) =>
      write(
        caller,
        params.namespace === undefined
          ? params
          : { ...params, source: `${caller.agent} ${params.source ?? ""}` },
      );
  };
  const nothing = async (done: Promise<unknown>): Promise<object> => {
    await done;
    return {};
  };

  return {
    // Working memory is at hand: it need not wait behind a search.
    "memory/working/read": async (caller, { namespace }: Shared<object>) =>
      (await readable(caller.agent, namespace)).read(),
    "memory/working/swap": tell((memory, { revision, state }: { revision: number; state: JsonValue }) =>
      memory.swap(revision, state),
    ),
    "memory/temporal/append": put(async (memory, event: EventAddition) => {
      const appended = await memory.appendEvent(event);
      wrote(memory);
      return appended;
    }),
    "memory/temporal/query": ask((memory, query: TemporalQuery) => memory.queryEvents(query)),
    "memory/temporal/count": ask((memory, query: TemporalCountQuery) => memory.countEvents(query)),
    "memory/associative/add": put(async (memory, item: KnowledgeAddition) => {
      const added = await memory.addKnowledge(item);
      wrote(memory);
      return added;
    }),
    "memory/associative/update": tell((memory, change: KnowledgeChange) =>
      nothing(memory.updateKnowledge(change)),
    ),
    "memory/associative/remove": tell((memory, { id }: { id: string }) =>
      nothing(memory.removeKnowledge(id)),
    ),
    "memory/associative/relate": tell((memory, relation: { from: string; to: string; relation: string }) =>
      nothing(memory.relate(relation.from, relation.to, relation.relation)),
    ),
    "memory/associative/query": ask((memory, query: KnowledgeQuery) => memory.queryKnowledge(query)),
    "memory/search": ask((memory, query: SearchQuery) => memory.search(query)),
    "memory/sync": async (caller, { namespace }: Shared<object>) =>
      nothing((await readable(caller.agent, namespace)).sync()),
    "memory/cleanup": tell((memory, { retention_days: days }: { retention_days: number }) =>
      memory.cleanup(days),
    ),
  };
}
