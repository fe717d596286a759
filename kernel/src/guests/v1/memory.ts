import type { Caller } from "../../agents/ports.ts";
import { unlessAborted } from "../../base/abort.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import type { Foreign } from "../../base/vocabulary/foreign.ts";
import type { AgentMemory, ReadableMemory } from "../../memory/agent-memory.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { memoryCalls } from "../../protocol/guest/v1/memory.ts";
import { maxWaitingCalls } from "../../base/vocabulary/bounds.ts";

export interface HostMemoryPorts {
  /** The caller's own memory, or a shared one by its name, possibly of another workspace. */
  readable(agent: string, namespace: string | undefined): Promise<ReadableMemory>;
  /** The caller's own memory, or a shared one of this workspace. */
  writable(agent: string, namespace: string | undefined): Promise<AgentMemory>;
  /** A durable record was written to a memory: records about it are appended to the same journal. */
  wrote(memory: AgentMemory): void;
}

/** Every memory call may name a shared memory; policy has already decided about it. */
interface Shared {
  readonly namespace?: string;
}

type MemoryServices = Pick<GuestServices<Caller>, keyof typeof memoryCalls>;

/** The guest ABI's `memory/*`. */
export function hostMemory({ readable, writable, wrote }: HostMemoryPorts): MemoryServices {
  // An agent with 64 concurrent queries gets one agent's share of the store.
  const questions = new OneAtATime({ limit: "waitingCalls", most: maxWaitingCalls });
  const ask =
    <Params extends Shared, Result>(
      answer: (
        memory: ReadableMemory,
        params: Omit<Params, "namespace">,
        signal: AbortSignal,
      ) => Promise<Result>,
    ) =>
    ({ agent, signal }: Caller, { namespace, ...params }: Params): Promise<Result> =>
      unlessAborted(
        questions.run(
          agent,
          async () => {
            signal.throwIfAborted();
            return answer(await readable(agent, namespace), params, signal);
          },
          () => !signal.aborted,
        ),
        signal,
      );
  const tell =
    <Params extends Shared, Result>(
      act: (memory: AgentMemory, params: Omit<Params, "namespace">, foreign: Foreign) => Promise<Result>,
    ) =>
    async (caller: Caller, { namespace, ...params }: Params): Promise<Result> => {
      // Taken before the memory is opened, because answers to later calls may arrive meanwhile.
      const { foreign } = caller;
      return act(await writable(caller.agent, namespace), params, foreign);
    };
  // In a shared memory each agent has its own sources, so that parts of different agents are not interleaved.
  const put = <Params extends Shared & { readonly source?: string }, Result>(
    act: (memory: AgentMemory, params: Omit<Params, "namespace">, foreign: Foreign) => Promise<Result>,
  ): ((caller: Caller, params: Params) => Promise<Result>) => {
    const write = tell(act);
    return (caller, params) =>
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
    // Working memory is held in this process, so it does not wait for a search.
    "memory/working/read": async (caller, { namespace }) => (await readable(caller.agent, namespace)).read(),
    "memory/working/swap": tell((memory, { revision, state }, foreign) =>
      memory.swap(revision, state, foreign),
    ),
    "memory/temporal/append": put(async (memory, event, foreign) => {
      const appended = await memory.appendEvent(event, foreign);
      wrote(memory);
      return appended;
    }),
    "memory/temporal/query": ask((memory, query, signal) => memory.queryEvents(query, signal)),
    "memory/temporal/count": ask((memory, query, signal) => memory.countEvents(query, signal)),
    "memory/associative/add": put(async (memory, item, foreign) => {
      const added = await memory.addKnowledge(item, foreign);
      wrote(memory);
      return added;
    }),
    "memory/associative/update": tell((memory, change, foreign) =>
      nothing(memory.updateKnowledge(change, foreign)),
    ),
    "memory/associative/remove": tell((memory, { id }) => nothing(memory.removeKnowledge(id))),
    "memory/associative/relate": tell((memory, { from, to, relation }, foreign) =>
      nothing(memory.relate(from, to, relation, foreign)),
    ),
    "memory/associative/query": ask((memory, query, signal) => memory.queryKnowledge(query, signal)),
    "memory/search": ask((memory, query, signal) => memory.search(query, signal)),
    "memory/sync": async (caller, { namespace }) => nothing((await readable(caller.agent, namespace)).sync()),
    "memory/cleanup": tell((memory, { retention_days: days }) => memory.cleanup(days)),
  };
}
